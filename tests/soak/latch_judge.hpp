// Judges the latches of several processes that are stopped and killed.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace latchkey::soak {

/// The rounds of all processes, in memory that they share. Each round has a latch of its own.
/// Allocates nothing while they run.
class LatchJudge {
 public:
  using Clock = std::chrono::steady_clock;

  class Round {
   public:
    /// Before a count_down, which may count from now on.
    void begin_count() { ++begun_; }
    /// It returned `remaining`. No two return the same.
    void counted(std::uint32_t remaining) {
      ++counted_;
      if (remaining == 0) return note_open();
      if (answered_[remaining % answered_.size()].exchange(true)) ++wrong_;
    }
    /// The latch was read: between `counted`, of before, and what has begun until now were counted.
    void check(std::uint32_t counted, std::uint32_t remaining) {
      const std::uint32_t gone = count_ - remaining;
      if (gone > std::min(begun_.load(), count_)) ++wrong_;  // one counted twice
      if (gone < std::min(counted, count_)) ++wrong_;        // one that was answered did not
      if (remaining == 0) note_open();
    }
    /// A wait for it returned true.
    void opened() {
      ++opened_;
      if (begun_ < count_) ++early_;
    }

    [[nodiscard]] std::uint32_t count() const noexcept { return count_; }
    [[nodiscard]] std::uint32_t counted() const noexcept { return counted_; }
    /// Since when somebody knows that its latch is open. Later than now: nobody does.
    [[nodiscard]] Clock::time_point open_since() const noexcept {
      const Clock::rep since = open_since_;
      return since == 0 ? Clock::time_point::max() : Clock::time_point(Clock::duration(since));
    }

   private:
    friend class LatchJudge;
    void note_open() {
      Clock::rep none = 0;
      open_since_.compare_exchange_strong(none, Clock::now().time_since_epoch().count());
    }

    std::uint32_t count_ = 0;
    std::atomic<std::uint32_t> begun_{0}, counted_{0}, opened_{0}, early_{0}, wrong_{0};
    std::array<std::atomic<bool>, 64> answered_{};
    std::atomic<Clock::rep> open_since_{0};
    std::atomic<bool> flushed_{false};
  };

  /// The round that is under way, from its begin() to that of the next one.
  [[nodiscard]] Round& current() noexcept { return rounds_[current_]; }
  [[nodiscard]] std::size_t number() const noexcept { return current_; }
  [[nodiscard]] Round& round(std::size_t number) noexcept { return rounds_[number]; }

  /// Before the latch of the next round gets its count, of less than 64.
  Round& prepare(std::uint32_t count) {
    Round& next = rounds_[std::min(++prepared_, rounds_.size() - 1)];
    next.count_ = count;
    return next;
  }
  /// Its latch has its count.
  void begin() { current_ = std::min(prepared_.load(), rounds_.size() - 1); }
  [[nodiscard]] bool is_full() const noexcept { return current_ + 1 == rounds_.size(); }

  /// Called before and after a flush. It may concern the rounds from `first`, the result of the
  /// earlier call, to the one that is being prepared.
  std::size_t note_flush(std::size_t first) {
    const std::size_t last = std::min(prepared_.load(), rounds_.size() - 1);
    for (std::size_t number = first; number <= last; ++number) rounds_[number].flushed_ = true;
    return first;
  }
  /// How long a wait missed that its latch was open.
  void note_late(Clock::duration late) {
    Clock::rep known = latest;
    while (late.count() > known && !latest.compare_exchange_weak(known, late.count())) {
    }
  }

  /// Called when all processes have ended.
  void settle() {
    for (std::size_t number = 1; number <= current_; ++number) {
      const Round& one = rounds_[number];
      if (one.flushed_) continue;
      ++rounds;
      waits += one.opened_;
      early += one.early_;
      wrong += one.wrong_;
      counted += one.counted_;
      uncertain += one.begun_ - one.counted_;
    }
  }

  // The results, of rounds that no flush disturbed.
  std::size_t rounds = 0;
  std::size_t waits = 0;                   ///< waits that returned true
  std::size_t early = 0;                   ///< waits that opened before enough count-downs began
  std::size_t counted = 0, uncertain = 0;  ///< count-downs with and without an answer
  std::size_t wrong = 0;                   ///< answers that show that one did not count once
  std::atomic<Clock::rep> latest{0};       ///< the longest time passed to note_late

 private:
  std::array<Round, 16'384> rounds_{};
  std::atomic<std::size_t> current_{0}, prepared_{0};
};

}  // namespace latchkey::soak
