// Chooses and injects faults.
// SPDX-License-Identifier: BSL-1.0
#include "testing/simulator/fault_injector.hpp"

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
  if (occurs(scenario.jump_forward_rate)) return jump_forward();
  if (occurs(scenario.migration_rate)) {
    if (scenario.keys[key] != Scenario::Family::read_write) return;
    return store_.migrate(world_.keys[key], random);
  }
  if (occurs(scenario.jump_back_rate)) return jump_back();
  if (occurs(scenario.restart_rate)) return restart_server();
}

void FaultInjector::force_release(std::uint32_t key) {
  world_.note(0, "force_release", world_.keys[key]);
  if (!store_.is_locked(world_.keys[key])) return;
  losses_.store_fault(key);  // first: the release may grant the lock to the next process at once
  store_.force_release(world_.keys[key]);
}

void FaultInjector::jump_forward() {
  const Clock::duration most = world_.scenario.settings.watchdog * 2;
  const Clock::duration length = world_.random.between(milliseconds(1), most);
  world_.note(0, "jump", {}, 0, length.count());
  store_.jump(length);
  all_keys_lost();
}

void FaultInjector::jump_back() {
  world_.note(0, "jump back");
  store_.jump(-world_.random.between(milliseconds(1), milliseconds(1'000)));
}

void FaultInjector::restart_server() {
  world_.note(0, "restart");
  for (std::uint32_t client = 0; client < clients_.size(); ++client) {
    network_.disconnect(client, world_.random.between({}, milliseconds(300)));
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
