// Waiting for the answer of a call.
// SPDX-License-Identifier: BSL-1.0
#include "locks/space/blocking_call.hpp"

#include <algorithm>

#include "locks/space/lock_space.hpp"
#include "locks/space/shard_driver.hpp"

namespace latchkey::inline v1::detail {

void BlockingCall::wait_or_cancel(const std::stop_token& cancel) {
  if (!cancel.stop_possible()) return sleep_until_answered(Clock::never());
  const std::stop_callback stop(cancel, [this] { this->cancel(); });
  sleep_until_answered(Clock::never());
}

void BlockingCall::sleep_until_answered(Clock::time_point until) {
  space_.before_sleep(call_);
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
  plan_wait(shard);
}

void BlockingCall::complete(Shard& shard, ShardLock& lock, RemoteHold& claim, Outcome& outcome) {
  Coordinator& home = *claim.home;
  Actions actions;
  EventContext context(space_.clock(), actions);
  context.caller = &call_;
  home.completed(claim.acquire.request, outcome, context);
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

}  // namespace latchkey::inline v1::detail
