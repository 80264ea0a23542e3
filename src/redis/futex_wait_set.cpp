// Where the drivers of one connection sleep, so that many can be woken at once.
#include "redis/futex_wait_set.hpp"

#include <chrono>
#include <ctime>
#include <utility>

#include "core/futex.hpp"
#include "redis/waiter.hpp"

namespace latchkey::detail::redis {
namespace {

constinit thread_local FutexWaitSet::WakeBatch* innermost = nullptr;

timespec monotonic_time_after(Clock::duration length) noexcept {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  const auto end =
      std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec) + length;
  const auto seconds = std::chrono::floor<std::chrono::seconds>(end);
  return {.tv_sec = seconds.count(), .tv_nsec = (end - seconds).count()};
}

}  // namespace

void FutexWaitSet::sleep(const Word& reasons, Slots slot, const Clock& clock,
                         Clock::time_point until) noexcept {
  for (;;) {
    const std::uint32_t seen = word_.load(std::memory_order_acquire);
    if (reasons.load(std::memory_order_acquire) != 0) return;
    const Clock::duration length = longest_sleep(clock, until);
    if (length <= Clock::duration::zero()) return;
    futex_wait_bits(word_, seen, monotonic_time_after(length), slot);
  }
}

Parker::Wake FutexWaitSet::wake(Slots slots) noexcept {
  if (innermost != nullptr && &innermost->where_ == this) {
    innermost->slots_ |= slots;
    return {};
  }
  word_.fetch_add(1, std::memory_order_acq_rel);
  return {&word_, slots};
}

FutexWaitSet::WakeBatch::WakeBatch(FutexWaitSet& where) noexcept
    : where_(where), outer_(std::exchange(innermost, this)) {}

void FutexWaitSet::WakeBatch::wake_all() noexcept {
  if (!std::exchange(over_, true)) innermost = outer_;
  const Slots slots = std::exchange(slots_, 0);
  if (slots == 0) return;
  where_.word_.fetch_add(1, std::memory_order_acq_rel);
  futex_wake_bits(where_.word_, slots);
}

}  // namespace latchkey::detail::redis
