// The one thread that renews, verifies, repeats releases and declares leases over.
#include <algorithm>
#include <mutex>
#include <system_error>

#include "locks/lock_space.hpp"

namespace latchkey::detail {
namespace {

constexpr Clock::rep ticks(Clock::time_point at) { return at.time_since_epoch().count(); }
constexpr Clock::time_point point(Clock::rep at) { return Clock::time_point(Clock::duration(at)); }

}  // namespace

// With the shard's mutex held, after each turn of a coordinator.
void LockSpace::watch(Shard& shard, Coordinator& home) {
  const Clock::time_point due = home.due();
  if (due != home.due_at) {
    shard.timers.update(home, due);
    // next_due may be earlier than what is due, never later: what ended leaves it as it is, and the
    // timer finds out. So a lock that is taken and released writes nothing that others read.
    const Clock::rep next = ticks(shard.timers.next());
    if (next < shard.next_due.load(std::memory_order_relaxed)) {
      // Either this sees how long the timer sleeps, or the timer sees the new time before it
      // sleeps: both write first, and read after that, in the one order of sequential consistency.
      shard.next_due.store(next);
      if (next < timer_sleeps_until_.load() && start_timer()) timer_parker_->unpark();
      return;
    }
  }
  // Where there was no thread to be had for it, each turn tries again.
  if (due != Clock::never() && !timer_started_.load(std::memory_order_relaxed)) start_timer();
}

// False: the system gives no thread now. Holds end by their deadline then, as if nothing answered.
bool LockSpace::start_timer() noexcept {
  if (timer_started_.load(std::memory_order_acquire) || timer_started_.exchange(true)) return true;
  try {
    timer_ = std::thread([this] { run_timer(); });
    return true;
  } catch (const std::system_error&) {
    timer_started_.store(false);
    return false;
  }
}

void LockSpace::run_timer() {
  while (!timer_ending_.load()) {
    const Clock::time_point now = clock_.now();
    for (Shard& shard : shards_) {
      if (shard.next_due.load() <= ticks(now)) tick_due(shard, now);
    }
    timer_sleeps_until_.store(ticks(Clock::time_point::min()));  // nobody need wake it now
    const Clock::time_point next = earliest_due();
    timer_sleeps_until_.store(ticks(next));
    if (earliest_due() < next || next <= now) continue;
    backend_->drive(*timer_parker_, next);
  }
}

void LockSpace::tick_due(Shard& shard, Clock::time_point now) {
  const std::lock_guard guard(shard.mutex);
  while (shard.timers.next() <= now) {
    Coordinator& home = *shard.timers.first();
    shard.timers.remove(home);
    Turn turn(clock_, shard.actions, now);
    home.tick(turn);
    perform(shard, home, turn);
  }
  shard.next_due.store(ticks(shard.timers.next()));
}

Clock::time_point LockSpace::earliest_due() const noexcept {
  Clock::rep earliest = ticks(Clock::never());
  for (const Shard& shard : shards_) earliest = std::min(earliest, shard.next_due.load());
  return point(earliest);
}

}  // namespace latchkey::detail
