// How threads without leadership sleep and are woken: all on one futex.
// SPDX-License-Identifier: BSL-1.0
#include "redis/multiplexer/futex_wait_set.hpp"

#include <sys/eventfd.h>

#include <chrono>
#include <ctime>
#include <utility>

#include "core/futex.hpp"
#include "core/sleep_slice.hpp"

namespace latchkey::inline v1::detail::redis {
namespace {

constinit thread_local FutexWaitSet::WakeBatch* innermost_batch = nullptr;

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
    const Clock::duration length = sleep_slice(clock, until);
    if (length <= Clock::duration::zero()) return;
    futex_wait_bits(word_, seen, monotonic_time_after(length), slot);
  }
}

Parker::Wake FutexWaitSet::wake(Slots slots) noexcept {
  if (innermost_batch != nullptr && &innermost_batch->wait_set_ == this) {
    innermost_batch->slots_ |= slots;
    return {};
  }
  word_.fetch_add(1, std::memory_order_acq_rel);
  return {&word_, slots};
}

FutexWaitSet::WakeBatch::WakeBatch(FutexWaitSet& wait_set) noexcept
    : wait_set_(wait_set), outer_(std::exchange(innermost_batch, this)) {}

void FutexWaitSet::WakeBatch::wake_all() noexcept {
  if (!std::exchange(ended_, true)) innermost_batch = outer_;
  const Slots slots = std::exchange(slots_, 0);
  if (slots == 0) return;
  wait_set_.word_.fetch_add(1, std::memory_order_acq_rel);
  futex_wake_bits(wait_set_.word_, slots);
}

Parker::Wake Waiter::add(Reasons reason) noexcept {
  const Reasons before = reasons_.fetch_or(reason, std::memory_order_acq_rel);
  if (before != 0 || awake_.load(std::memory_order_relaxed)) return {};
  const int wake_fd = wake_fd_.load(std::memory_order_relaxed);
  if (wake_fd < 0) return wait_set_.wake(slot_);
  ::eventfd_write(wake_fd, 1);
  return {};
}

}  // namespace latchkey::inline v1::detail::redis
