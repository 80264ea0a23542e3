// The decisions about several locks at once: what is asked for next, and when all is given back.
#pragma once

#include <cstddef>
#include <cstdint>

#include <latchkey/clock.hpp>

#include "locks/call.hpp"

namespace latchkey::detail {

/// One acquire of several locks, whose members are numbered in the order in which everybody takes
/// them. Like the coordinator it decides without doing: it has no thread, no socket and no clock,
/// and the members' coordinators, which do the waiting and the renewing, do not know of it.
///
/// | step      | what is to be done                                       | what is said then   |
/// |-----------|----------------------------------------------------------|---------------------|
/// | attempt   | all that is not held is asked for in one request, once   | attempted           |
/// | await     | member() is acquired, until until()                      | awaited             |
/// | fill      | every member is given its full lease                     | filled              |
/// | give_back | what is held is released                                 | given_back          |
/// | done      | answer() and, where it is not granted, member()          |                     |
///
/// Two ways lead to all of them. Together: one attempt for all; where one is busy that one is
/// waited for, with nothing else held, and the others are attempted again. So nobody is in
/// anybody's way while they wait, but many small attempts may starve one for many. Therefore after
/// three failures, or half of the wait, in order: one by one, each held while the next is awaited.
/// Whoever waits then holds only what comes before, so no two wait for each other.
class MultiAcquirePlan {
 public:
  enum class Step : std::uint8_t { attempt, await, fill, give_back, done };

  struct Terms {
    std::size_t members = 0;
    bool one_step = false;  ///< the backend takes all of them, or none, by one request
    bool forever = false;
    Clock::time_point asked{};
    Clock::time_point until = Clock::never();  ///< at or before `asked`: one attempt at each
  };

  explicit MultiAcquirePlan(const Terms& terms) noexcept;

  // --- what to do now ---
  [[nodiscard]] Step step() const noexcept { return step_; }
  [[nodiscard]] std::size_t member() const noexcept { return member_; }
  [[nodiscard]] Clock::time_point until() const noexcept;
  [[nodiscard]] Answer answer() const noexcept { return answer_; }

  // --- what came of it ---
  /// `member`: where not granted, the one that was in the way.
  void attempted(Answer answer, std::size_t member, Clock::time_point now) noexcept;
  /// `lost`: something that was held is lost.
  void awaited(Answer answer, bool lost, Clock::time_point now) noexcept;
  /// granted: all are held and have their leases; otherwise what became of `member`.
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

}  // namespace latchkey::detail
