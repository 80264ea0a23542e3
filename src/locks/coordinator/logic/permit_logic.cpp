// The decisions about the permits of a semaphore.
// SPDX-License-Identifier: BSL-1.0
#include "locks/coordinator/logic/permit_logic.hpp"

#include <algorithm>
#include <utility>

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

// The claim counts as busy: others have all permits.
void PermitLogic::postpone(RemoteHold& claim) {
  Call& call = *claim.call;
  call.last_reply = Call::LastReply::busy;
  claim.poll_at = state_.no_permits_until;
  WaitLogic(*this).report_waiting(call);
  set_alarm(call);
}

bool PermitLogic::may_take_over(const RemoteHold& hold, const Call& next) {
  if (next.permits.taken != hold.permits()) return false;
  const bool asks = next.hold != nullptr && next.hold->acquire_request.in_flight;
  return !asks || (next.next != nullptr && suits(*next.hold, *next.next));
}

// No attempt of the claim was answered with a grant, and none is lost. One that is in flight must
// be what the heir would have sent itself, for its reply will be the heir's.
bool PermitLogic::suits(const RemoteHold& claim, const Call& heir) const {
  const bool needs_claim = heir.type == LockType::PERMIT && heir.hold == nullptr && !heir.bundled;
  if (!needs_claim || claim.call->bundled || claim.attempts > RemoteHold::Attempts::ran)
    return false;
  if (!claim.acquire_request.in_flight) return true;
  const bool same_note = settings().announcement.empty() || heir.origin.site == claim.origin.site;
  return same_note && heir.permits == claim.acquire_request.permits &&
         length_of(heir.lease) == claim.lease && delay_of(heir.lease) == claim.delay;
}

// The place of a process in the backend's queue does not end with the call that took it.
void PermitLogic::give_up(RemoteHold& claim) {
  claim.type == LockType::PERMIT ? pass_on(claim) : ReleaseLogic(*this).abandon(claim);
}

void PermitLogic::pass_on(RemoteHold& claim) {
  Call* const heir = state_.waiters.front();
  const bool passes = heir != nullptr && !shard().closed && suits(claim, *heir);
  if (!passes) return ReleaseLogic(*this).abandon(claim);
  // Without an attempt in flight and without a poll, nothing would advance the claim: the heir
  // asks.
  const bool waits = claim.acquire_request.in_flight || claim.poll_at != Clock::never();
  const bool asks_anew = !waits || heir->permits.taken != claim.permits();
  Call& asked_for = *std::exchange(claim.call, heir);
  claim.owner = heir->owner;
  claim.origin = heir->origin;
  if (!claim.acquire_request.in_flight) {
    claim.lease = length_of(heir->lease);
    claim.delay = delay_of(heir->lease);
    claim.set_permits(heir->permits);
    if (!settings().announcement.empty()) announce(claim);
  }
  heir->hold = &claim;
  heir->last_reply = asked_for.last_reply;
  heir->silent_since = std::max(asked_for.silent_since, heir->asked);
  heir->reason = asked_for.reason.view();
  // An attempt in flight that takes no place in the backend's queue is followed by one that does.
  claim.retry_requested |= claim.acquire_request.in_flight && !claim.acquire_request.queues;
  state_.waiters.started(*heir);
  wake(*heir);  // from here on its thread drives
  if (asks_anew) return WaitLogic(*this).retry_now(claim);
  set_alarm(*heir);
}

}  // namespace latchkey::inline v1::detail
