// How a thread inside a ConnectionMultiplexer sleeps, and what wakes it.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <atomic>
#include <cstdint>

#include <latchkey/clock.hpp>
#include <latchkey/parker.hpp>

#include "redis/multiplexer/futex_wait_set.hpp"

namespace latchkey::inline v1::detail::redis {

/// The sleep of one thread: on the wait set's futex or, with a wake-up descriptor (an eventfd), in
/// poll(2). A thread is woken for two reasons, which its parker alone could not tell apart: its
/// parker was unparked, or another thread of the multiplexer interrupts it.
class Waiter final : public Parker::Alarm {
 public:
  explicit Waiter(FutexWaitSet& wait_set) noexcept
      : wait_set_(wait_set), slot_(wait_set.assign_slot()) {}

  using Reasons = std::uint32_t;
  static constexpr Reasons unparked = 1;     ///< the thread's parker was unparked
  static constexpr Reasons interrupted = 2;  ///< another thread needs this one

  /// Called by the thread's parker.
  Parker::Wake ring() noexcept override { return add(unparked); }
  /// The caller holds the mutex under which `use_wake_fd` is called. It carries out the result
  /// after it has released that mutex.
  [[nodiscard]] Parker::Wake interrupt() noexcept { return add(interrupted); }

  /// From now on a wake-up writes to this eventfd; -1: it wakes the futex.
  void use_wake_fd(int wake_fd) noexcept { wake_fd_.store(wake_fd, std::memory_order_relaxed); }

  /// While it is awake the thread polls `has_reason` itself, and nobody wakes it.
  void set_awake(bool awake) noexcept { awake_.store(awake, std::memory_order_relaxed); }

  [[nodiscard]] bool has_reason() const noexcept {
    return reasons_.load(std::memory_order_acquire) != 0;
  }

  /// The reasons since the last call.
  Reasons take_reasons() noexcept { return reasons_.exchange(0, std::memory_order_acquire); }

  /// Sleeps on the futex until there is a reason, at the latest until `until`.
  void sleep(const Clock& clock, Clock::time_point until) noexcept {
    wait_set_.sleep(reasons_, slot_, clock, until);
  }

 private:
  Parker::Wake add(Reasons reason) noexcept;

  FutexWaitSet& wait_set_;
  const FutexWaitSet::Slots slot_;
  std::atomic<Reasons> reasons_ = 0;
  std::atomic<int> wake_fd_ = -1;
  std::atomic<bool> awake_ = false;
};

}  // namespace latchkey::inline v1::detail::redis
