// Bringing the event of a call.
// SPDX-License-Identifier: BSL-1.0
#include "locks/space/started_call.hpp"

#include <algorithm>
#include <new>

#include "core/thread_order.hpp"
#include "locks/space/call_error.hpp"
#include "locks/space/lock_space.hpp"
#include "locks/space/shard_driver.hpp"

namespace latchkey::inline v1::detail {

// The call is its thread's own until the mutex is unlocked: what a wait needs is only prepared if
// the call is still pending.
template <class Bring>
bool StartedCall::bring(Shard& shard, ShardLock& lock, Coordinator& home, Bring&& event) {
  Actions actions;
  EventContext context(space_.clock(), actions, call_.asked);
  context.caller = &call_;
  if (space_.driver().answers_at_once()) context.immediate = &space_.driver();
  event(context);
  space_.driver().perform(shard, lock, home, context);
  pending_ = call_.answer == Answer::pending;
  if (!pending_) return false;
  shard_ = &shard;
  home_ = &home;
  if (begins_late_) call_.start(space_.clock().now());
  plan_wait(shard);
  return true;
}

void StartedCall::plan_wait(Shard& shard) {
  if (call_.completion != nullptr) {
    home_->attend(call_);
    return space_.driver().schedule(shard, *home_);
  }
  call_.parker = Parker::mine_if_any();
  parks_ = call_.waits_locally();
  wake_at_ = call_.wake_at = home_->alarm_of(call_);
}

void StartedCall::prepare_to_wait() {
  if (call_.completion == nullptr) require_parker();
}

void StartedCall::want(Owner owner, const Attempt& attempt) {
  space_.require_offered(attempt.lease, attempt.type);
  call_.set(attempt.type == LockType::PERMIT ? Owner::make() : owner, attempt);
}

void StartedCall::limit(Wait wait) noexcept {
  call_.forever = wait.is_forever();
  call_.wait = wait.length();
  call_.grace = Call::grace_of(call_.wait, space_.options().command_timeout);
  call_.start(space_.acquire_time(call_.lease));
  begins_late_ = true;
}

void StartedCall::limit(Clock::time_point until, std::chrono::milliseconds grace) noexcept {
  call_.asked = space_.clock().now();
  call_.forever = until == Clock::never();
  call_.until = until;
  call_.grace = grace;
}

void StartedCall::limit_to_batch(std::chrono::milliseconds grace) noexcept {
  call_.asked = space_.clock().now();
  call_.until = call_.asked;
  call_.grace = grace;
  call_.bundled = true;
}

bool StartedCall::start_acquire(const KeyPlace& place) {
  space_.timer().require_running(place.key, call_.type);
  prepare_to_wait();
  try {
    ShardLock lock(place.shard);
    return start_acquire(place.shard, lock, place);
  } catch (const std::bad_alloc&) {
    space_.give_back_idle_holds();
    throw;
  }
}

bool StartedCall::start_acquire(Shard& shard, ShardLock& lock, const KeyPlace& place) {
  Coordinator& home = ShardDriver::coordinator(shard, place);
  return bring(shard, lock, home, [&](EventContext& context) { home.acquire(call_, context); });
}

bool StartedCall::start_extend(RemoteHold& hold, LockType type, std::chrono::milliseconds lease,
                               Clock::time_point until) {
  call_.type = type;
  call_.asked = space_.clock().now();
  call_.until = std::min(until, later(call_.asked, space_.options().command_timeout));
  prepare_to_wait();
  Coordinator& home = *hold.home;
  Shard& shard = space_.driver().shard_of(home.hash);
  ShardLock lock(shard);
  return bring(shard, lock, home,
               [&](EventContext& context) { home.extend(hold, lease, call_, context); });
}

bool StartedCall::start_release(RemoteHold& hold, HoldTerms terms,
                                std::chrono::milliseconds linger) {
  const Clock::time_point linger_until = begin_release(terms, linger);
  Coordinator& home = *hold.home;
  order_before_release(home.key.view(), terms.type);
  Shard& shard = space_.driver().shard_of(home.hash);
  ShardLock lock(shard);
  const bool pending = bring(shard, lock, home, [&](EventContext& context) {
    home.release(hold, terms.type, terms.watchdog, linger_until, &call_, context, terms.limit);
  });
  guard_.hold_released(space_, shard);
  if (call_.answer != Answer::granted) guard_.keep_space(shard);
  return pending;
}

void StartedCall::release_without_waiting(RemoteHold& hold, HoldTerms terms,
                                          std::chrono::milliseconds linger) {
  const Clock::time_point linger_until = begin_release(terms, linger);
  Coordinator& home = *hold.home;
  order_before_release(home.key.view(), terms.type);
  Shard& shard = space_.driver().shard_of(home.hash);
  ShardLock lock(shard);
  space_.driver().handle(shard, lock, home, [&](EventContext& context) {
    home.release(hold, terms.type, terms.watchdog, linger_until, nullptr, context, terms.limit);
  });
  guard_.hold_released(space_, shard);
}

// Returns the time until which the key stays locked after the release.
Clock::time_point StartedCall::begin_release(HoldTerms terms,
                                             std::chrono::milliseconds linger) noexcept {
  call_.type = terms.type;
  call_.asked = space_.clock().now();
  return linger.count() > 0 ? later(call_.asked, linger) : Clock::time_point::min();
}

bool StartedCall::start_unlock(const KeyPlace& place, LockType type, Owner owner) {
  order_before_release(place.key, type);
  call_.owner = owner;
  call_.type = type;
  call_.asked = space_.clock().now();
  prepare_to_wait();
  Shard& shard = place.shard;
  ShardLock lock(shard);
  Coordinator& home = ShardDriver::coordinator(shard, place);
  return bring(shard, lock, home, [&](EventContext& context) { home.unlock(call_, context); });
}

void StartedCall::report_member(const KeyPlace& place, Answer answer, RemoteHold* hold,
                                const Call* last) {
  call_.answer = answer;
  call_.hold = hold;
  if (last != nullptr) {
    call_.holder = last->holder.view();
    call_.reason = last->reason.view();
  }
  Shard& shard = place.shard;
  ShardLock lock(shard);
  Coordinator& home = ShardDriver::coordinator(shard, place);
  space_.driver().handle(shard, lock, home,
                         [&](EventContext& context) { home.report_member(call_, context); });
}

// `home_` stays where it is: a coordinator with a pending call is not idle.
void StartedCall::cancel() {
  if (shard_ == nullptr) return;  // it was answered at once
  Shard& shard = *shard_;
  ShardLock lock(shard);
  if (call_.answer != Answer::pending) return;  // and the coordinator may be gone
  space_.driver().handle(shard, lock, *home_,
                         [&](EventContext& context) { home_->cancel(call_, context); });
}

void StartedCall::fail(Answer answer, std::string_view key, Clock::time_point asked,
                       const ErrorContext* context) {
  call_.answer = answer;
  call_.asked = asked;
  throw_answer(space_, call_, key, context);
}

}  // namespace latchkey::inline v1::detail
