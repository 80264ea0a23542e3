// How long a lock may be held before the backend may grant it to another owner.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <chrono>
#include <stdexcept>
#include <type_traits>

#include <latchkey/cxx20.hpp>

#pragma GCC visibility push(default)
namespace latchkey::inline v1 {

/// A lease without an end: the process renews it every third of `Options::watchdog` while it lives.
struct Watchdog {};
inline constexpr Watchdog watchdog{};

/// The time for which a lock is granted: any std::chrono duration from 10 ms to 10 years, or
/// `watchdog`. A bare number does not compile. A length out of range throws std::invalid_argument;
/// for a constant it is a compile error. Resolution: 1 ms, rounded up.
class Lease {
 public:
  template <class Rep, class Period>
  constexpr Lease(std::chrono::duration<Rep, Period> length)  // NOLINT: 30s is a lease
      : length_(checked(length)) {}
  constexpr Lease(Watchdog) noexcept : length_(0) {}  // NOLINT: so is watchdog
  template <class a_lease_has_a_unit_write_30s_or_latchkey_watchdog>
    requires std::is_arithmetic_v<a_lease_has_a_unit_write_30s_or_latchkey_watchdog>
  Lease(a_lease_has_a_unit_write_30s_or_latchkey_watchdog)  // NOLINT: the error shows this name
      LATCHKEY_DETAIL_DELETED(
          "latchkey: a lease has a unit: write 30s (using namespace "
          "std::chrono_literals), std::chrono::minutes(1) or "
          "latchkey::watchdog, not a bare number");

  [[nodiscard]] constexpr bool is_watchdog() const noexcept { return length_.count() == 0; }

  /// The length that is sent to the backend; `period` is Options::watchdog.
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

}  // namespace latchkey::inline v1
#pragma GCC visibility pop
