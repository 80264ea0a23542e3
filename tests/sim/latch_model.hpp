// The promises of a latch, and whether a simulated one keeps them.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <utility>

#include <latchkey/backend.hpp>

#include "locks/latch/latch_wait.hpp"

namespace latchkey::inline v1::sim {

/// The results of a run.
struct LatchSimulationReport {
  std::string violation{};  ///< empty: no promise was broken
  int opened = 0, timed_out = 0, unavailable = 0;
  int counted = 0;    ///< count-downs that were answered
  int uncertain = 0;  ///< that were not
};

/// The count of the one latch, kept beside the table's, and the judge of all waits.
class LatchModel {
 public:
  using Time = Clock::time_point;
  using Length = std::chrono::milliseconds;
  using Step = detail::LatchWait::Step;

  /// Since when nothing has disturbed a process.
  struct Calm {
    Time frozen_until{};
    Time since{};      ///< no freeze, no broken connection, no slow message
    Time all_heard{};  ///< and no message of the latch was lost either
    void disturbed_until(Time time) {
      since = std::max(since, time);
      all_heard = std::max(all_heard, time);
    }
    void lost_message(Time now) { all_heard = std::max(all_heard, now); }
  };
  struct Wait {
    bool forever = false;
    Time began{}, deadline{};
    Time answered{};  ///< the last answer
  };
  /// A change of the count that a process asks for.
  struct Count {
    Verb verb{};
    std::uint32_t tokens = 1;
    int applied = 0;
    Outcome expected{};  ///< the answer to the last application
  };

  explicit LatchModel(const detail::LatchWait::Settings& settings) : settings_(settings) {}

  // --- the count ---
  void apply(Count& count, Time now) {
    if (++count.applied > 1) fail("a change of the count was made twice");
    const bool open = count_ == 0;
    count.expected = Outcome{.kind = Outcome::Kind::granted};
    switch (count.verb) {
      case Verb::latch_set:
        if (open) count_ = count.tokens;
        if (open) last_zero_ = now;
        if (!open) count.expected.kind = Outcome::Kind::gone;
        count.expected.token = open ? count_ : 0;
        return;
      case Verb::latch_down:
        if (!open && --count_ == 0) zero_since_ = now;
        count.expected.token = count_;
        return;
      default:
        if (open) count.expected.kind = Outcome::Kind::gone;
        return lose(now);
    }
  }
  /// The data is gone.
  void lose(Time now) {
    if (std::exchange(count_, 0) != 0) zero_since_ = now;
  }
  void on_answer(const Count& count, const Outcome& outcome) {
    const bool known = outcome.kind != Outcome::Kind::unknown;
    if (known && count.applied != 1) fail("a change was answered that was not made");
    if (known && (outcome.kind != count.expected.kind || outcome.token != count.expected.token)) {
      fail("a change was answered " + std::to_string(outcome.token) + " instead of " +
           std::to_string(count.expected.token));
    }
    if (count.verb == Verb::latch_down) ++(known ? report.counted : report.uncertain);
  }
  /// The server read the count.
  void on_read(const Outcome& outcome) {
    if (outcome.token == count_) return;
    fail("the count is " + std::to_string(outcome.token) + " and not " + std::to_string(count_));
  }

  // --- waits ---
  /// A wait is under way: it is not late.
  void check(const Wait& wait, const Calm& calm, Time now) {
    if (!wait.forever && now > std::max(wait.deadline, calm.frozen_until) + grace(wait)) {
      fail("a wait is no bound");
    }
    if (count_ != 0) return;
    const Time zero = std::max(zero_since_, wait.began);
    if (now > std::max(zero, calm.since) + most_by_poll) fail("a wait misses that it is open");
    const bool heard = settings_.pushes && calm.all_heard < wait.began;
    if (heard && now > zero + most_by_message) fail("a wait is not woken by the message");
  }
  void on_end(const Wait& wait, Step how, Time now) {
    const bool was_zero = count_ == 0 || last_zero_ >= wait.began;
    if (how == Step::opened) {
      ++report.opened;
      if (!was_zero) fail("a wait returned although the count was not zero");
    } else if (how == Step::timed_out) {
      ++report.timed_out;
      if (wait.forever || now < wait.deadline) fail("a wait ended before its time");
    } else {
      ++report.unavailable;
      const Time earliest =
          wait.forever ? wait.answered + settings_.unavailable_after : wait.deadline;
      if (now < earliest) fail("a wait gave up before its time");
    }
  }

  void fail(std::string what) {
    if (report.violation.empty()) report.violation = std::move(what);
  }

  /// The longest time of a message that is not slow.
  static constexpr Length longest_message{20};

  LatchSimulationReport report;

 private:
  /// For its last question, or for its only one.
  [[nodiscard]] Length grace(const Wait& wait) const {
    return wait.deadline == wait.began ? settings_.command_timeout : Length(40);
  }

  /// A read that began before, or a subscription and a read; and a read that is asked once more.
  static constexpr Length most_by_message = 6 * longest_message;
  /// The longest pause, after a command that was given up.
  static constexpr Length most_by_poll = Length(5'000 + 500) + most_by_message;

  const detail::LatchWait::Settings settings_;
  std::uint32_t count_ = 0;
  Time zero_since_{};             ///< while the count is zero
  Time last_zero_ = Time::min();  ///< the last end of such a time
};

}  // namespace latchkey::inline v1::sim
