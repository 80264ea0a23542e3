// The two halves of a call: bringing its event, and waiting for the answer.
#include "locks/space/blocking_call.hpp"

#include <algorithm>

#include "core/thread_order.hpp"
#include "locks/space/call_error.hpp"
#include "locks/space/lock_space.hpp"
#include "locks/space/shard_driver.hpp"

namespace latchkey::detail {

// The call is its thread's own until the mutex is unlocked: what a wait needs is only prepared if
// the call is still pending.
template <class Bring>
void BlockingCall::bring(Shard& shard, ShardLock& lock, Coordinator& home, Bring&& event) {
  Actions actions;
  EventContext context(space_.clock(), actions, call_.asked);
  context.caller = &call_;
  if (space_.driver().answers_at_once()) context.immediate = &space_.driver();
  event(context);
  space_.driver().perform(shard, lock, home, context);
  pending_ = call_.answer == Answer::pending;
  if (!pending_) return;
  shard_ = &shard;
  home_ = &home;
  call_.parker = Parker::mine_if_any();
  if (begins_late_) call_.start(space_.clock().now());
  plan_sleep();
}

// How the thread sleeps until the next event of its call.
void BlockingCall::plan_sleep() {
  parks_ = call_.waits_locally();
  wake_at_ = call_.wake_at = home_->alarm_of(call_);
}

void BlockingCall::limit(Wait wait) noexcept {
  call_.forever = wait.is_forever();
  call_.wait = wait.length();
  call_.set_grace(call_.wait, space_.options().command_timeout);
  call_.start(space_.acquire_time(call_.lease));
  begins_late_ = true;
}

void BlockingCall::limit(Clock::time_point until, std::chrono::milliseconds grace) noexcept {
  call_.asked = space_.clock().now();
  call_.forever = until == Clock::never();
  call_.until = until;
  call_.grace = grace;
}

void BlockingCall::limit_to_batch() noexcept {
  call_.asked = space_.clock().now();
  call_.until = call_.asked;
  call_.bundled = true;
}

void BlockingCall::start_acquire(const KeyPlace& place) {
  space_.timer().require_running(place.key, call_.type);
  require_parker();
  ShardLock lock(place.shard);
  start_acquire(place.shard, lock, place);
}

void BlockingCall::start_acquire(Shard& shard, ShardLock& lock, const KeyPlace& place) {
  Coordinator& home = ShardDriver::coordinator(shard, place);
  bring(shard, lock, home, [&](EventContext& context) { home.acquire(call_, context); });
}

void BlockingCall::start_extend(RemoteHold& hold, LockType type, std::chrono::milliseconds lease,
                                Clock::time_point until) {
  call_.type = type;
  call_.asked = space_.clock().now();
  call_.until = std::min(until, later(call_.asked, space_.options().command_timeout));
  require_parker();
  Coordinator& home = *hold.home;
  Shard& shard = space_.driver().shard_of(home.hash);
  ShardLock lock(shard);
  bring(shard, lock, home,
        [&](EventContext& context) { home.extend(hold, lease, call_, context); });
}

void BlockingCall::start_release(RemoteHold& hold, HoldTerms terms,
                                 std::chrono::milliseconds linger) {
  const Clock::time_point linger_until = begin_release(terms, linger);
  Coordinator& home = *hold.home;
  order_before_release(home.key.view(), terms.type);
  Shard& shard = space_.driver().shard_of(home.hash);
  ShardLock lock(shard);
  bring(shard, lock, home, [&](EventContext& context) {
    home.release(hold, terms.type, terms.watchdog, linger_until, &call_, context);
  });
  guard_.hold_released(space_, shard);
  if (call_.answer != Answer::granted) guard_.keep_space(shard);
}

void BlockingCall::release_without_waiting(RemoteHold& hold, HoldTerms terms,
                                           std::chrono::milliseconds linger) {
  const Clock::time_point linger_until = begin_release(terms, linger);
  Coordinator& home = *hold.home;
  order_before_release(home.key.view(), terms.type);
  Shard& shard = space_.driver().shard_of(home.hash);
  ShardLock lock(shard);
  space_.driver().handle(shard, lock, home, [&](EventContext& context) {
    home.release(hold, terms.type, terms.watchdog, linger_until, nullptr, context);
  });
  guard_.hold_released(space_, shard);
}

// Until when the key stays locked after the release.
Clock::time_point BlockingCall::begin_release(HoldTerms terms,
                                              std::chrono::milliseconds linger) noexcept {
  call_.type = terms.type;
  call_.asked = space_.clock().now();
  return linger.count() > 0 ? later(call_.asked, linger) : Clock::time_point::min();
}

void BlockingCall::start_unlock(const KeyPlace& place, LockType type, Owner owner) {
  order_before_release(place.key, type);
  call_.owner = owner;
  call_.type = type;
  call_.asked = space_.clock().now();
  require_parker();
  Shard& shard = place.shard;
  ShardLock lock(shard);
  Coordinator& home = ShardDriver::coordinator(shard, place);
  bring(shard, lock, home, [&](EventContext& context) { home.unlock(call_, context); });
}

void BlockingCall::wait_or_cancel(const std::stop_token& cancel) {
  if (!cancel.stop_possible()) return sleep_until_answered(Clock::never());
  const std::stop_callback stop(cancel, [this] { this->cancel(); });
  sleep_until_answered(Clock::never());
}

void BlockingCall::sleep_until_answered(Clock::time_point until) {
  while (pending_ && !call_.done.load(std::memory_order_acquire)) {
    const Clock::time_point next = std::min(wake_at_, until);
    if (parks_) {
      static_cast<void>(call_.parker->park_until(space_.clock(), next));
    } else {
      space_.driver().drive(*call_.parker, next);
    }
    check(until);
  }
  pending_ = false;
}

// Brings a tick that is due. `home_` stays where it is: a coordinator with a pending call is not
// idle.
void BlockingCall::check(Clock::time_point until) {
  pending_ = !call_.done.load(std::memory_order_acquire);
  if (!pending_) return;
  Shard& shard = *shard_;
  ShardLock lock(shard);
  pending_ = call_.answer == Answer::pending;
  if (!pending_) return;
  Actions actions;
  EventContext context(space_.clock(), actions);
  context.caller = &call_;
  if (context.now() >= call_.wake_at) {
    home_->tick(context);
    space_.driver().perform(shard, lock, *home_, context);
    pending_ = call_.answer == Answer::pending;
    if (!pending_) return;
  }
  if (until != Clock::never() && context.now() >= until) {
    home_->leave(call_, context);
    space_.driver().schedule(shard, *home_);  // from now on the timer thread drives the release
    pending_ = false;
    return;
  }
  plan_sleep();
}

// On the thread that requests the stop.
void BlockingCall::cancel() {
  Shard& shard = *shard_;
  ShardLock lock(shard);
  if (call_.answer != Answer::pending) return;  // and the coordinator may be gone
  space_.driver().handle(shard, lock, *home_,
                         [&](EventContext& context) { home_->cancel(call_, context); });
}

void BlockingCall::complete(Shard& shard, ShardLock& lock, RemoteHold& claim, Outcome& outcome) {
  Coordinator& home = *claim.home;
  Actions actions;
  EventContext context(space_.clock(), actions);
  context.caller = &call_;
  home.completed(claim.acquire_request, outcome, context);
  space_.driver().perform(shard, lock, home, context);
  pending_ = false;
}

void BlockingCall::give_up(Shard& shard, ShardLock& lock, RemoteHold& claim) {
  Coordinator& home = *claim.home;
  Actions actions;
  EventContext context(space_.clock(), actions);
  context.caller = &call_;
  home.end_wait(call_, context);
  space_.driver().perform(shard, lock, home, context);
  pending_ = false;
}

void BlockingCall::fail(Answer answer, std::string_view key, Clock::time_point asked,
                        const ErrorContext* context) {
  call_.answer = answer;
  call_.asked = asked;
  throw_answer(space_, call_, key, context);
}

}  // namespace latchkey::detail
