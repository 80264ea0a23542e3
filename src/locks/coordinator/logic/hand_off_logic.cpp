// The decisions about handing a hold from one call of this process to the next.
// SPDX-License-Identifier: BSL-1.0
#include "locks/coordinator/logic/hand_off_logic.hpp"

#include <algorithm>
#include <chrono>
#include <stop_token>

#include "locks/coordinator/logic/acquire_logic.hpp"
#include "locks/coordinator/logic/lease_logic.hpp"
#include "locks/coordinator/logic/permit_logic.hpp"

namespace latchkey::inline v1::detail {

bool HandOffLogic::hand_over(RemoteHold& hold, Call* releaser) {
  Call* const next = state_.waiters.front();
  if (next == nullptr || !suits(hold, *next) || cohort_has_ended(hold)) return false;
  if (reports(Event::Kind::released)) report(Event::Kind::released, hold);
  if (releaser != nullptr) answer(*releaser, Answer::granted);

  AcquireLogic acquiring(*this);
  state_.waiters.remove(*next);
  state_.holds.change_owner(hold, next->owner);
  probes::handed_over(state_.key.view(), *next);
  hold.stop = std::stop_source(std::nostopstate);
  hold.end_revocation();
  hold.granted_at = now();
  hold.limits.clear();  // each call in turn has a limit of its own
  hold.unreported = false;
  ++hold.hand_offs;
  hold.fenced = next->wants_token();
  if (hold.fenced) {
    ++hold.token;
    --hold.spare_tokens;
  }
  hold.origin = next->origin;
  if (!settings().announcement.empty()) announce(hold);
  RemoteHold* const claim = next->hold;  // PERMIT: its own, by which it has asked before
  next->hold = &hold;
  count(*next, hold);
  hold.wanted = std::chrono::milliseconds(0);  // by the call before it, perhaps for longer
  LeaseLogic(*this).renew_soon_for(*next, hold);
  answer(*next, Answer::granted);
  acquiring.join_same_owner(hold);
  if (claim == nullptr) return true;
  PermitLogic(*this).pass_on(*claim);
  acquiring.dispatch_waiters();  // if it was abandoned
  return true;
}

// The hold ends no later than the next call asked for, after the same lock_delay, and enough
// remains for a renewal. The key of a revoked hold goes to others, who have asked for it.
bool HandOffLogic::suits(const RemoteHold& hold, const Call& next) {
  const bool permits = hold.type == LockType::PERMIT;
  if (next.type != hold.type || (!is_raced_for(hold.type) && !permits)) return false;
  if (permits ? !PermitLogic(*this).may_take_over(hold, next) : next.hold != nullptr) return false;
  if (shard().closed) return false;
  if (!hold.is_settled() || hold.pins > 0) return false;
  if (next.wants_token() && hold.spare_tokens == 0) return false;
  if (hold.revoked.load(std::memory_order_relaxed)) return false;
  if (delay_of(next.lease) != hold.delay || !hold.has_whole_delay()) return false;
  const std::chrono::milliseconds wanted = length_of(next.lease);
  return hold.lease <= wanted && enough_remains(hold.deadline_point(), wanted);
}

// The first hand-off sets the end of the cohort, which began with the grant.
bool HandOffLogic::cohort_has_ended(RemoteHold& hold) {
  if (hold.hand_offs == 0) hold.cohort_ends = end_of_cohort(hold);
  const bool foreign = now() < state_.yielding.foreign_until;
  const std::uint32_t most = foreign ? most_beside_foreign : most_hand_offs;
  return now() >= hold.cohort_ends || hold.hand_offs >= most;
}

}  // namespace latchkey::inline v1::detail
