// Where the drivers of one connection sleep, so that many can be woken at once.
#include "redis/dormitory.hpp"

#include <chrono>
#include <ctime>
#include <utility>

#include "core/futex.hpp"
#include "redis/sleeper.hpp"

namespace latchkey::detail::redis {
namespace {

constinit thread_local Dormitory::Collection* innermost = nullptr;

timespec monotonic_time_after(Clock::duration length) noexcept {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  const auto end =
      std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec) + length;
  const auto seconds = std::chrono::floor<std::chrono::seconds>(end);
  return {.tv_sec = seconds.count(), .tv_nsec = (end - seconds).count()};
}

}  // namespace

void Dormitory::sleep(const Word& reasons, Beds bed, const Clock& clock,
                      Clock::time_point until) noexcept {
  for (;;) {
    const std::uint32_t seen = word_.load(std::memory_order_acquire);
    if (reasons.load(std::memory_order_acquire) != 0) return;
    const Clock::duration length = one_sleep(clock, until);
    if (length <= Clock::duration::zero()) return;
    futex_wait_bits(word_, seen, monotonic_time_after(length), bed);
  }
}

Parker::Wake Dormitory::wake(Beds beds) noexcept {
  if (innermost != nullptr && &innermost->where_ == this) {
    innermost->beds_ |= beds;
    return {};
  }
  word_.fetch_add(1, std::memory_order_acq_rel);
  return {&word_, beds};
}

Dormitory::Collection::Collection(Dormitory& where) noexcept
    : where_(where), outer_(std::exchange(innermost, this)) {}

void Dormitory::Collection::wake_all() noexcept {
  if (!std::exchange(over_, true)) innermost = outer_;
  const Beds beds = std::exchange(beds_, 0);
  if (beds == 0) return;
  where_.word_.fetch_add(1, std::memory_order_acq_rel);
  futex_wake_bits(where_.word_, beds);
}

}  // namespace latchkey::detail::redis
