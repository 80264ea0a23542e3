// The clock: the only source of time, and of waiting for a time, in latchkey.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <ratio>
#include <type_traits>

#pragma GCC visibility push(default)
namespace latchkey::inline v1 {

/// Time as leases need it: it never jumps, and it continues while the machine is suspended. Beside
/// it, wall() is the time of day for schedules.
///
/// The system clock reads CLOCK_BOOTTIME, so after a suspend longer than the lease a holder finds
/// its lock lost. `testing::ManualClock` advances only when a test advances it. Thread-safe. A
/// clock must outlive every object that uses it.
class Clock {
 public:
  using duration = std::chrono::nanoseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<Clock, duration>;
  static constexpr bool is_steady = true;

  Clock() = default;
  Clock(const Clock&) = delete;
  Clock& operator=(const Clock&) = delete;
  virtual ~Clock() = default;

  /// The time since an origin that the clock chooses.
  [[nodiscard]] virtual time_point now() const noexcept = 0;

  /// A time that is not after now, and before it by no more than a tick of the system's timer: 1 to
  /// 10 ms, or longer if a virtual machine's ticks are late. Cheaper than now(). For times that may
  /// be too early but never too late, such as the start of a lease.
  [[nodiscard]] virtual time_point recent() const noexcept { return now(); }

  /// The time of day, as UTC: for what is scheduled, never for leases. It may jump, and machines
  /// differ in it.
  [[nodiscard]] virtual std::chrono::system_clock::time_point wall() const noexcept;

  /// Blocks on `condition` with `lock` held until it is notified, or until `deadline` by this
  /// clock. May return early, as condition variables do: the caller checks its condition again.
  virtual void wait_until(std::unique_lock<std::mutex>& lock, std::condition_variable& condition,
                          time_point deadline) = 0;

  /// The system clock. Never destroyed.
  [[nodiscard]] static Clock& system() noexcept;

  /// Later than any time that a clock returns.
  static constexpr time_point never() noexcept { return time_point::max(); }
};

/// `start + length`, or `Clock::never()` if that overflows: a wait without a limit is
/// milliseconds::max().
template <class Rep, class Period>
constexpr Clock::time_point later(Clock::time_point start,
                                  std::chrono::duration<Rep, Period> length) noexcept {
  using Scale = std::ratio_divide<Period, Clock::period>;
  static_assert(std::is_integral_v<Rep> && Scale::den == 1, "an integral number of nanoseconds");
  Clock::rep ticks = 0;
  Clock::rep sum = 0;
  if (__builtin_mul_overflow(length.count(), Clock::rep{Scale::num}, &ticks) ||
      __builtin_add_overflow(start.time_since_epoch().count(), ticks, &sum)) {
    return length > length.zero() ? Clock::never() : Clock::time_point::min();
  }
  return Clock::time_point(Clock::duration(sum));
}

}  // namespace latchkey::inline v1
#pragma GCC visibility pop
