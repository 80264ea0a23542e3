// Judges the terms of Leaders in several processes that are stopped and killed.
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

/// The terms of all Leaders, in memory that processes share. Allocates nothing while they run.
///
/// A Leader that answered is_leader() twice with true in one term believed all the time between.
/// That time is its interval, whatever stops or kills its process.
class LeaderJudge {
 public:
  using Clock = std::chrono::steady_clock;

  class Term {
   public:
    /// `is_leader`: what the Leader answers in this term.
    template <class IsLeader>
    void observe(IsLeader&& is_leader) {
      const Clock::rep before = now();
      if (!is_leader()) return;
      if (first_ == 0)
        first_ = now();
      else
        last_ = before;
    }

   private:
    friend class LeaderJudge;
    static Clock::rep now() { return Clock::now().time_since_epoch().count(); }
    std::uint64_t number_ = 0;
    std::atomic<Clock::rep> first_{0}, last_{0};
  };

  /// A flush of the server, after which two may lead until the next check.
  struct Flush {
    Clock::rep from = 0, to = 0;
  };

  /// Null after 65 536 of them.
  Term* new_term(std::uint64_t number) {
    const std::size_t place = used_++;
    if (place >= terms_.size()) return nullptr;
    terms_[place].number_ = number;
    return &terms_[place];
  }
  void note_flush(Clock::time_point from, Clock::duration length) {
    flushes_.push_back(
        {from.time_since_epoch().count(), (from + length).time_since_epoch().count()});
  }

  /// Called when all processes have ended.
  void settle() {
    std::vector<const Term*> all;
    for (std::size_t place = 0; place < std::min(used_.load(), terms_.size()); ++place) {
      if (terms_[place].last_ != 0) all.push_back(&terms_[place]);
    }
    elections = all.size();
    std::ranges::sort(all, {}, [](const Term* term) { return term->first_.load(); });
    Clock::rep led_until = 0;
    for (std::size_t index = 0; index < all.size(); ++index) {
      const Term& term = *all[index];
      if (index > 0) longest_gap = std::max(longest_gap, term.first_ - led_until);
      led_until = std::max(led_until, term.last_.load());
      for (std::size_t next = index + 1; next < all.size(); ++next) compare(term, *all[next]);
    }
  }

  // The results.
  std::size_t elections = 0, overlaps = 0, excused = 0, falls = 0;
  Clock::rep longest_gap = 0;

 private:
  void compare(const Term& earlier, const Term& later) {
    const Clock::rep from = later.first_, to = std::min(earlier.last_.load(), later.last_.load());
    const bool overlap = from <= to;
    const bool flushed = std::ranges::any_of(
        flushes_, [&](const Flush& flush) { return flush.from <= from && to <= flush.to; });
    if (overlap) ++(flushed ? excused : overlaps);
    if (later.number_ == earlier.number_ || (!flushed && later.number_ < earlier.number_)) ++falls;
  }

  std::array<Term, 65'536> terms_{};
  std::atomic<std::size_t> used_{0};
  std::vector<Flush> flushes_;  // used by the process that flushes alone
};

}  // namespace latchkey::soak
