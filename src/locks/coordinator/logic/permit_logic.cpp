// The decisions about the permits of a semaphore.
// SPDX-License-Identifier: BSL-1.0
#include "locks/coordinator/logic/permit_logic.hpp"

#include "locks/coordinator/logic/release_logic.hpp"
#include "locks/coordinator/logic/wait_logic.hpp"
#include "locks/coordinator/wait_times.hpp"

namespace latchkey::inline v1::detail {

// A release that was notified while the attempt was under way may be later than the grant.
void PermitLogic::note_left(const RemoteHold& claim, const Outcome& grant) {
  if (claim.type != LockType::PERMIT) return;
  const bool none = grant.permits_left == 0U && !claim.retry_requested;
  state_.no_permits_until = none ? later(now(), safety_poll.least) : Clock::time_point{};
}

bool PermitLogic::none_left(const Call& call) {
  if (call.type != LockType::PERMIT || call.makes_one_attempt()) return false;
  return state_.subscription.stage == Subscription::Stage::on && now() < state_.no_permits_until;
}

// It counts as busy: others have all permits.
void PermitLogic::postpone(RemoteHold& claim) {
  Call& call = *claim.call;
  call.last_reply = Call::LastReply::busy;
  claim.poll_at = state_.no_permits_until;
  WaitLogic(*this).report_waiting(call);
  set_alarm(call);
}

bool PermitLogic::may_take_over(const RemoteHold& hold, const Call& next) noexcept {
  if (next.permits.taken != hold.permits()) return false;
  return next.hold == nullptr || !next.hold->acquire_request.in_flight;
}

// All attempts of the claim were answered, with "busy": the backend has nothing of it.
bool PermitLogic::suits(const RemoteHold& claim, const Call& heir) noexcept {
  return heir.type == LockType::PERMIT && heir.hold == nullptr && !heir.bundled &&
         claim.attempts <= RemoteHold::Attempts::ran && !claim.acquire_request.in_flight;
}

void PermitLogic::pass_on(RemoteHold& claim) {
  Call* const heir = state_.waiters.front();
  if (heir == nullptr || !suits(claim, *heir)) return ReleaseLogic(*this).abandon(claim);
  claim.call = heir;
  claim.owner = heir->owner;
  claim.origin = heir->origin;
  claim.lease = heir->lease.length(settings().watchdog);
  claim.set_permits(heir->permits);
  if (!settings().announcement.empty()) announce(claim);
  heir->hold = &claim;
  heir->last_reply = Call::LastReply::busy;
  heir->silent_since = now();
  state_.waiters.started(*heir);
  wake(*heir);  // from here on its thread drives
  set_alarm(*heir);
}

}  // namespace latchkey::inline v1::detail
