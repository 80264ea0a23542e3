// One of several calls of the same thread.
#include "locks/space/blocking_call.hpp"

#include <algorithm>

#include "core/thread_order.hpp"

namespace latchkey::detail {

template <class Bring>
void BlockingCall::begin(ShardLock& lock, Coordinator& home, Bring&& bring) {
  shard_ = &lock.shard();
  home_ = &home;
  call_.parker = &Parker::mine();
  Actions actions;
  EventContext context(space_->clock_, actions, call_.asked);
  context.caller = &call_;
  bring(context);
  space_->perform(lock, home, context);
  pending_ = call_.answer == Answer::pending;
  if (pending_) call_.wake_at = home.alarm_of(call_);
}

void BlockingCall::want(Owner owner, const Attempt& attempt, bool by_lock) noexcept {
  call_.owner = owner;
  call_.type = attempt.type;
  call_.lease = attempt.lease;
  call_.reentry = attempt.reentry;
  call_.origin = attempt.origin;
  call_.by_lock = by_lock;
  call_.asked = space_->clock_.now();
}

void BlockingCall::begin_acquire(ShardLock& lock, Coordinator& home) {
  begin(lock, home, [&](EventContext& context) { home.acquire(call_, context); });
}

void BlockingCall::acquire(std::string_view key, Owner owner, const Attempt& attempt, bool by_lock,
                           const Limit& limit) {
  want(owner, attempt, by_lock);
  space_->demand_timer(key, attempt.type);
  call_.forever = limit.until == Clock::never();
  call_.until = limit.until;
  call_.grace = limit.grace;
  LockSpace::demand_parker();
  const std::size_t hash = hash_key(key);
  Shard& shard = space_->shard_of(hash);
  {
    ShardLock lock(shard);
    begin_acquire(lock, space_->coordinator({key, hash, shard}));
  }
  if (!pending_ || !attempt.cancel.stop_possible()) return finish();
  const std::stop_callback stop(attempt.cancel, [&] {
    ShardLock lock(shard);
    if (call_.answer != Answer::pending) return;  // and the coordinator may be gone
    Actions actions;
    EventContext context(space_->clock_, actions);
    home_->cancel(call_, context);
    space_->perform(lock, *home_, context);
  });
  finish();
}

void BlockingCall::begin_extend(RemoteHold& hold, LockType type, std::chrono::milliseconds lease,
                                Clock::time_point until) {
  call_.type = type;
  call_.asked = space_->clock_.now();
  call_.until = std::min(until, later(call_.asked, space_->options_.command_timeout));
  Coordinator& home = *hold.home;
  Shard& shard = space_->shard_of(home.hash);
  ShardLock lock(shard);
  begin(lock, home, [&](EventContext& context) { home.extend(hold, lease, call_, context); });
}

void BlockingCall::begin_release(RemoteHold& hold, LockType type, bool watched,
                                 std::chrono::milliseconds linger) {
  LockSpace::demand_parker();  // before anything is changed
  departure_.emplace(LockSpace::ReleaseGuard{*space_});
  call_.type = type;
  call_.asked = space_->clock_.now();
  const auto until = linger.count() > 0 ? later(call_.asked, linger) : Clock::time_point::min();
  Coordinator& home = *hold.home;
  order_before_release(home.key.view(), type);
  Shard& shard = space_->shard_of(home.hash);
  ShardLock lock(shard);
  begin(lock, home,
        [&](EventContext& context) { home.release(hold, type, watched, until, &call_, context); });
  departure_->detached = shard.detached;
  if (call_.answer == Answer::granted) return;
  // This thread has still to wait or to complain, and its hold keeps the space no longer.
  ++shard.departing;
  departure_->counted_in = &shard;
}

void BlockingCall::begin_unlock(std::string_view key, LockType type, Owner owner) {
  order_before_release(key, type);
  call_.owner = owner;
  call_.type = type;
  call_.asked = space_->clock_.now();
  const std::size_t hash = hash_key(key);
  Shard& shard = space_->shard_of(hash);
  ShardLock lock(shard);
  Coordinator& home = space_->coordinator({key, hash, shard});
  begin(lock, home, [&](EventContext& context) { home.unlock(call_, context); });
}

// As LockSpace::wait_for, but it looks before it sleeps: the parker's wake-up may have been used up
// while this thread waited for another of its calls.
void BlockingCall::finish(Clock::time_point until) {
  if (!pending_) return;
  Shard& shard = *shard_;
  while (!call_.done.load(std::memory_order_acquire)) {
    Clock::time_point wake_at;
    {
      ShardLock lock(shard);
      if (call_.answer != Answer::pending) break;
      Actions actions;
      EventContext context(space_->clock_, actions);
      context.caller = &call_;
      if (context.now() >= call_.wake_at) {
        home_->tick(context);
        space_->perform(lock, *home_, context);
        if (call_.answer != Answer::pending) break;
      }
      if (until != Clock::never() && context.now() >= until) {
        home_->leave(call_, context);
        space_->watch(shard, *home_);  // who waits no longer drives no longer: the timer does
        break;
      }
      wake_at = call_.wake_at = home_->alarm_of(call_);
    }
    space_->drive(*call_.parker, std::min(wake_at, until));
  }
  pending_ = false;
}

void BlockingCall::fail(Answer answer, std::string_view key, Clock::time_point asked,
                        const Asker* asker) {
  call_.answer = answer;
  call_.asked = asked;
  space_->fail(call_, key, asker);
}

}  // namespace latchkey::detail
