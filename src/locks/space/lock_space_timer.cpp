// The one thread that renews, verifies, repeats releases and declares leases over.
#include <algorithm>
#include <mutex>
#include <new>
#include <string>
#include <system_error>

#include <latchkey/error.hpp>

#include "locks/space/lock_space.hpp"

namespace latchkey::detail {
namespace {

/// How often the timer asks for a thread on which to tell what is queued.
constexpr std::chrono::milliseconds thread_pause{500};

constexpr Clock::rep ticks(Clock::time_point at) { return at.time_since_epoch().count(); }
constexpr Clock::time_point point(Clock::rep at) { return Clock::time_point(Clock::duration(at)); }

void lower(std::atomic<Clock::rep>& least, Clock::rep to) noexcept {
  Clock::rep seen = least.load();
  while (to < seen && !least.compare_exchange_weak(seen, to)) {
  }
}

}  // namespace

// With the shard's mutex held, after each turn of a coordinator.
void LockSpace::watch(Shard& shard, Coordinator& home) {
  const Clock::time_point due = home.due();
  if (due != home.due_at) {
    shard.timers.update(home, due);
    // next_due may be earlier than what is due, never later: what ended leaves it as it is, and the
    // timer finds out. So a lock that is taken and released writes nothing that others read.
    Watched& group = group_of(shard);
    if (ticks(due) < group.next_due.load(std::memory_order_relaxed)) {
      // Either this sees how long the timer sleeps, or the timer sees the new time before it
      // sleeps: both write first, and read after that, in the one order of sequential consistency.
      lower(group.next_due, ticks(due));
      if (ticks(due) < timer_sleeps_until_.load()) wake_timer();
    }
  }
}

void LockSpace::wake_timer() noexcept {
  if (timer_has_work_.load(std::memory_order_relaxed) == 0) {
    timer_has_work_.store(1);
    timer_has_work_.notify_one();
  }
  timer_parker_->unpark();
}

// Without it a hold would not be renewed, and nobody be told that it is lost. So nothing is asked
// for before it is there, and each acquire tries again.
void LockSpace::start_timer(std::string_view key, LockType type) {
  try {
    const std::lock_guard guard(shards_.front().mutex);  // one that a fork holds, too
    if (timer_started_.load(std::memory_order_relaxed)) return;
    timer_ = std::thread([this] { run_timer(); });
    timer_started_.store(true, std::memory_order_release);
  } catch (const std::system_error& error) {
    throw BackendUnavailable(
        {std::string(key), type, describe()},
        "it was not asked for, since no thread can be made that would renew it and report its "
        "loss (" +
            error.code().message() +
            "): raise the limit on threads (ulimit -u, the "
            "cgroup's pids.max) or use fewer");
  }
}

void LockSpace::run_timer() {
  timer_has_work_.wait(0);  // before that it drives nothing
  while (!timer_ending_.load()) {
    const Clock::time_point now = clock_.now();
    for (Watched& group : watched_) {
      if (group.next_due.load() <= ticks(now)) tick_due(group, now);
    }
    timer_sleeps_until_.store(ticks(Clock::time_point::min()));  // nobody need wake it now
    const Clock::time_point next = earliest_due();
    timer_sleeps_until_.store(ticks(next));
    if (earliest_due() < next || next <= now) continue;
    drive(*timer_parker_, notifier_.has_thread() ? next : std::min(next, later(now, thread_pause)));
  }
}

// Forgets the time first and looks then, shard by shard: a turn that comes to a shard before this
// has left its due time in the shard, and one that comes after it sees that the time is forgotten.
void LockSpace::tick_due(Watched& group, Clock::time_point now) {
  group.next_due.store(ticks(Clock::never()));
  Clock::time_point next = Clock::never();
  const auto sort = [&](Timers& timers) {
    try {
      timers.sort();
    } catch (const std::bad_alloc&) {
      next = std::min(next, later(now, thread_pause));  // what is not sorted yet waits for that
    }
  };
  for (Shard& shard : shards_of(group)) {
    ShardLock lock(shard);
    for (sort(shard.timers); shard.timers.next() <= now; sort(shard.timers)) {
      Coordinator& home = *shard.timers.first();
      shard.timers.remove(home);
      Actions actions;
      EventContext context(clock_, actions, now);
      home.tick(context);
      perform(lock, home, context);
    }
    next = std::min(next, shard.timers.next());
  }
  lower(group.next_due, ticks(next));
}

Clock::time_point LockSpace::earliest_due() const noexcept {
  Clock::rep earliest = ticks(Clock::never());
  for (const Watched& group : watched_) earliest = std::min(earliest, group.next_due.load());
  return point(earliest);
}

}  // namespace latchkey::detail
