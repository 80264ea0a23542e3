// Chooses and injects faults.
// SPDX-License-Identifier: BSL-1.0
#include "testing/simulator/fault_injector.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace latchkey::inline v1::sim {

void FaultInjector::step() {
  Random& random = world_.random;
  const Scenario& scenario = world_.scenario;
  if (scenario.fault_free) return;
  std::uint64_t die = random.below(1'000);
  const auto occurs = [&die](unsigned rate) {
    if (die < rate) return true;
    die -= rate;
    return false;
  };
  const auto client = static_cast<std::uint32_t>(random.below(clients_.size()));
  const auto key = static_cast<std::uint32_t>(random.below(world_.keys.size()));
  if (occurs(scenario.cut_rate)) {
    return network_.disconnect(client, random.between({}, milliseconds(1'000)));
  }
  if (occurs(scenario.freeze_rate)) return clients_[client].freeze();
  if (occurs(scenario.crash_rate)) return clients_[client].crash();
  if (occurs(scenario.force_release_rate)) return force_release(key);
  if (occurs(scenario.jump_forward_rate)) {
    const Clock::duration most = scenario.settings.watchdog * 2;
    return jump_forward(random.between(milliseconds(1), most));
  }
  if (occurs(scenario.migration_rate)) {
    if (scenario.keys[key] != Scenario::Family::read_write) return;
    return store_.migrate(world_.keys[key], random);
  }
  if (occurs(scenario.jump_back_rate)) {
    return jump_back(random.between(milliseconds(1), milliseconds(1'000)));
  }
  if (occurs(scenario.restart_rate)) return restart_server();
}

void FaultInjector::schedule(std::vector<testing::ScheduledFault> faults) {
  scheduled_ = std::move(faults);
  std::uint32_t number = 0;
  for (const testing::ScheduledFault& fault : scheduled_) {
    if (fault.at < milliseconds(0) || fault.length < milliseconds(0)) {
      throw std::invalid_argument("simulate: a time of the schedule is negative");
    }
    world_.schedule.add(fault.at, Due::fault, 0, number++);
    end_ = std::max<Clock::duration>(end_, fault.at + fault.length);
  }
}

void FaultInjector::begin(std::uint32_t number) {
  using Kind = testing::ScheduledFault::Kind;
  const testing::ScheduledFault& fault = scheduled_[number];
  const auto client = static_cast<std::uint32_t>(fault.process % clients_.size());
  switch (fault.kind) {
    case Kind::disconnect: return network_.disconnect(client, fault.length);
    case Kind::freeze: return clients_[client].freeze_for(fault.length);
    case Kind::crash: return clients_[client].crash();
    case Kind::restart: return restart_server(fault.length);
    case Kind::clock_forward: return jump_forward(fault.length);
    case Kind::clock_back: set_back_ += fault.length; return jump_back(fault.length);
    case Kind::forced_release:
      return force_release(static_cast<std::uint32_t>(fault.key % world_.keys.size()));
  }
}

void FaultInjector::force_release(std::uint32_t key) {
  world_.note(0, "force_release", world_.keys[key]);
  if (!store_.is_locked(world_.keys[key])) return;
  losses_.store_fault(key);  // first: the release may grant the lock to the next process at once
  store_.force_release(world_.keys[key]);
}

void FaultInjector::jump_forward(Clock::duration length) {
  world_.note(0, "jump", {}, 0, length.count());
  store_.jump(length);
  all_keys_lost();
}

void FaultInjector::jump_back(Clock::duration length) {
  world_.note(0, "jump back", {}, 0, length.count());
  store_.jump(-length);
}

// `outage`: how long no client has a connection; drawn for each client if it is empty.
void FaultInjector::restart_server(std::optional<Clock::duration> outage) {
  world_.note(0, "restart");
  for (std::uint32_t client = 0; client < clients_.size(); ++client) {
    const auto drawn = [&] { return world_.random.between({}, milliseconds(300)); };
    network_.disconnect(client, outage ? *outage : drawn());
  }
  store_.restart();
  store_.jump(
      milliseconds(1));  // no server restarts in less: its fencing tokens go on from the time
  all_keys_lost();
}

void FaultInjector::all_keys_lost() {
  for (std::uint32_t key = 0; key < world_.keys.size(); ++key) losses_.store_fault(key);
}

}  // namespace latchkey::inline v1::sim
