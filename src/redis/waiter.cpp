// How a driving thread sleeps, and what wakes it.
#include "redis/waiter.hpp"

#include <sys/eventfd.h>

#include <algorithm>
#include <chrono>

namespace latchkey::detail::redis {
Parker::Wake Waiter::set(Reasons reason) noexcept {
  const Reasons before = reasons_.fetch_or(reason, std::memory_order_acq_rel);
  if (before != 0 || awake_.load(std::memory_order_relaxed)) return {};
  const int wake_fd = wake_fd_.load(std::memory_order_relaxed);
  if (wake_fd < 0) return wait_set_.wake(slot_);
  ::eventfd_write(wake_fd, 1);
  return {};
}

Clock::duration longest_sleep(const Clock& clock, Clock::time_point until) noexcept {
  using namespace std::chrono_literals;
  const bool systems = &clock == &Clock::system();
  // poll(2) and futexes know nothing of the time for which the machine was suspended.
  const Clock::duration longest = systems ? Clock::duration(1s) : Clock::duration(10ms);
  const Clock::time_point now = clock.now();
  return until <= now ? Clock::duration::zero() : std::min(until - now, longest);
}

}  // namespace latchkey::detail::redis
