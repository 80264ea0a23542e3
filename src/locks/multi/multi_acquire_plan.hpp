// The decisions of an acquire of several locks: what to request next, and when to give all back.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <latchkey/clock.hpp>

#include "locks/coordinator/call.hpp"

namespace latchkey::inline v1::detail {

/// One acquire of several locks, whose members are numbered in the order of their LockSet. Like the
/// coordinator it decides without doing: it has no thread, no socket and no clock. The members'
/// coordinators, which wait and renew, do not know of it.
///
/// | step      | what the host does                                          | what it reports  |
/// |-----------|-------------------------------------------------------------|------------------|
/// | attempt   | requests once, in one step, everything that is not held     | attempted        |
/// | await     | acquires member(), and waits until until() at most          | awaited          |
/// | fill      | extends every member to its full lease                      | filled           |
/// | give_back | releases what is held                                       | given_back       |
/// | done      | returns answer(); if it is not granted, it is about member() |                 |
///
/// There are two strategies. Together: one attempt at all members. If one is busy, the call waits
/// for that one while it holds nothing else, and then attempts the others again. Calls that wait
/// block nobody, but many small calls may starve a large one. So after three failures, or half of
/// the wait, the call goes on in order: it acquires one member after the other and holds each while
/// it waits for the next. A call that waits then holds only members that come earlier, so no two
/// calls wait for each other.
class MultiAcquirePlan {
 public:
  enum class Step : std::uint8_t { attempt, await, fill, give_back, done };

  struct Terms {
    std::size_t members = 0;
    bool one_step = false;  ///< one request grants all members or none
    bool forever = false;
    Clock::time_point asked{};
    Clock::time_point until = Clock::never();  ///< at or before `asked`: one attempt at each
  };

  explicit MultiAcquirePlan(const Terms& terms) noexcept;

  // --- the current step ---
  [[nodiscard]] Step step() const noexcept { return step_; }
  [[nodiscard]] std::size_t member() const noexcept { return member_; }
  [[nodiscard]] Clock::time_point until() const noexcept;
  [[nodiscard]] Answer answer() const noexcept { return answer_; }

  // --- the result of the step ---
  /// `member`: the one that was not granted because of somebody else.
  void attempted(Answer answer, std::size_t member, Clock::time_point now) noexcept;
  /// `lost`: a member that was held is lost.
  void awaited(Answer answer, bool lost, Clock::time_point now) noexcept;
  /// granted: all are held with their full leases; otherwise the answer about `member`.
  void filled(Answer answer, std::size_t member, Clock::time_point now) noexcept;
  void given_back() noexcept;

 private:
  void in_order() noexcept;
  void give_back(Step next, std::size_t member) noexcept;
  void end(Answer answer, std::size_t member) noexcept;
  void begin_again(Answer answer, std::size_t member, Clock::time_point now) noexcept;

  Terms terms_;
  Clock::time_point half_;
  bool together_;
  unsigned failures_ = 0;
  Step step_ = Step::done;
  Step next_ = Step::done;  ///< after give_back
  std::size_t member_ = 0;
  Answer answer_ = Answer::pending;
};

}  // namespace latchkey::inline v1::detail
