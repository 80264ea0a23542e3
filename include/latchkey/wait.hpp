// How long an acquire may wait.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <chrono>
#include <type_traits>

#include <latchkey/detail/cxx20.hpp>

#pragma GCC visibility push(default)
namespace latchkey::inline v1 {

/// A wait without a limit: `locks.lock("k").acquire(latchkey::forever)`. It lasts as long as the
/// backend replies: after `Options::unavailable_after` without any reply the call ends with
/// BackendUnavailable.
struct Forever {};
inline constexpr Forever forever{};

/// The longest time an acquire waits for its lock: any std::chrono duration, or `forever`. A bare
/// number does not compile. Negative waits count as zero: one attempt. Resolution: 1 ms, rounded
/// up.
class Wait {
 public:
  template <class Rep, class Period>
  constexpr Wait(std::chrono::duration<Rep, Period> length) noexcept  // NOLINT: 3s is a wait
      : length_(clamp(length)) {}
  constexpr Wait(Forever) noexcept : length_(endless) {}  // NOLINT: so is forever
  template <class a_wait_has_a_unit_write_3s_or_latchkey_forever>
    requires std::is_arithmetic_v<a_wait_has_a_unit_write_3s_or_latchkey_forever>
  Wait(a_wait_has_a_unit_write_3s_or_latchkey_forever)  // NOLINT: the error shows this name
      LATCHKEY_DETAIL_DELETED(
          "latchkey: a wait has a unit: write 3s (using namespace "
          "std::chrono_literals), std::chrono::milliseconds(250) or "
          "latchkey::forever, not a bare number");

  [[nodiscard]] constexpr bool is_forever() const noexcept { return length_ == endless; }

  /// At least zero; std::chrono::milliseconds::max() for `forever`.
  [[nodiscard]] constexpr std::chrono::milliseconds length() const noexcept { return length_; }

  friend constexpr bool operator==(Wait, Wait) noexcept = default;

 private:
  static constexpr auto endless = std::chrono::milliseconds::max();

  template <class Rep, class Period>
  static constexpr std::chrono::milliseconds clamp(std::chrono::duration<Rep, Period> length) {
    using Wide = std::chrono::duration<long double, std::milli>;
    if (length <= length.zero()) return std::chrono::milliseconds::zero();
    // Ten thousand years count as forever; larger values could overflow.
    if (Wide(length) > Wide(std::chrono::hours(24 * 365 * 10'000LL))) return endless;
    return std::chrono::ceil<std::chrono::milliseconds>(length);
  }

  std::chrono::milliseconds length_;
};

/// The wait of each call that does not say one, such as LOCKED("k") and Lock::acquire(). Calls
/// whose name fixes another one have that: lock() waits without a limit, try_acquire() does not
/// wait. docs/guarantees.md has the table.
inline constexpr Wait default_wait = std::chrono::seconds(3);

}  // namespace latchkey::inline v1
#pragma GCC visibility pop
