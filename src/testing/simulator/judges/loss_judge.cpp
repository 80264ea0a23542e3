// The judge of losses: a hold that the store has lost is noticed in time.
// SPDX-License-Identifier: BSL-1.0
#include <cstdint>
#include <string>

#include "testing/simulator/judges/hold_judge.hpp"

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
    if (is_disturbed(history, hold.client)) continue;
    history_.observe(key, world_.now, "early",
                     {hold.observed.number, microseconds(world_.now + detection_time(hold))});
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
      if (!is_disturbed(history, event.client)) {
        history_.observe(key, world_.now, "early", {hold.observed.number, microseconds(end)});
      }
      return world_.schedule.add(end, Due::loss_check, event.client, key, event.epoch);
    }
    const bool is_back = store_.holds(world_.keys[key], hold.hold->id);
    if (is_back || is_disturbed(history, event.client)) {
      history_.observe(key, world_.now, "cleared", {hold.observed.number});
    } else {
      return world_.fail("client " + std::to_string(event.client) + " did not notice that hold " +
                         std::to_string(hold.number) + " was gone");
    }
  }
}

bool LossJudge::is_disturbed(const KeyHistory& history, std::uint32_t client) const {
  return history_.clients[client].disturbed_at >= history.fault_at - milliseconds(1'500);
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
