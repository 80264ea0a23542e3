// The times at which the local holds of one hold have lasted as long as held_at_most allows.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <latchkey/clock.hpp>

#include "core/collections/small_vector.hpp"

namespace latchkey::inline v1::detail {

/// The limits of the local holds that share one hold: an outer call, and re-entries with a limit of
/// their own. The earliest one ends all of them. Each limit goes with its local hold, which knows
/// it by its number. A limit for which there is no number, or no memory, stays until no local hold
/// is left: a hold may then end too early, never too late.
class HoldLimits {
 public:
  /// 0: a local hold without a limit.
  using Number = std::uint8_t;
  static constexpr Number first = 1;
  static constexpr Number unnumbered = 255;

  /// Never: no local hold has a limit.
  [[nodiscard]] Clock::time_point earliest() const noexcept { return earliest_; }

  /// Times are rounded down to 2 ns, as those of LocalDeadline are.
  [[nodiscard]] Number add(Clock::time_point until) noexcept {
    until -= until.time_since_epoch() % Clock::duration(2);
    earliest_ = std::min(earliest_, until);
    for (std::size_t index = 0; index < each_.size(); ++index) {
      if (each_[index] != Clock::never()) continue;
      each_[index] = until;
      return number_of(index);
    }
    if (each_.size() + first >= unnumbered || !each_.make_room()) {
      unnumbered_ = std::min(unnumbered_, until);
      return unnumbered;
    }
    each_.push_back(until);
    return number_of(each_.size() - 1);
  }

  void remove(Number number) noexcept {
    if (number == 0 || number == unnumbered) return;
    each_[number - first] = Clock::never();
    while (!each_.empty() && each_[each_.size() - 1] == Clock::never()) {
      each_.shorten(each_.size() - 1);
    }
    earliest_ = unnumbered_;
    for (const Clock::time_point each : each_) earliest_ = std::min(earliest_, each);
  }

  void clear() noexcept {
    earliest_ = unnumbered_ = Clock::never();
    each_.clear();
  }

 private:
  [[nodiscard]] static Number number_of(std::size_t index) noexcept {
    return static_cast<Number>(index + first);
  }

  Clock::time_point earliest_ = Clock::never();
  Clock::time_point unnumbered_ = Clock::never();
  SmallVector<Clock::time_point, 1> each_;  ///< by number; never: free
};

}  // namespace latchkey::inline v1::detail
