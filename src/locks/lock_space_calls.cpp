// The blocking calls: one event for the coordinator each, and the wait for its answer.
#include <iostream>
#include <mutex>
#include <new>
#include <utility>

#include <latchkey/error.hpp>

#include "locks/administration.hpp"
#include "locks/lock_space.hpp"

namespace latchkey::detail {

namespace {

/// An acquire as it is asked for, from now on.
struct Wanted : Call {
  Wanted(Owner who, const Attempt& attempt, Clock::time_point now) noexcept {
    owner = who;
    type = attempt.type;
    lease = attempt.lease;
    reentry = attempt.reentry;
    origin = attempt.origin;
    forever = attempt.wait.is_forever();
    wait = attempt.wait.length();
    start(now);
  }
};

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
  Turn turn(clock_, actions, call.asked);
  turn.caller = &call;
  bring(turn);
  perform(lock, home, turn);
}

void LockSpace::run(const Place& place, Call& call, const std::stop_token& cancel) {
  ShardLock lock(place.shard);
  Coordinator& home = coordinator(place);
  take_turn(lock, home, call, [&](Turn& turn) { home.acquire(call, turn); });
  if (call.answer != Answer::pending) return;
  call.start(clock_.now());
  wait(lock, home, call, cancel);
}

Hold LockSpace::acquire(std::string_view key, Owner owner, const Attempt& attempt) {
  const Place place = place_of(key);
  Wanted call(owner, attempt, asked_at(attempt.lease));
  call.asks_who = true;
  run(place, call, attempt.cancel);
  if (call.answer != Answer::granted) fail(call, key);
  return Hold(call.hold, {call.type, call.lease.is_watchdog()});
}

std::optional<Hold> LockSpace::try_acquire(std::string_view key, Owner owner,
                                           const Attempt& attempt) {
  const Place place = place_of(key);
  Wanted call(owner, attempt, asked_at(attempt.lease));
  run(place, call, attempt.cancel);
  if (call.answer == Answer::busy) return std::nullopt;
  if (call.answer != Answer::granted) fail(call, key);
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
  call.start(asked_at(call.lease));
  run(place, call, {});
  if (call.answer == Answer::granted) return true;
  if (call.answer == Answer::busy) return false;
  fail(call, key);
}

// Lends the caller's thread to the backend until the call is answered.
void LockSpace::wait(ShardLock& lock, Coordinator& home, Call& call,
                     const std::stop_token& cancel) {
  Shard& shard = lock.shard();
  call.parker = &Parker::mine();
  const Clock::time_point wake_at = call.wake_at = home.alarm_of(call);
  lock.unlock();
  if (!cancel.stop_possible()) return wait_for(shard, home, call, wake_at);
  const std::stop_callback stop(cancel, [&] {
    ShardLock stopping(shard);
    if (call.answer != Answer::pending) return;  // and `home` may be gone
    Actions actions;
    Turn turn(clock_, actions);
    home.cancel(call, turn);
    perform(stopping, home, turn);
  });
  wait_for(shard, home, call, wake_at);
}

bool LockSpace::unlock(std::string_view key, LockType type, Owner owner) {
  const Place place = place_of(key);
  Call call;
  call.owner = owner;
  call.type = type;
  call.asked = clock_.now();
  ShardLock lock(place.shard);
  Coordinator& home = coordinator(place);
  take_turn(lock, home, call, [&](Turn& turn) { home.unlock(call, turn); });
  if (call.answer == Answer::pending) wait(lock, home, call);
  return done_or_fail(call);
}

bool LockSpace::release(RemoteHold& hold, LockType type, bool watched,
                        std::chrono::milliseconds linger) {
  Departure departure{*this};
  return give_back(hold, type, watched, linger, departure);
}

void LockSpace::Departure::count_out() noexcept {
  const std::lock_guard guard(counted_in->mutex);
  --counted_in->departing;
  orphaned = counted_in->orphaned;
}

bool LockSpace::give_back(RemoteHold& hold, LockType type, bool watched,
                          std::chrono::milliseconds linger, Departure& departure) {
  Call call;
  call.type = type;
  call.asked = clock_.now();
  const auto until = linger.count() > 0 ? later(call.asked, linger) : Clock::time_point::min();
  Coordinator& home = *hold.home;
  Shard& shard = shard_of(home.hash);
  ShardLock lock(shard);
  take_turn(lock, home, call,
            [&](Turn& turn) { home.release(hold, type, watched, until, &call, turn); });
  departure.orphaned = shard.orphaned;
  if (call.answer == Answer::granted) return true;
  // This thread has still to wait or to complain, and its hold keeps the space no longer.
  ++shard.departing;
  departure.counted_in = &shard;
  if (call.answer == Answer::pending) {
    wait(lock, home, call);
  } else {
    lock.unlock();
  }
  return done_or_fail(call);
}

void LockSpace::release_quietly(RemoteHold& hold, LockType type, bool watched,
                                std::chrono::milliseconds linger) noexcept {
  Departure departure{*this};
  try {
    static_cast<void>(give_back(hold, type, watched, linger, departure));
  } catch (const LockError& error) {
    report(Event::Kind::unlock_error, error.key(), type, error.what());
  }
}

bool LockSpace::extend(RemoteHold& hold, LockType type, std::chrono::milliseconds lease) {
  Call call;
  call.type = type;
  call.asked = clock_.now();
  call.until = later(call.asked, options_.command_timeout);
  Coordinator& home = *hold.home;
  Shard& shard = shard_of(home.hash);
  ShardLock lock(shard);
  take_turn(lock, home, call, [&](Turn& turn) { home.extend(hold, lease, call, turn); });
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

Outcome::Kind LockSpace::administer(const Request& request) {
  Administration asked;
  static_cast<Request&>(asked) = request;
  asked.context = nullptr;
  asked.sent = clock_.now();
  asked.parker = &Parker::mine();
  Request* const one[] = {&asked};
  backend_->submit(one, *this);
  while (!asked.done.load(std::memory_order_acquire)) {
    backend_->drive(*asked.parker, Clock::never());
  }
  LockSite site{std::string(request.key), request.type, describe()};
  switch (asked.outcome.kind) {
    case Outcome::Kind::granted:
    case Outcome::Kind::gone: return asked.outcome.kind;
    case Outcome::Kind::refused: throw BackendRefused(std::move(site), asked.outcome.text);
    case Outcome::Kind::busy:
    case Outcome::Kind::unknown: break;
  }
  throw BackendUnavailable(std::move(site), asked.outcome.text);
}

bool LockSpace::done_or_fail(const Call& call) {
  if (call.answer == Answer::granted) return true;
  if (call.answer == Answer::lost) return false;
  fail(call, call.key);
}

void LockSpace::fail(const Call& call, std::string_view key) {
  LockSite site{std::string(key), call.type, describe()};
  const auto waited =
      std::chrono::duration_cast<std::chrono::milliseconds>(clock_.now() - call.asked);
  switch (call.answer) {
    case Answer::busy:
      throw LockTimeout(std::move(site), waited, announced(key, std::string(call.text)));
    case Answer::lost: throw LockLost(std::move(site));
    case Answer::would_deadlock: throw WouldDeadlock(std::move(site), call.held_as);
    case Answer::not_owner: throw NotOwner(std::move(site));
    case Answer::cancelled: throw Cancelled(std::move(site));
    case Answer::closed: throw Closed(std::move(site));
    case Answer::refused: throw BackendRefused(std::move(site), std::string(call.text));
    case Answer::pending:
    case Answer::granted:
    case Answer::unavailable: break;
  }
  throw BackendUnavailable(std::move(site), std::string(call.text));
}

void LockSpace::report(Event::Kind kind, std::string_view key, LockType type,
                       std::string text) noexcept {
  Event event;
  event.kind = kind;
  event.type = type;
  event.key = key;
  event.owner = Owner::this_thread().number();
  event.text = std::move(text);
  notifier_.post(std::move(event));
}

void LockSpace::tell(const Event& event) noexcept {
  try {
    const bool for_people = event.kind == Event::Kind::warning || event.kind == Event::Kind::order;
    if (for_people && options_.listener == nullptr) {
      std::clog << "latchkey: " + event.text + "\n";
      return;
    }
    notifier_.post(Event(event));
  } catch (const std::bad_alloc&) {
    // Nothing is left to say it with.
  }
}

}  // namespace latchkey::detail
