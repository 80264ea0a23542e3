// How long a lock may be held before the backend gives it to another.
#pragma once

#include <chrono>
#include <stdexcept>

namespace latchkey {

/// Spells a lease without an end: held as long as the holder's process lives, by renewing every
/// third of `Options::watchdog`.
struct Watchdog {};
inline constexpr Watchdog watchdog{};

/// The time for which a lock is granted: any std::chrono duration from 10 ms to 10 years, or
/// `watchdog`. A bare number does not compile; a length out of range is a std::invalid_argument, at
/// compile time where it is a constant. Resolution: 1 ms, rounded up.
class Lease {
 public:
  template <class Rep, class Period>
  constexpr Lease(std::chrono::duration<Rep, Period> length)  // NOLINT: 30s is a lease
      : length_(checked(length)) {}
  constexpr Lease(Watchdog) noexcept : length_(0) {}  // NOLINT: so is watchdog

  [[nodiscard]] constexpr bool is_watchdog() const noexcept { return length_.count() == 0; }

  /// The length that the backend is asked for, where `period` is that of the watchdog.
  [[nodiscard]] constexpr std::chrono::milliseconds length(
      std::chrono::milliseconds period) const noexcept {
    return is_watchdog() ? period : length_;
  }

  friend constexpr bool operator==(Lease, Lease) noexcept = default;

 private:
  template <class Rep, class Period>
  static constexpr std::chrono::milliseconds checked(std::chrono::duration<Rep, Period> length) {
    using Wide = std::chrono::duration<long double, std::milli>;
    if (Wide(length) < Wide(10)) {
      throw std::invalid_argument("a lease is at least 10 ms: say 30s, or latchkey::watchdog");
    }
    if (Wide(length) > Wide(std::chrono::hours(24 * 3'650))) {
      throw std::invalid_argument("a lease is at most 10 years: say latchkey::watchdog");
    }
    return std::chrono::ceil<std::chrono::milliseconds>(length);
  }

  std::chrono::milliseconds length_;  // 0: the watchdog renews it
};

}  // namespace latchkey
