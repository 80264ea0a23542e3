// The decisions about READs of one process that share one hold at the backend.
// SPDX-License-Identifier: BSL-1.0
#include "locks/coordinator/logic/join_logic.hpp"

#include <algorithm>
#include <chrono>
#include <new>
#include <utility>

#include "core/thread_cache.hpp"
#include "locks/coordinator/logic/acquire_logic.hpp"
#include "locks/coordinator/logic/lease_logic.hpp"
#include "locks/coordinator/logic/subscription_logic.hpp"

namespace latchkey::inline v1::detail {

using Stage = RemoteHold::Stage;

void JoinLogic::offer(RemoteHold& hold) noexcept {
  hold.cohort_ends = end_of_cohort(hold);
  state_.holds.set_joinable(hold);
}

// A READ joins the READ in front of it when that is granted. A call for one attempt has no time for
// that; it starts the attempts of those in front of it as well.
bool JoinLogic::awaits_neighbour(const Call& next) {
  const WaitQueues& waiters = state_.waiters;
  if (next.type != LockType::READ || &next == waiters.front()) return false;
  if (settings().cohort == Clock::duration::zero()) return false;
  return !waiters.front()->bundled && !next.bundled && !waiters.back()->makes_one_attempt();
}

bool JoinLogic::join(Call& call) {
  RemoteHold* const hold = state_.holds.joinable();
  if (hold == nullptr || !suits(*hold, call)) return false;
  RemoteHold* mine = other_hold_of(call.owner);  // a thread with the same owner has just joined
  if (mine == nullptr) mine = join(call, *hold);
  if (mine == nullptr) return false;
  AcquireLogic(*this).join_same_owner(*mine);
  SubscriptionLogic(*this).unsubscribe_if_unused();
  return true;
}

RemoteHold* JoinLogic::join(Call& call, RemoteHold& hold) {
  RemoteHold* joiner = nullptr;
  try {
    joiner = &make_joiner(call, hold);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
  state_.waiters.remove(call);
  call.hold = joiner;
  count(call, *joiner);
  joiner->deadline.set(std::min(joiner->deadline_point(), joiner->limits.earliest()));
  LeaseLogic(*this).renew_soon_for(call, hold);
  answer(call, Answer::granted);
  return joiner;
}

// Skips a hold that is lost or has no local hold: a renewal that fails becomes an acquire, and must
// not join itself.
RemoteHold* JoinLogic::other_hold_of(Owner owner) {
  RemoteHold* hold = state_.holds.held_by(owner);
  while (hold != nullptr && (hold->local_holds() == 0 || hold->is_lost(now()))) {
    hold = HoldTable::next_of_owner(*hold);
  }
  return hold;
}

// Whether the type of `hold` at the backend is certain, its cohort lasts, and enough of the lease
// remains for a renewal. The key stays locked after a loss for no less than the call asks for.
bool JoinLogic::suits(const RemoteHold& hold, const Call& call) {
  if (call.bundled || call.hold != nullptr || shard().closed) return false;
  if (now() >= hold.cohort_ends || hold.is_lost(now())) return false;
  if (hold.revoked.load(std::memory_order_relaxed)) return false;
  const bool is_read = hold.acquire_request.type == LockType::READ;
  const bool answered = hold.attempts == RemoteHold::Attempts::ran;
  if (hold.has_limit() && !ends_with(call, hold)) return false;
  if (delay_of(call.lease) > hold.delay_in_force) return false;
  if (!is_read || !answered || hold.presence != RemoteHold::Presence::possible) return false;
  return enough_remains(hold.deadline_point(), length_of(call.lease));
}

// The limit of a hold ends those that have joined it as well. It began a moment before, so a call
// with the same limit, or a shorter one, loses no more than that moment.
bool JoinLogic::ends_with(const Call& call, const RemoteHold& hold) {
  const std::chrono::milliseconds limit = call.lease.held_at_most();
  return limit.count() != 0 && later(hold.granted_at, limit) <= hold.limits.earliest();
}

RemoteHold& JoinLogic::make_joiner(const Call& call, RemoteHold& hold) {
  RemoteHold& joiner = ThreadCache<RemoteHold>::take();
  joiner.home = &home_;
  joiner.space = shard().space;
  joiner.prefix_size = settings().prefix_size;
  joiner.id = hold.id;
  joiner.type = LockType::READ;
  joiner.owner = call.owner;
  joiner.origin = call.origin;
  joiner.lease = hold.lease;
  joiner.in_force = hold.in_force;
  joiner.delay = joiner.delay_in_force = hold.delay_in_force;
  joiner.attempts = RemoteHold::Attempts::ran;
  joiner.granted_at = now();
  joiner.deadline.set(hold.deadline_point());
  joiner.joined = &hold;
  ++hold.joiners;
  state_.holds.add_claim(joiner);
  state_.holds.set_held(joiner);
  state_.holds.due_by(joiner.due());
  return joiner;
}

// A renewal that fails becomes an acquire, which may join: what is the last hold is decided after
// that.
RemoteHold* JoinLogic::leave(RemoteHold& hold, Clock::time_point retain_until, Call*& call) {
  RemoteHold& shared = hold.at_backend();
  LeaseLogic leases(*this);
  if (hold.is_lost(now())) {
    leases.declare_lost(hold, "its lease ended");
    if (call != nullptr) answer_lost(*std::exchange(call, nullptr), hold);
  } else {
    leases.fail_renewals(hold);
    shared.keep_until = std::max(shared.keep_until, std::min(retain_until, hold.deadline_point()));
  }
  const bool is_joiner = hold.joined != nullptr;
  const bool is_last = is_joiner && shared.joiners == 1 && shared.local_holds() == 0;
  if (!is_last && !hold.is_marked_lost()) {
    if (reports(Event::Kind::released)) report(Event::Kind::released, hold);
    if (call != nullptr) answer(*std::exchange(call, nullptr), Answer::granted);
  }
  if (!is_joiner) {
    // The holds that have joined it are left: it stays, and no owner re-enters it. Whatever becomes
    // of it meanwhile is an end of theirs, and not another one of its own.
    shared.end_reported = true;
    state_.holds.change_owner(shared, Owner::nobody());
    return nullptr;
  }
  if (is_last) take_place_of(shared, hold);
  --shared.joiners;
  state_.holds.erase_held(hold);
  return is_last ? &shared : nullptr;
}

// The end of the hold is reported with the owner, the origin and the grant of the last holder.
void JoinLogic::take_place_of(RemoteHold& hold, const RemoteHold& last) {
  state_.holds.change_owner(hold, last.owner);
  hold.origin = last.origin;
  hold.granted_at = last.granted_at;
  hold.unreported = last.unreported;
  hold.end_reported = last.is_marked_lost();
}

void JoinLogic::on_renewed(RemoteHold& hold) {
  const Clock::time_point deadline = hold.deadline_point();
  LeaseLogic leases(*this);
  state_.holds.for_each([&](RemoteHold& each) {
    if (each.joined != &hold) return;
    each.lease = hold.lease;
    each.in_force = hold.in_force;
    if (each.deadline.move(std::min(deadline, each.limits.earliest()))) return;
    leases.mark_lost(each, lost_before_renewal);
    leases.fail_renewals(each);
  });
  AcquireLogic(*this).dispatch_waiters();
}

void JoinLogic::on_lost(RemoteHold& hold, std::string_view reason) {
  LeaseLogic leases(*this);
  state_.holds.for_each([&](RemoteHold& each) {
    if (each.joined != &hold) return;
    if (hold.held_too_long && each.has_limit()) LeaseLogic::note_held_too_long(each);
    leases.mark_lost(each, reason);
  });
  while (Call* const call = hold.renewals.first()) leases.fail_renewals(*call->hold);
}

}  // namespace latchkey::inline v1::detail
