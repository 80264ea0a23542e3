// Judges visits of processes that are stopped and killed.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace latchkey::soak {

/// The key that several processes visit, in memory that they share. Allocates nothing.
///
/// A visitor that is stopped until its deadline has passed, or is killed, excuses exactly itself
/// and no earlier than at that deadline: two visits overlap only if both deadlines are still to
/// come after the other one was seen inside.
class DisturbedVisits {
 public:
  using Clock = std::chrono::steady_clock;

  /// One visitor's place. A killed process leaves its places as they are.
  struct Place {
    std::atomic<Clock::rep> deadline{0};  ///< 0: outside
    std::atomic<bool> shared{false};
  };

  /// Throws std::out_of_range after 4 096 of them, some 70 minutes of kills.
  Place& new_place() { return places_.at(used_++); }

  /// Asks the hold how long it lasts. One that has ended does not tell when, so it ended long ago.
  template <class Hold, class Dwell>
  void visit_holding(Place& mine, bool shared, const Hold& hold, Dwell dwell) {
    const Clock::time_point asked = Clock::now();
    const auto left = hold.remaining();
    const Clock::time_point deadline = left > left.zero() ? asked + left : long_ago;
    visit(mine, shared, deadline, hold.fencing_token().value_or(0), dwell);
  }

  /// The hold ends at `deadline` at the latest. `token`: 0 for none.
  template <class Dwell>
  void visit(Place& mine, bool shared, Clock::time_point deadline, std::uint64_t token,
             Dwell dwell) {
    const Clock::time_point entered = Clock::now();
    mine.shared = shared;
    mine.deadline = deadline.time_since_epoch().count();
    check_others(mine, deadline);
    if (token != 0) check_token(token, deadline);
    std::uint64_t word = word_;
    const std::uint64_t seen = word;
    dwell();
    const bool intact =
        shared ? (word = word_) == seen
               : word_.compare_exchange_strong(word, join(deadline, (seen & value_mask) + 1));
    // A write after the writer's deadline is excused if the deadline came before this visit.
    const bool excused = deadline_of(word) <= micros(entered);
    const bool in_time = Clock::now() < deadline;
    if (!intact && in_time && !excused) ++lost_updates;
    ++(in_time ? visits : late);
    mine.deadline = 0;
  }

  std::atomic<std::uint64_t> visits{0};
  std::atomic<std::uint64_t> late{0};  ///< that ended after their deadline
  std::atomic<std::uint64_t> overlaps{0}, lost_updates{0}, stale_tokens{0};

 private:
  static constexpr std::size_t most_places = 4'096;
  static constexpr Clock::time_point long_ago{Clock::duration(1)};

  static constexpr int value_bits = 20;
  static constexpr std::uint64_t value_mask = (std::uint64_t{1} << value_bits) - 1;

  /// 44 bits: half a year.
  static std::uint64_t micros(Clock::time_point at) {
    using std::chrono::duration_cast, std::chrono::microseconds;
    return static_cast<std::uint64_t>(duration_cast<microseconds>(at.time_since_epoch()).count());
  }
  static std::uint64_t join(Clock::time_point deadline, std::uint64_t value) {
    return micros(deadline) << value_bits | (value & value_mask);
  }
  static std::uint64_t deadline_of(std::uint64_t word) { return word >> value_bits; }

  void check_others(const Place& mine, Clock::time_point deadline) {
    for (std::size_t index = 0; index < used_; ++index) {
      const Place& other = places_[index];
      const Clock::rep its = other.deadline;
      if (&other == &mine || its == 0 || (other.shared && mine.shared)) continue;
      const Clock::time_point now = Clock::now();
      if (now < deadline && now.time_since_epoch().count() < its) ++overlaps;
    }
  }

  void check_token(std::uint64_t token, Clock::time_point deadline) {
    std::uint64_t last = last_token_;
    while (last < token && !last_token_.compare_exchange_weak(last, token)) {
    }
    if (last >= token && Clock::now() < deadline) ++stale_tokens;
  }

  std::array<Place, most_places> places_{};
  std::atomic<std::size_t> used_{0};
  std::atomic<std::uint64_t> word_{0};  ///< the last writer's deadline, and how many have written
  std::atomic<std::uint64_t> last_token_{0};
};

}  // namespace latchkey::soak
