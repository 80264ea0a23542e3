// When a waiter tries a busy key again.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include <latchkey/clock.hpp>
#include <latchkey/hold_id.hpp>

namespace latchkey::inline v1::detail::stores {

/// Paces the attempts of waiters at a store that does not notify. A waiter tries again after a
/// quarter of the time that it has waited so far, so it notices a release late by a quarter of its
/// wait at most: it tries often for a lock that is held for a moment, and seldom for one that is
/// held for long. One thread at a time.
class PollPacing {
 public:
  using TimePoint = Clock::time_point;
  using milliseconds = std::chrono::milliseconds;

  /// The bounds of a pause. If `longest` is less than `shortest`, each pause is `longest`.
  static constexpr milliseconds shortest{2};
  explicit PollPacing(milliseconds longest) : longest_(longest) {}

  /// How long the waiter `id` pauses if its key is busy at `now`. The first call for an id begins
  /// its wait. Throws std::bad_alloc.
  [[nodiscard]] milliseconds pause(const HoldId& id, TimePoint now) {
    if (waits_.size() >= most_waits_) forget_absent(now);
    Wait& wait = waits_.try_emplace(id, Wait{now, now}).first->second;
    wait.last = now;
    const auto quarter = std::chrono::floor<milliseconds>((now - wait.since) / 4);
    return std::min(std::max(quarter, shortest), longest_);
  }
  /// The wait of `id` has ended.
  void forget(const HoldId& id) noexcept {
    if (!waits_.empty()) waits_.erase(id);
  }
  void clear() noexcept { waits_.clear(); }
  [[nodiscard]] std::size_t waits() const noexcept { return waits_.size(); }

 private:
  /// A waiter that has not called `pause` for so long is gone; its link was down, so nobody called
  /// `forget`.
  static constexpr std::chrono::seconds absence{10};
  static constexpr std::size_t few_waits = 64;

  struct Wait {
    TimePoint since, last;
  };
  struct Hash {
    std::size_t operator()(const HoldId& id) const noexcept {
      return static_cast<std::size_t>(id.space[1] ^ id.number * 0x9e37'79b9'7f4a'7c15U);
    }
  };

  void forget_absent(TimePoint now) {
    std::erase_if(waits_, [&](const auto& one) { return later(one.second.last, absence) < now; });
    most_waits_ = std::max(few_waits, 2 * waits_.size());
  }

  const milliseconds longest_;
  std::unordered_map<HoldId, Wait, Hash> waits_;
  std::size_t most_waits_ = few_waits;
};

}  // namespace latchkey::inline v1::detail::stores
