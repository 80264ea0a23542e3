// How a thread inside a ConnectionMultiplexer sleeps, and what wakes it.
// SPDX-License-Identifier: BSL-1.0
#include "redis/multiplexer/waiter.hpp"

#include <sys/eventfd.h>

#include <algorithm>
#include <chrono>

namespace latchkey::inline v1::detail::redis {

Parker::Wake Waiter::add(Reasons reason) noexcept {
  const Reasons before = reasons_.fetch_or(reason, std::memory_order_acq_rel);
  if (before != 0 || awake_.load(std::memory_order_relaxed)) return {};
  const int wake_fd = wake_fd_.load(std::memory_order_relaxed);
  if (wake_fd < 0) return wait_set_.wake(slot_);
  ::eventfd_write(wake_fd, 1);
  return {};
}

Clock::duration sleep_slice(const Clock& clock, Clock::time_point until) noexcept {
  using namespace std::chrono_literals;
  const bool is_system_clock = &clock == &Clock::system();
  // poll(2) and futexes do not count the time for which the machine was suspended.
  const Clock::duration longest = is_system_clock ? Clock::duration(1s) : Clock::duration(10ms);
  const Clock::time_point now = clock.now();
  return until <= now ? Clock::duration::zero() : std::min(until - now, longest);
}

}  // namespace latchkey::inline v1::detail::redis
