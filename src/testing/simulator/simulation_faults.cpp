// The simulation's faults: links, processes and the server.
#include <algorithm>
#include <string>

#include "testing/simulator/simulation.hpp"

namespace latchkey::sim {

// One chance per step for each kind; the plan says per 1000 steps.
void Simulation::maybe_fault() {
  Random& random = world_.random;
  const Plan& plan = world_.plan;
  std::uint64_t die = random.below(1'000);
  const auto comes = [&die](unsigned chance) {
    if (die < chance) return true;
    die -= chance;
    return false;
  };
  const auto client = static_cast<std::uint32_t>(random.below(clients_.size()));
  const auto key = static_cast<std::uint32_t>(random.below(keys_.size()));
  if (comes(plan.cuts)) return network_.cut(client, random.between({}, milliseconds(1'000)));
  if (comes(plan.freezes)) return freeze(client);
  if (comes(plan.crashes)) return crash(client);
  if (comes(plan.force_releases)) {
    world_.note(0, "force_release", keys_[key]);
    if (store_->force_release(keys_[key])) server_fault(key);
    return;
  }
  if (comes(plan.jumps_forward)) {
    const Clock::duration length = random.between(milliseconds(1), plan.settings.watchdog * 2);
    world_.note(0, "jump", {}, 0, length.count());
    store_->jump(length);
    for (std::uint32_t each = 0; each < keys_.size(); ++each) server_fault(each);
    return;
  }
  if (comes(plan.migrations)) {
    if (plan.keys[key] == Plan::Family::read_write) store_->migrate(keys_[key], random);
    return;
  }
  if (comes(plan.jumps_back)) {
    world_.note(0, "jump back");
    return store_->jump(-random.between(milliseconds(1), milliseconds(1'000)));
  }
  if (comes(plan.restarts)) {
    world_.note(0, "restart");
    for (std::uint32_t each = 0; each < clients_.size(); ++each) {
      network_.cut(each, random.between({}, milliseconds(300)));
    }
    store_->restart();
    for (std::uint32_t each = 0; each < keys_.size(); ++each) server_fault(each);
  }
}

// The judge excuses what the fault took away, and expects the holders to notice.
void Simulation::server_fault(std::uint32_t key) {
  judge_.fault(key);
  for (const GrantedHold& grip : judge_.books[key].grips) {
    const HoldId id{clients_[grip.client].process->settings().space, grip.number};
    if (!judge_.live(grip) || store_->holds(keys_[key], id)) continue;
    world_.enter(noticed_within(grip), Due::notice, grip.client, key,
                 (judge_.books[key].faults << 32) + grip.number);
  }
}

// Promise 3, with an answer's time for the check; a hundredth is far above a clock's drift.
Clock::duration Simulation::noticed_within(const GrantedHold& grip) const {
  const milliseconds watchdog = world_.plan.settings.watchdog;
  const milliseconds length = grip.hold->watchdogs > 0 ? watchdog : grip.hold->lease;
  const Clock::duration late = world_.plan.settings.command_timeout + milliseconds(100);
  return Clock::duration(length) / 3 * 101 / 100 + late;
}

void Simulation::freeze(std::uint32_t client) {
  const Clock::duration length = world_.random.between({}, world_.plan.settings.watchdog * 2);
  Clock::duration& until = clients_[client].frozen_until;
  until = std::max(until, world_.now + length);
  world_.note(client, "freeze", {}, 0, length.count());
  judge_.clients[client].awake_since = until;
  judge_.clients[client].troubled_at = until;
}

void Simulation::crash(std::uint32_t client) {
  world_.note(client, "crash");
  tear_down(client);
  Client& its = clients_[client];
  CoordinatorSettings settings = world_.plan.settings;
  settings.space = {++spaces_, client};
  network_.crash(client, settings.space);
  // Numbers go on where the last process ended, so that the judge can tell the holds apart.
  its.process = std::make_unique<Process>(client, *its.clock, settings, world_.random.next(),
                                          host(), judge_.clients[client].facts.size());
  its.frozen_until = {};
  for (std::uint32_t index = 0; index < its.callers.size(); ++index) {
    rest(client, index, world_.random.between(milliseconds(1), milliseconds(500)));
  }
  for (std::uint32_t index = 0; index < its.joints.size(); ++index) {
    joint_rest(client, index, world_.random.between(milliseconds(1), milliseconds(500)));
  }
}

// Ends a process so that nothing of it reaches anybody; what it held stays at the store.
void Simulation::tear_down(std::uint32_t client) {
  Client& its = clients_[client];
  std::vector<std::pair<std::uint32_t, GrantedHold>> grips;
  for (std::uint32_t key = 0; key < keys_.size(); ++key) {
    for (const GrantedHold& grip : judge_.books[key].grips) {
      if (grip.client == client) grips.emplace_back(key, grip);
    }
  }
  judge_.crashed(client);
  for (Caller& caller : its.callers) {
    ++caller.steps;
    ++caller.alarms;
    caller.doing = Caller::Doing::nothing;
  }
  bury_joints(client);
  for (const auto& [key, grip] : grips) {
    its.process->abandon(keys_[key], *grip.hold, grip.type, grip.by_lock, grip.watched);
  }
  if (!its.process->tear_down()) world_.fail("something is left although all was answered");
  for (Caller& caller : its.callers) caller.call.reset();
  for (Joint& joint : its.joints) joint.parts.clear();
}

}  // namespace latchkey::sim
