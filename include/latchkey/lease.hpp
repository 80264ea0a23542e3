// How long a lock may be held before the backend may grant it to another owner.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <stdexcept>
#include <type_traits>

#include <latchkey/detail/cxx20.hpp>

#pragma GCC visibility push(default)
namespace latchkey::inline v1 {

class Lease;
namespace detail {
constexpr Lease limit_lease(Lease lease, std::chrono::milliseconds time) noexcept;
constexpr Lease delay_lease(Lease lease, std::chrono::milliseconds time) noexcept;
constexpr Lease cache_lease(Lease lease, std::optional<std::chrono::milliseconds> time) noexcept;
inline constexpr std::chrono::hours longest_lock_delay{24};
inline constexpr std::chrono::seconds longest_cache{10};
}  // namespace detail

/// Stands for the time of Options::cache and Lease::cache: the process learns for each key how soon
/// its calls come back to it after a release, and keeps the lock for about so long, at most 1 s. A
/// key to which it does not come back within a second is not kept at all.
inline constexpr std::chrono::milliseconds adaptive_cache{std::numeric_limits<std::int32_t>::min()};

namespace detail {
/// Whether Options::cache and Lease::cache take `time`.
template <class Rep, class Period>
constexpr bool is_cache(std::chrono::duration<Rep, Period> time) noexcept {
  using Wide = std::chrono::duration<long double, std::milli>;
  const bool in_range = Wide(time) >= Wide(0) && Wide(time) <= Wide(longest_cache);
  return in_range || Wide(time) == Wide(adaptive_cache);
}
}  // namespace detail

/// A lease without an end: the process renews it every third of `Options::watchdog` while it lives.
struct Watchdog {
  /// As Lease::held_at_most: `watchdog.held_at_most(10min)` is renewed for 10 minutes at most.
  template <class Rep, class Period>
  [[nodiscard]] constexpr Lease held_at_most(std::chrono::duration<Rep, Period> time) const;
  /// As Lease::lock_delay.
  template <class Rep, class Period>
  [[nodiscard]] constexpr Lease lock_delay(std::chrono::duration<Rep, Period> time) const;
  /// As Lease::cache.
  template <class Rep, class Period>
  [[nodiscard]] constexpr Lease cache(std::chrono::duration<Rep, Period> time) const;
};
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

  /// This lease for a hold that ends at the latest `time` after its grant, so that a holder that
  /// hangs does not keep the lock for ever: the watchdog makes its last renewal so that the hold
  /// ends then, and Hold::extend goes no further. docs/guarantees.md has the bound. From 10 ms to
  /// 10 years; resolution: 1 ms, rounded down. A time out of range, or a lease that is longer,
  /// throws std::invalid_argument; for a constant it is a compile error.
  template <class Rep, class Period>
  [[nodiscard]] constexpr Lease held_at_most(std::chrono::duration<Rep, Period> time) const {
    Lease limited = *this;
    limited.limit_ = checked_limit(time);
    if (limited.limit_ < length_) {
      throw std::invalid_argument(
          "the lease is longer than held_at_most allows: say a shorter lease, or "
          "latchkey::watchdog");
    }
    return limited;
  }

  /// The time that held_at_most was called with; 0: it was not called.
  [[nodiscard]] constexpr std::chrono::milliseconds held_at_most() const noexcept { return limit_; }

  /// This lease for a lock that nobody is granted for `time` after it was lost: a holder that dies
  /// or hangs, and what it has sent to a resource that checks no fencing token, has that long to
  /// come to rest. The backend keeps the lock for the lease and `time`, while the holder believes
  /// in the lease alone. A release frees the lock at once. From 10 ms to 24 hours; resolution:
  /// 1 ms, rounded up. A time out of range throws std::invalid_argument; for a constant it is a
  /// compile error.
  template <class Rep, class Period>
  [[nodiscard]] constexpr Lease lock_delay(std::chrono::duration<Rep, Period> time) const {
    Lease delayed = *this;
    delayed.delay_ms_ = checked_delay(time);
    return delayed;
  }

  /// The time that lock_delay was called with; 0: it was not called.
  [[nodiscard]] constexpr std::chrono::milliseconds lock_delay() const noexcept {
    return std::chrono::milliseconds(delay_ms_);
  }

  /// This lease for a lock that this process keeps for `time` after its release, unless another one
  /// waits for it: Options::cache for this lock alone, which has what that means. 0: it is given
  /// back when it is released, whatever Options::cache says. For all types but FAIR and PERMIT. The
  /// time is that of the call that was granted the lock, and begins with the first release. At
  /// most 10 s, or adaptive_cache; resolution: 1 ms, rounded down. A time out of range throws
  /// std::invalid_argument; for a constant it is a compile error.
  template <class Rep, class Period>
  [[nodiscard]] constexpr Lease cache(std::chrono::duration<Rep, Period> time) const {
    Lease cached = *this;
    cached.cache_ms_ = checked_cache(time);
    return cached;
  }

