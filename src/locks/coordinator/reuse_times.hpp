// How soon a process comes back to the keys that it has released.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>

#include <latchkey/clock.hpp>
#include <latchkey/lock_type.hpp>

namespace latchkey::inline v1::detail {

/// By adaptive_cache a lock is kept for no longer. A key that stays unused for longer is forgotten.
inline constexpr std::chrono::seconds longest_adaptive_cache{1};
/// A lock is kept for at least this much longer than the usual time: threads are not scheduled, and
/// timers do not fire, more exactly.
inline constexpr std::chrono::milliseconds least_reuse_margin{10};

/// Estimates how soon a key is used again, by the times from a release to the next call. It is
/// Jacobson's estimator for the retransmission timer of TCP (RFC 6298): the smoothed time, and four
/// times its smoothed deviation.
class ReuseEstimate {
 public:
  void add(Clock::duration time) noexcept {
    if (!known_) {
      smoothed_ = time;
      deviation_ = time / 2;
      known_ = true;
      return;
    }
    const Clock::duration difference = time - smoothed_;
    deviation_ += (std::chrono::abs(difference) - deviation_) / 4;
    smoothed_ += difference / 8;
  }

  /// 0: no time is known, or a longer one than longest_adaptive_cache is expected.
  [[nodiscard]] std::chrono::milliseconds expected() const noexcept {
    using std::chrono::milliseconds;
    if (!known_) return milliseconds(0);
    const Clock::duration margin = std::max<Clock::duration>(4 * deviation_, least_reuse_margin);
    const auto time = std::chrono::ceil<milliseconds>(smoothed_ + margin);
    return time <= longest_adaptive_cache ? time : milliseconds(0);
  }

 private:
  Clock::duration smoothed_{};
  Clock::duration deviation_{};
  bool known_ = false;
};

/// The estimates of the keys of one shard. They are kept beside the coordinators, which are erased
/// with the last release. There is room for a fixed number of keys: a key that is released takes
/// the place of the one that was released longest ago, among four that its hash selects. Not
/// thread-safe.
class ReuseTimes {
 public:
  /// The last local hold of the key, one of `type`, has ended.
  void on_release(std::size_t hash, LockType type, Clock::time_point now) noexcept {
    Key* key = find(hash);
    if (key == nullptr) {
      key = &*std::ranges::min_element(set_of(hash), {}, &Key::released_at);
      *key = Key{.hash = hash};
    }
    key->released_at = now;
    key->is_released = true;
    key->type = type;
  }

  /// A call needs the key as `type`. The first one after a release says how long the key was not
  /// used. A call of another type could not take a lock that was kept: the times are forgotten.
  void on_call(std::size_t hash, LockType type, Clock::time_point now) noexcept {
    Key* const key = find(hash);
    if (key == nullptr || !key->is_released) return;
    key->is_released = false;
    const Clock::duration unused = now - key->released_at;
    if (unused > longest_adaptive_cache || type != key->type) {
      key->estimate = ReuseEstimate();
    } else {
      key->estimate.add(unused);
    }
  }

  /// For how long a release of the key should keep the lock; 0: not at all.
  [[nodiscard]] std::chrono::milliseconds expected(std::size_t hash) noexcept {
    const Key* const key = find(hash);
    return key != nullptr ? key->estimate.expected() : std::chrono::milliseconds(0);
  }

 private:
  struct Key {
    std::size_t hash = 0;
    Clock::time_point released_at{};
    bool is_released = false;  // and not used since
    LockType type{};           // as which it was released
    ReuseEstimate estimate{};
  };
  using Set = std::array<Key, 4>;

  [[nodiscard]] Set& set_of(std::size_t hash) noexcept { return sets_[hash % sets_.size()]; }
  /// Null: nothing is known of the key.
  [[nodiscard]] Key* find(std::size_t hash) noexcept {
    Set& set = set_of(hash);
    const auto found = std::ranges::find(set, hash, &Key::hash);
    return found != set.end() ? &*found : nullptr;
  }

  std::array<Set, 8> sets_;
};

}  // namespace latchkey::inline v1::detail
