// How a driving thread sleeps, and what wakes it.
#pragma once

#include <atomic>
#include <cstdint>

#include <latchkey/clock.hpp>
#include <latchkey/parker.hpp>

#include "redis/futex_wait_set.hpp"

namespace latchkey::detail::redis {

/// Sleeps in a futex or, where it has a bell (an eventfd), in poll(2) on that among others. Beside
/// its parker's, there are calls of other drivers: the parker alone could not tell the two apart.
class Waiter final : public Parker::Alarm {
 public:
  explicit Waiter(FutexWaitSet& wait_set) noexcept
      : wait_set_(wait_set), slot_(wait_set.assign()) {}

  using Reasons = std::uint32_t;
  static constexpr Reasons notified = 1;  ///< the thread's parker was unparked
  static constexpr Reasons called = 2;    ///< another driver wants something

  Parker::Wake ring() noexcept override { return set(notified); }
  /// With the mutex held under which `use_bell` is called. What is returned is left to be done once
  /// that is let go.
  [[nodiscard]] Parker::Wake call() noexcept { return set(called); }

  /// From now on wake-ups ring this eventfd; -1: the futex.
  void use_wake_fd(int wake_fd) noexcept { wake_fd_.store(wake_fd, std::memory_order_relaxed); }

  /// From now on there is nobody to be woken: the thread looks for its reasons itself.
  void stay_awake(bool awake) noexcept { awake_.store(awake, std::memory_order_relaxed); }

  [[nodiscard]] bool has_reason() const noexcept {
    return reasons_.load(std::memory_order_acquire) != 0;
  }

  /// What came since it was asked last.
  Reasons take() noexcept { return reasons_.exchange(0, std::memory_order_acquire); }

  /// Without a bell. Returns when there is a reason, at the latest at `until`.
  void sleep(const Clock& clock, Clock::time_point until) noexcept {
    wait_set_.sleep(reasons_, slot_, clock, until);
  }

 private:
  Parker::Wake set(Reasons reason) noexcept;

  FutexWaitSet& wait_set_;
  const FutexWaitSet::Slots slot_;
  std::atomic<Reasons> reasons_ = 0;
  std::atomic<int> wake_fd_ = -1;
  std::atomic<bool> awake_ = false;
};

/// How long a sleep until then may last at once. The system's sleeps do not go by latchkey's
/// clocks: while the machine is suspended one runs and the other does not, and a clock for tests
/// is moved by hand. So long sleeps are cut, and whoever sleeps looks at the clock again.
[[nodiscard]] Clock::duration longest_sleep(const Clock& clock, Clock::time_point until) noexcept;

}  // namespace latchkey::detail::redis
