// The decisions of an acquire of several locks.
// SPDX-License-Identifier: BSL-1.0
#include "locks/multi/multi_acquire_plan.hpp"

namespace latchkey::inline v1::detail {
namespace {

constexpr unsigned failures_together = 3;

/// Whether a later attempt within the wait may succeed.
bool may_pass(Answer answer) noexcept {
  return answer == Answer::busy || answer == Answer::unavailable;
}

}  // namespace

MultiAcquirePlan::MultiAcquirePlan(const Terms& terms) noexcept
    : terms_(terms),
      half_(terms.forever ? Clock::never() : terms.asked + (terms.until - terms.asked) / 2),
      together_(terms.one_step) {
  if (together_) {
    step_ = Step::attempt;
  } else {
    in_order();
  }
}

Clock::time_point MultiAcquirePlan::until() const noexcept {
  return together_ ? half_ : terms_.until;
}

void MultiAcquirePlan::in_order() noexcept {
  together_ = false;
  step_ = Step::await;
  member_ = 0;
}

void MultiAcquirePlan::attempted(Answer answer, std::size_t member,
                                 Clock::time_point now) noexcept {
  if (answer == Answer::granted) {
    // A member that was awaited before the others has used a part of its lease.
    step_ = Step::fill;
    return;
  }
  const bool over = now >= terms_.until;
  // A refused request may be refused because of one member: in order, that member is named.
  if (answer != Answer::refused && (over || !may_pass(answer))) return end(answer, member);
  ++failures_;
  const bool again = answer == Answer::busy && failures_ < failures_together && now < half_;
  if (!again) {
    together_ = false;
    member = 0;
  }
  give_back(Step::await, member);
}

void MultiAcquirePlan::awaited(Answer answer, bool lost, Clock::time_point now) noexcept {
  if (answer != Answer::granted) {
    const bool half_over = together_ && may_pass(answer) && now < terms_.until;
    return half_over ? in_order() : end(answer, member_);
  }
  if (lost) return begin_again(Answer::busy, member_, now);
  if (together_) {
    step_ = Step::attempt;
  } else if (member_ + 1 < terms_.members) {
    ++member_;
  } else {
    step_ = Step::fill;
  }
}

void MultiAcquirePlan::filled(Answer answer, std::size_t member, Clock::time_point now) noexcept {
  if (answer == Answer::granted) {
    answer_ = Answer::granted;
    step_ = Step::done;
    return;
  }
  begin_again(answer == Answer::lost ? Answer::busy : answer, member, now);
}

void MultiAcquirePlan::given_back() noexcept { step_ = next_; }

void MultiAcquirePlan::give_back(Step next, std::size_t member) noexcept {
  step_ = Step::give_back;
  next_ = next;
  member_ = member;
}

void MultiAcquirePlan::end(Answer answer, std::size_t member) noexcept {
  answer_ = answer;
  give_back(Step::done, member);
}

// A member was lost before all were held.
void MultiAcquirePlan::begin_again(Answer answer, std::size_t member,
                                   Clock::time_point now) noexcept {
  if (now >= terms_.until || !may_pass(answer)) return end(answer, member);
  together_ = false;
  give_back(Step::await, 0);
}

}  // namespace latchkey::inline v1::detail
