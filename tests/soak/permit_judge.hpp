// Judges the permits of a semaphore in several processes that are stopped and killed.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace latchkey::soak {

/// The holds of all processes, in memory that they share. Allocates nothing while they run.
///
/// A holder that twice found its hold not lost believed in it all the time between. That time is
/// its interval, whatever stops or kills its process.
class PermitJudge {
 public:
  using Clock = std::chrono::steady_clock;

  class Interval {
   public:
    /// `is_held`: what the hold says of itself.
    template <class IsHeld>
    void observe(IsHeld&& is_held) {
      const Clock::rep before = now();
      if (!is_held()) return;
      if (first_ == 0)
        first_ = now();
      else
        last_ = before;
    }

   private:
    friend class PermitJudge;
    static Clock::rep now() { return Clock::now().time_since_epoch().count(); }
    std::uint32_t permits_ = 0;
    std::atomic<Clock::rep> first_{0}, last_{0};
  };

  /// Null after 262 144 of them.
  Interval* new_hold(std::uint32_t permits) {
    const std::size_t place = used_++;
    if (place >= holds_.size()) return nullptr;
    holds_[place].permits_ = permits;
    return &holds_[place];
  }
  /// The server was flushed at `from`: until `length` later some holders may not know it.
  void note_flush(Clock::time_point from, Clock::duration length) {
    flushes_.push_back(
        {from.time_since_epoch().count(), (from + length).time_since_epoch().count()});
  }

  /// Called when all processes have ended: how many permits were held at the beginning of each
  /// interval.
  void settle(std::uint32_t total) {
    struct Change {
      Clock::rep at;
      bool begins;  // at the same time the ends come first
      std::uint32_t permits;
    };
    std::vector<Change> changes;
    for (std::size_t place = 0; place < std::min(used_.load(), holds_.size()); ++place) {
      const Interval& one = holds_[place];
      if (one.last_ == 0) continue;
      ++holds;
      changes.push_back({one.first_, true, one.permits_});
      changes.push_back({one.last_, false, one.permits_});
    }
    std::ranges::sort(changes, [](const Change& left, const Change& right) {
      return left.at != right.at ? left.at < right.at : left.begins < right.begins;
    });
    std::uint64_t held = 0;
    for (const Change& each : changes) {
      held = each.begins ? held + each.permits : held - each.permits;
      most = std::max(most, is_excused(each.at) ? 0 : held);
      if (!each.begins || held <= total) continue;
      ++(is_excused(each.at) ? excused : violations);
    }
  }

  // The results.
  std::size_t holds = 0, violations = 0, excused = 0;
  std::uint64_t most = 0;  ///< how many permits were held at once, but for flushes

 private:
  struct Flush {
    Clock::rep from = 0, to = 0;
  };
  [[nodiscard]] bool is_excused(Clock::rep at) const {
    return std::ranges::any_of(
        flushes_, [&](const Flush& flush) { return flush.from <= at && at <= flush.to; });
  }

  std::array<Interval, 262'144> holds_{};
  std::atomic<std::size_t> used_{0};
  std::vector<Flush> flushes_;  // used by the process that flushes alone
};

}  // namespace latchkey::soak
