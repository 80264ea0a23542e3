// The blocking calls: one event for the coordinator each, and the wait for its answer.
#include <mutex>
#include <new>
#include <utility>

#include <latchkey/error.hpp>

#include "core/thread_order.hpp"
#include "locks/space/lock_space.hpp"

namespace latchkey::detail {

namespace {

/// An acquire as it is asked for, from now on.
struct Wanted : Call {
  Wanted(Owner who, const Attempt& attempt, Clock::time_point now,
         std::chrono::milliseconds command_timeout) noexcept {
    owner = who;
    type = attempt.type;
    lease = attempt.lease;
    reentry = attempt.reentry;
    origin = attempt.origin;
    forever = attempt.wait.is_forever();
    wait = attempt.wait.length();
    set_grace(wait, command_timeout);
    start(now);
  }
};

/// Without .reentry(refuse) the call would have entered.
bool only_refused(const Call& call) noexcept {
  const bool enters =
      call.type == call.held_as || (call.type == LockType::READ && call.held_as == LockType::WRITE);
  return call.reentry == Reentry::refuse && enters;
}

}  // namespace

// A lease may begin a tick before it was asked for, where that is less than the margin.
Clock::time_point LockSpace::asked_at(const Lease& lease) const noexcept {
  const bool long_enough = lease.length(options_.watchdog) >= std::chrono::seconds(1);
  return long_enough && !ticks_count_ ? clock_.recent() : clock_.now();
}

// There are more shards than a processor's first cache has room for: the shard comes while the
// caller's next step, reading the clock, takes its time.
LockSpace::Place LockSpace::place_of(std::string_view key) noexcept {
  const std::size_t hash = hash_key(key);
  Shard& shard = shard_of(hash);
  __builtin_prefetch(&shard.mutex, 1);
  __builtin_prefetch(&shard.context, 1);
  return {key, hash, shard};
}

// Brings one event of a call. The answer may still be pending.
template <class Bring>
void LockSpace::take_turn(ShardLock& lock, Coordinator& home, Call& call, Bring&& bring) {
  Actions actions;
  EventContext context(clock_, actions, call.asked);
  context.caller = &call;
  bring(context);
  perform(lock, home, context);
}

// Before a call is brought which may have to wait: what a wait needs must not be missing then.
// Throws std::bad_alloc.
void LockSpace::demand_parker() {
  if (Parker::mine_if_any() == nullptr) [[unlikely]] {
    static_cast<void>(Parker::mine());
  }
}

void LockSpace::run(const Place& place, Call& call, const std::stop_token& cancel) {
  demand_timer(place.key, call.type);
  demand_parker();
  ShardLock lock(place.shard);
  Coordinator& home = coordinator(place);
  take_turn(lock, home, call, [&](EventContext& context) { home.acquire(call, context); });
  if (call.answer != Answer::pending) return;
  call.start(clock_.now());
  wait(lock, home, call, cancel);
}

Hold LockSpace::acquire(std::string_view key, Owner owner, const Attempt& attempt) {
  refuse_if_cancelled(attempt.cancel, key, attempt.type);
  const Place place = place_of(key);
  Wanted call(owner, attempt, asked_at(attempt.lease), options_.command_timeout);
  call.wants_holder_name = true;
  run(place, call, attempt.cancel);
  if (call.answer != Answer::granted) fail(call, key);
  order_after_grant(key, call.type);
  return Hold(call.hold, {call.type, call.lease.is_watchdog()});
}

std::optional<Hold> LockSpace::try_acquire(std::string_view key, Owner owner,
                                           const Attempt& attempt) {
  refuse_if_cancelled(attempt.cancel, key, attempt.type);
  const Place place = place_of(key);
  Wanted call(owner, attempt, asked_at(attempt.lease), options_.command_timeout);
  run(place, call, attempt.cancel);
  if (call.answer == Answer::busy) return std::nullopt;
  if (call.answer != Answer::granted) fail(call, key);
  order_after_grant(key, call.type);
  return Hold(call.hold, {call.type, call.lease.is_watchdog()});
}

bool LockSpace::lock(std::string_view key, LockType type, Owner owner, Wait wait) {
  const Place place = place_of(key);
  Call call;
  call.owner = owner;
  call.type = type;
  call.by_lock = true;
  call.forever = wait.is_forever();
  call.wait = wait.length();
  call.set_grace(call.wait, options_.command_timeout);
  call.start(asked_at(call.lease));
  run(place, call, {});
  if (call.answer == Answer::granted) {
    order_after_grant(key, type);
    return true;
  }
  if (call.answer == Answer::busy) return false;
  fail(call, key);
}

// Lends the caller's thread to the backend until the call is answered.
void LockSpace::wait(ShardLock& lock, Coordinator& home, Call& call,
                     const std::stop_token& cancel) {
  Shard& shard = lock.shard();
  call.parker = Parker::mine_if_any();  // it has one: see demand_parker
  const Clock::time_point wake_at = call.wake_at = home.alarm_of(call);
  lock.unlock();
  if (!cancel.stop_possible()) return wait_for(shard, home, call, wake_at);
  const std::stop_callback stop(cancel, [&] {
    ShardLock stopping(shard);
    if (call.answer != Answer::pending) return;  // and `home` may be gone
    Actions actions;
    EventContext context(clock_, actions);
    home.cancel(call, context);
    perform(stopping, home, context);
  });
  wait_for(shard, home, call, wake_at);
}

bool LockSpace::unlock(std::string_view key, LockType type, Owner owner) {
  order_before_release(key, type);
  const Place place = place_of(key);
  Call call;
  call.owner = owner;
  call.type = type;
  call.asked = clock_.now();
  demand_parker();
  ShardLock lock(place.shard);
  Coordinator& home = coordinator(place);
  take_turn(lock, home, call, [&](EventContext& context) { home.unlock(call, context); });
  if (call.answer == Answer::pending) wait(lock, home, call);
  return done_or_fail(call);
}

bool LockSpace::release(RemoteHold& hold, LockType type, bool watched,
                        std::chrono::milliseconds linger, const Asker* asker) {
  ReleaseGuard departure{*this};
  return give_back(hold, type, watched, linger, departure, asker);
}

void LockSpace::ReleaseGuard::count_out() noexcept {
  const std::lock_guard guard(counted_in->mutex);
  --counted_in->departing;
  detached = counted_in->detached;
}

bool LockSpace::give_back(RemoteHold& hold, LockType type, bool watched,
                          std::chrono::milliseconds linger, ReleaseGuard& departure,
                          const Asker* asker) {
  Call call;
  call.type = type;
  call.asked = clock_.now();
  const auto until = linger.count() > 0 ? later(call.asked, linger) : Clock::time_point::min();
  // A thread that has no memory for a parker cannot wait: the timer sees to the release.
  const bool waits = may_wait();
  Coordinator& home = *hold.home;
  order_before_release(home.key.view(), type);
  Shard& shard = shard_of(home.hash);
  ShardLock lock(shard);
  take_turn(lock, home, call, [&](EventContext& context) {
    home.release(hold, type, watched, until, waits ? &call : nullptr, context);
  });
  departure.detached = shard.detached;
  if (!waits) throw std::bad_alloc();
  if (call.answer == Answer::granted) return true;
  // This thread has still to wait or to complain, and its hold keeps the space no longer.
  ++shard.departing;
  departure.counted_in = &shard;
  if (call.answer == Answer::pending) {
    wait(lock, home, call);
  } else {
    lock.unlock();
  }
  return done_or_fail(call, asker);
}

void LockSpace::release_quietly(RemoteHold& hold, LockType type, bool watched,
                                std::chrono::milliseconds linger) noexcept {
  ReleaseGuard departure{*this};
  try {
    static_cast<void>(give_back(hold, type, watched, linger, departure));
  } catch (const LockError& error) {
    report(Event::Kind::unlock_error, error.key(), type, error.what());
  } catch (const std::bad_alloc&) {
    notifier_.drop(1);  // it was given back, or will be: only what there is to say has no room
  }
}

bool LockSpace::may_wait() noexcept {
  try {
    demand_parker();
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

bool LockSpace::extend(RemoteHold& hold, LockType type, std::chrono::milliseconds lease) {
  Call call;
  call.type = type;
  call.asked = clock_.now();
  call.until = later(call.asked, options_.command_timeout);
  demand_parker();
  Coordinator& home = *hold.home;
  Shard& shard = shard_of(home.hash);
  ShardLock lock(shard);
  take_turn(lock, home, call,
            [&](EventContext& context) { home.extend(hold, lease, call, context); });
  if (call.answer == Answer::pending) wait(lock, home, call);
  return done_or_fail(call);
}

std::stop_token LockSpace::stop_token(RemoteHold& hold) {
  const std::lock_guard guard(shard_of(hold.home->hash).mutex);
  if (!hold.stop.stop_possible()) {
    hold.stop = std::stop_source();
    if (hold.lost.load(std::memory_order_relaxed)) hold.stop.request_stop();
  }
  return hold.stop.get_token();
}

bool LockSpace::done_or_fail(const Call& call, const Asker* asker) {
  if (call.answer == Answer::granted) return true;
  if (call.answer == Answer::lost && asker == nullptr) return false;
  fail(call, call.key, asker);
}

void LockSpace::fail(const Call& call, std::string_view key, const Asker* asker) {
  using std::chrono::milliseconds;
  LockSite site{std::string(key), call.type, describe()};
  site.body_ran = asker != nullptr;
  (asker != nullptr ? *asker : Asker{call.origin, call.lease}).describe(site);
  const auto waited = std::chrono::duration_cast<milliseconds>(clock_.now() - call.asked);
  switch (call.answer) {
    case Answer::busy: throw LockTimeout(std::move(site), waited, announced(call, key));
    case Answer::lost: throw LockLost(std::move(site), std::chrono::floor<milliseconds>(call.held));
    case Answer::would_deadlock:
      throw WouldDeadlock(std::move(site), call.held_as, std::string(call.text),
                          only_refused(call));
    case Answer::not_owner: throw NotOwner(std::move(site));
    case Answer::cancelled: throw Cancelled(std::move(site));
    case Answer::closed: throw Closed(std::move(site));
    case Answer::refused: throw BackendRefused(std::move(site), std::string(call.text));
    case Answer::pending:
    case Answer::granted:
    case Answer::unavailable: break;
  }
  std::string reason(call.text.view());
  if (reason.empty()) reason = "the backend gave no reason";
  if (call.releases) throw ReleaseUnconfirmed(std::move(site), reason);
  if (call.acquires) reason += "; waited " + std::to_string(waited.count()) + " ms";
  throw BackendUnavailable(std::move(site), reason);
}

}  // namespace latchkey::detail
