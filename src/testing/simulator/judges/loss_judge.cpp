// Promise 3.
// SPDX-License-Identifier: BSL-1.0
#include "testing/simulator/judges/loss_judge.hpp"

#include <string>

namespace latchkey::inline v1::sim {

// The event's epoch holds the number of the fault in its high half and that of the hold in its low
// half.
void LossJudge::store_fault(std::uint32_t key) {
  KeyHistory& history = history_.keys[key];
  history_.store_fault(key, world_.now);
  for (const GrantedHold& hold : history.holds) {
    if (!history_.is_live(hold) || store_.holds(world_.keys[key], hold.hold->id)) continue;
    world_.schedule_in(detection_time(hold), Due::loss_check, hold.client, key,
                       (history.faults << 32) + hold.number);
  }
}

void LossJudge::check(const ScheduledEvent& event) {
  const std::uint32_t key = event.index;
  const KeyHistory& history = history_.keys[key];
  if (event.epoch >> 32 != history.faults) return;  // a later fault schedules its own checks
  for (const GrantedHold& hold : history.holds) {
    const bool it = hold.client == event.client && hold.number == (event.epoch & 0xFFFF'FFFF);
    if (!it || !history_.is_live(hold)) continue;
    // A renewal that ran before the fault may have made the lease longer.
    const Clock::duration end = history.fault_at + detection_time(hold);
    if (world_.now < end) {
      return world_.schedule.add(end, Due::loss_check, event.client, key, event.epoch);
    }
    const Clock::duration quiet_since = history.fault_at - milliseconds(1'500);
    if (history_.clients[event.client].disturbed_at >= quiet_since) continue;
    if (!store_.holds(world_.keys[key], hold.hold->id)) {
      return world_.fail("client " + std::to_string(event.client) + " did not notice that hold " +
                         std::to_string(hold.number) + " was gone");
    }
  }
}

// A third of the lease, 1 % for the drift of clocks, and time for the answer to the check.
Clock::duration LossJudge::detection_time(const GrantedHold& hold) const {
  const Scenario& scenario = world_.scenario;
  const RemoteHold& remote = hold.hold->at_backend();
  const milliseconds lease = remote.watchdogs > 0 ? scenario.settings.watchdog : remote.lease;
  const Clock::duration answer = scenario.settings.command_timeout + milliseconds(100);
  return Clock::duration(lease) / 3 * 101 / 100 + answer;
}

}  // namespace latchkey::inline v1::sim
