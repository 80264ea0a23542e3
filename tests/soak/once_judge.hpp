// Judges the runs of a OncePer in several processes that are stopped and killed.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <vector>

namespace latchkey::soak {

/// The runs of all processes, in memory that they share. Allocates nothing while they run.
class OnceJudge {
 public:
  using Clock = std::chrono::steady_clock;
  using Wall = std::chrono::system_clock::time_point;

  /// One run of the body.
  class Run {
   public:
    /// `lost`: what the run answers. Two answers of false are an interval of belief.
    template <class Lost>
    void observe(Lost&& lost) {
      const Clock::rep before = now();
      if (lost()) return;
      if (first_ == 0) first_ = now();
      last_ = before;
    }
    /// OncePer::run returned `ran`.
    void note_done() { done_ = now(); }

   private:
    friend class OnceJudge;
    Wall::rep instant_ = 0;
    Clock::rep begun_ = 0;
    std::atomic<Clock::rep> first_{0}, last_{0}, done_{0};
  };

  /// The body has begun. Null after 65 536 of them.
  Run* new_run(Wall instant) {
    const std::size_t place = used_++;
    if (place >= runs_.size()) return nullptr;
    runs_[place].instant_ = instant.time_since_epoch().count();
    runs_[place].begun_ = now();
    return &runs_[place];
  }
  /// How many runs have begun.
  [[nodiscard]] std::size_t begun() const noexcept { return used_; }
  /// The server was flushed between `from` and now.
  void note_flush(Clock::time_point from) {
    flushes_.push_back({from.time_since_epoch().count(), now()});
  }

  /// Called when all processes have ended.
  void settle() {
    std::vector<const Run*> all;
    for (std::size_t place = 0; place < std::min(used_.load(), runs_.size()); ++place) {
      all.push_back(&runs_[place]);
    }
    runs = all.size();
    std::ranges::sort(all, [](const Run* one, const Run* other) {
      return std::pair(one->instant_, one->begun_) < std::pair(other->instant_, other->begun_);
    });
    for (std::size_t index = 0; index < all.size(); ++index) {
      done += all[index]->done_ != 0 ? 1U : 0U;
      for (std::size_t next = index + 1;
           next < all.size() && all[next]->instant_ == all[index]->instant_; ++next) {
        compare(*all[index], *all[next]);
      }
    }
  }

  // The results.
  std::size_t runs = 0, done = 0;
  std::size_t excused = 0;   ///< pairs of runs of one instant with a flush between them
  std::size_t pairs = 0;     ///< other pairs
  std::size_t overlaps = 0;  ///< other pairs that both believed at one time
  std::size_t repeats = 0;   ///< other pairs of which one believed after the other one was done

 private:
  struct Flush {
    Clock::rep from, to;
  };

  static Clock::rep now() { return Clock::now().time_since_epoch().count(); }

  void compare(const Run& earlier, const Run& later) {
    // A grant is earlier than the body that it lets run, and a process may be stopped between them.
    const Clock::rep end = std::max({later.begun_, later.last_.load(), earlier.done_.load()});
    const bool flushed = std::ranges::any_of(flushes_, [&](const Flush& flush) {
      return earlier.begun_ - longest_stop <= flush.to && flush.from <= end;
    });
    if (flushed) {
      ++excused;
      return;
    }
    ++pairs;
    const bool both_believed = earlier.first_ != 0 && later.first_ != 0;
    overlaps += both_believed && later.first_ <= earlier.last_ && earlier.first_ <= later.last_;
    repeats += (earlier.done_ != 0 && later.last_ > earlier.done_) ||
               (later.done_ != 0 && earlier.last_ > later.done_);
  }

  static constexpr Clock::rep longest_stop =
      Clock::duration(std::chrono::milliseconds(1'200)).count();

  std::array<Run, 65'536> runs_{};
  std::atomic<std::size_t> used_{0};
  std::vector<Flush> flushes_;  // used by the process that flushes alone
};

}  // namespace latchkey::soak
