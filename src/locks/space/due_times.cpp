// The atomics between the threads that handle events and the timer thread.
// SPDX-License-Identifier: BSL-1.0
#include "locks/space/due_times.hpp"

#include <algorithm>

#include "locks/space/leak_intentionally.hpp"

namespace latchkey::inline v1::detail {

// Either this thread sees how long the timer thread sleeps, or the timer thread sees the new time
// before it sleeps: both write first and read afterwards, in the one order of sequential
// consistency.
void DueTimes::lower_and_wake(std::size_t group, Clock::time_point at) noexcept {
  lower(group, at);
  if (ticks(at) < sleeps_until_.load()) wake();
}

void DueTimes::lower(std::size_t group, Clock::time_point at) noexcept {
  std::atomic<Clock::rep>& least = next_due_[group].at;
  Clock::rep seen = least.load();
  while (ticks(at) < seen && !least.compare_exchange_weak(seen, ticks(at))) {
  }
}

Clock::time_point DueTimes::prepare_sleep() noexcept {
  sleeps_until_.store(ticks(Clock::time_point::min()));  // nobody needs to wake this thread now
  const Clock::rep next = earliest();
  sleeps_until_.store(next);
  if (earliest() < next) return Clock::time_point::min();
  return Clock::time_point(Clock::duration(next));
}

Clock::rep DueTimes::earliest() const noexcept {
  Clock::rep earliest = ticks(Clock::never());
  for (const DueTime& group : next_due_) earliest = std::min(earliest, group.at.load());
  return earliest;
}

void DueTimes::wake() noexcept {
  if (has_work_.load(std::memory_order_relaxed) == 0) {
    has_work_.store(1);
    has_work_.notify_one();
  }
  parker_->unpark();
}

// A condition variable on which a thread of the parent sleeps cannot be destroyed: the parent's
// parker is leaked.
void DueTimes::forget_parent() {
  leak_intentionally(parker_.release());
  parker_ = std::make_unique<Parker>();
  has_work_.store(0);
  sleeps_until_.store(ticks(Clock::never()));
  for (DueTime& group : next_due_) group.at.store(ticks(Clock::never()));
}

}  // namespace latchkey::inline v1::detail
