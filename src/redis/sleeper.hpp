// How a driving thread sleeps, and what wakes it.
#pragma once

#include <atomic>
#include <cstdint>

#include <latchkey/clock.hpp>
#include <latchkey/parker.hpp>

#include "redis/dormitory.hpp"

namespace latchkey::detail::redis {

/// Sleeps in a futex or, where it has a bell (an eventfd), in poll(2) on that among others. Beside
/// its parker's, there are calls of other drivers: the parker alone could not tell the two apart.
class Sleeper final : public Parker::Alarm {
 public:
  explicit Sleeper(Dormitory& dormitory) noexcept
      : dormitory_(dormitory), bed_(dormitory.assign()) {}

  using Reasons = std::uint32_t;
  static constexpr Reasons rung = 1;    ///< the thread's parker was unparked
  static constexpr Reasons called = 2;  ///< another driver wants something

  Parker::Wake ring() noexcept override { return set(rung); }
  /// With the mutex held under which `use_bell` is called. What is returned is left to be done once
  /// that is let go.
  [[nodiscard]] Parker::Wake call() noexcept { return set(called); }

  /// From now on wake-ups ring this eventfd; -1: the futex.
  void use_bell(int bell) noexcept { bell_.store(bell, std::memory_order_relaxed); }

  /// From now on there is nobody to be woken: the thread looks for its reasons itself.
  void stay_awake(bool awake) noexcept { awake_.store(awake, std::memory_order_relaxed); }

  [[nodiscard]] bool has_reason() const noexcept {
    return reasons_.load(std::memory_order_acquire) != 0;
  }

  /// What came since it was asked last.
  Reasons take() noexcept { return reasons_.exchange(0, std::memory_order_acquire); }

  /// Without a bell. Returns when there is a reason, at the latest at `until`.
  void sleep(const Clock& clock, Clock::time_point until) noexcept {
    dormitory_.sleep(reasons_, bed_, clock, until);
  }

 private:
  Parker::Wake set(Reasons reason) noexcept;

  Dormitory& dormitory_;
  const Dormitory::Beds bed_;
  std::atomic<Reasons> reasons_ = 0;
  std::atomic<int> bell_ = -1;
  std::atomic<bool> awake_ = false;
};

/// How long a sleep until then may last at once. The system's sleeps do not go by latchkey's
/// clocks: while the machine is suspended one runs and the other does not, and a clock for tests
/// is moved by hand. So long sleeps are cut, and whoever sleeps looks at the clock again.
[[nodiscard]] Clock::duration one_sleep(const Clock& clock, Clock::time_point until) noexcept;

}  // namespace latchkey::detail::redis