  /// The time that cache was called with; empty: it was not called, and Options::cache counts.
  [[nodiscard]] constexpr std::optional<std::chrono::milliseconds> cache() const noexcept {
    if (cache_ms_ == unsaid) return std::nullopt;
    return std::chrono::milliseconds(cache_ms_);
  }

  [[nodiscard]] constexpr bool is_watchdog() const noexcept { return length_.count() == 0; }

  /// The length for the holder; `period` is Options::watchdog.
  [[nodiscard]] constexpr std::chrono::milliseconds length(
      std::chrono::milliseconds period) const noexcept {
    return is_watchdog() ? period : length_;
  }

  friend constexpr bool operator==(Lease, Lease) noexcept = default;

 private:
  friend constexpr Lease detail::limit_lease(Lease lease, std::chrono::milliseconds time) noexcept;
  friend constexpr Lease detail::delay_lease(Lease lease, std::chrono::milliseconds time) noexcept;
  friend constexpr Lease detail::cache_lease(
      Lease lease, std::optional<std::chrono::milliseconds> time) noexcept;

  static constexpr std::int32_t unsaid = -1;

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

  template <class Rep, class Period>
  static constexpr std::chrono::milliseconds checked_limit(
      std::chrono::duration<Rep, Period> time) {
    using Wide = std::chrono::duration<long double, std::milli>;
    if (Wide(time) < Wide(10) || Wide(time) > Wide(std::chrono::hours(24 * 3'650))) {
      throw std::invalid_argument(
          "held_at_most takes a time from 10 ms to 10 years, as in "
          "latchkey::watchdog.held_at_most(10min)");
    }
    return std::chrono::floor<std::chrono::milliseconds>(time);
  }

  template <class Rep, class Period>
  static constexpr std::int32_t checked_delay(std::chrono::duration<Rep, Period> time) {
    using Wide = std::chrono::duration<long double, std::milli>;
    if (Wide(time) < Wide(10) || Wide(time) > Wide(detail::longest_lock_delay)) {
      throw std::invalid_argument(
          "lock_delay takes a time from 10 ms to 24 hours, as in Lease(30s).lock_delay(5s)");
    }
    return static_cast<std::int32_t>(std::chrono::ceil<std::chrono::milliseconds>(time).count());
  }

  template <class Rep, class Period>
  static constexpr std::int32_t checked_cache(std::chrono::duration<Rep, Period> time) {
    if (!detail::is_cache(time)) {
      throw std::invalid_argument(
          "cache takes a time from 0, for none, to 10 s, as in Lease(30s).cache(100ms), or "
          "latchkey::adaptive_cache");
    }
    return static_cast<std::int32_t>(std::chrono::floor<std::chrono::milliseconds>(time).count());
  }

  std::chrono::milliseconds length_;    // 0: the watchdog renews it
  std::chrono::milliseconds limit_{0};  // 0: none
  std::int32_t delay_ms_ = 0;           // 0: none
  std::int32_t cache_ms_ = unsaid;
};

/// The lease of each decorated call that does not say one, such as LOCKED("k"), and of an Attempt.
/// What you hold by a Hold, by lock(), as a leader or with `latchkey run` is renewed by the
/// watchdog until you release it. docs/guarantees.md has the table.
inline constexpr Lease default_lease = std::chrono::seconds(30);

template <class Rep, class Period>
constexpr Lease Watchdog::held_at_most(std::chrono::duration<Rep, Period> time) const {
  return Lease(*this).held_at_most(time);
}
template <class Rep, class Period>
constexpr Lease Watchdog::lock_delay(std::chrono::duration<Rep, Period> time) const {
  return Lease(*this).lock_delay(time);
}
template <class Rep, class Period>
constexpr Lease Watchdog::cache(std::chrono::duration<Rep, Period> time) const {
  return Lease(*this).cache(time);
}

namespace detail {

/// As Lease::held_at_most, for a time in its range. The lease may be longer: a policy, or the code,
/// gave one of the two, and the shorter one ends the hold.
constexpr Lease limit_lease(Lease lease, std::chrono::milliseconds time) noexcept {
  lease.limit_ = time;
  return lease;
}

/// As Lease::lock_delay, for a time in its range, or 0 for none.
constexpr Lease delay_lease(Lease lease, std::chrono::milliseconds time) noexcept {
  lease.delay_ms_ = static_cast<std::int32_t>(time.count());
  return lease;
}

/// As Lease::cache, for a time in its range; empty: as if it was not called.
constexpr Lease cache_lease(Lease lease, std::optional<std::chrono::milliseconds> time) noexcept {
  lease.cache_ms_ = time ? static_cast<std::int32_t>(time->count()) : Lease::unsaid;
  return lease;
}

/// Lease::length, or the time that held_at_most allows if that is shorter.
[[nodiscard]] constexpr std::chrono::milliseconds limited_length(
    const Lease& lease, std::chrono::milliseconds period) noexcept {
  const std::chrono::milliseconds length = lease.length(period), limit = lease.held_at_most();
  return limit.count() == 0 || length < limit ? length : limit;
}

}  // namespace detail

}  // namespace latchkey::inline v1
#pragma GCC visibility pop
