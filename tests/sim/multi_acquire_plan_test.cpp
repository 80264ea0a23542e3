// MultiAcquirePlan, step by step.
#include <gtest/gtest.h>

#include <chrono>

#include "locks/multi/multi_acquire_plan.hpp"

namespace latchkey::sim {
namespace {

using namespace std::chrono_literals;
using detail::Answer;
using detail::MultiAcquirePlan;
using Step = MultiAcquirePlan::Step;

constexpr Clock::time_point start{1'000s};

MultiAcquirePlan plan_of_three(Clock::duration wait, bool one_step) {
  return MultiAcquirePlan(
      {.members = 3, .one_step = one_step, .asked = start, .until = start + wait});
}

TEST(MultiAcquirePlan, OneStepBackendReceivesOneRequestForAll) {
  MultiAcquirePlan all = plan_of_three(10s, true);
  EXPECT_EQ(all.step(), Step::attempt);
  all.attempted(Answer::granted, 0, start);
  EXPECT_EQ(all.step(), Step::fill);
  all.filled(Answer::granted, 0, start);
  EXPECT_EQ(all.step(), Step::done);
  EXPECT_EQ(all.answer(), Answer::granted);
}

TEST(MultiAcquirePlan, BusyMemberIsAwaitedWithNothingElseHeld) {
  MultiAcquirePlan all = plan_of_three(10s, true);
  all.attempted(Answer::busy, 1, start + 1s);
  EXPECT_EQ(all.step(), Step::give_back);
  all.given_back();
  EXPECT_EQ(all.step(), Step::await);
  EXPECT_EQ(all.member(), 1U);
  EXPECT_EQ(all.until(), start + 5s);
  all.awaited(Answer::granted, false, start + 2s);
  EXPECT_EQ(all.step(), Step::attempt);
}

TEST(MultiAcquirePlan, MembersAreAcquiredInOrderAfterThreeFailures) {
  MultiAcquirePlan all = plan_of_three(10s, true);
  for (int failure = 0; failure < 2; ++failure) {
    all.attempted(Answer::busy, 2, start);
    all.given_back();
    EXPECT_EQ(all.member(), 2U);
    all.awaited(Answer::granted, false, start);
  }
  all.attempted(Answer::busy, 2, start);
  EXPECT_EQ(all.step(), Step::give_back);
  all.given_back();
  for (std::size_t member = 0; member < 3; ++member) {
    EXPECT_EQ(all.step(), Step::await);
    EXPECT_EQ(all.member(), member);
    EXPECT_EQ(all.until(), start + 10s);
    all.awaited(Answer::granted, false, start + 1s);
  }
  EXPECT_EQ(all.step(), Step::fill);
}

TEST(MultiAcquirePlan, MembersAreAcquiredInOrderAfterHalfOfTheWait) {
  MultiAcquirePlan all = plan_of_three(10s, true);
  all.attempted(Answer::busy, 1, start);
  all.given_back();
  all.awaited(Answer::busy, false, start + 5s);
  EXPECT_EQ(all.step(), Step::await);
  EXPECT_EQ(all.member(), 0U);
  EXPECT_EQ(all.until(), start + 10s);
}

TEST(MultiAcquirePlan, WaitOfZeroMakesOneAttempt) {
  MultiAcquirePlan together = plan_of_three(0s, true);
  together.attempted(Answer::busy, 2, start);
  EXPECT_EQ(together.step(), Step::give_back);
  together.given_back();
  EXPECT_EQ(together.step(), Step::done);
  EXPECT_EQ(together.answer(), Answer::busy);
  EXPECT_EQ(together.member(), 2U);
  MultiAcquirePlan ordered = plan_of_three(0s, false);
  ordered.awaited(Answer::granted, false, start);
  ordered.awaited(Answer::busy, false, start);
  EXPECT_EQ(ordered.step(), Step::give_back);
  ordered.given_back();
  EXPECT_EQ(ordered.step(), Step::done);
  EXPECT_EQ(ordered.member(), 1U);
}

TEST(MultiAcquirePlan, LossOfAMemberStartsOverWithinTheWait) {
  MultiAcquirePlan all = plan_of_three(10s, false);
  all.awaited(Answer::granted, false, start);
  all.awaited(Answer::granted, true, start + 1s);
  EXPECT_EQ(all.step(), Step::give_back);
  all.given_back();
  EXPECT_EQ(all.step(), Step::await);
  EXPECT_EQ(all.member(), 0U);
  for (int member = 0; member < 3; ++member) all.awaited(Answer::granted, false, start + 2s);
  all.filled(Answer::lost, 1, start + 3s);
  EXPECT_EQ(all.step(), Step::give_back);
  all.given_back();
  EXPECT_EQ(all.step(), Step::await);
  for (int member = 0; member < 3; ++member) all.awaited(Answer::granted, false, start + 11s);
  all.filled(Answer::lost, 1, start + 11s);
  all.given_back();
  EXPECT_EQ(all.step(), Step::done);
  EXPECT_EQ(all.answer(), Answer::busy);
  EXPECT_EQ(all.member(), 1U);
}

TEST(MultiAcquirePlan, RefusedBatchIsFollowedByAnAcquireOfEachMember) {
  MultiAcquirePlan all = plan_of_three(0s, true);
  all.attempted(Answer::refused, 0, start);
  all.given_back();
  EXPECT_EQ(all.step(), Step::await);
  EXPECT_EQ(all.member(), 0U);
  all.awaited(Answer::granted, false, start);
  all.awaited(Answer::refused, false, start);
  all.given_back();
  EXPECT_EQ(all.step(), Step::done);
  EXPECT_EQ(all.answer(), Answer::refused);
  EXPECT_EQ(all.member(), 1U);
}

TEST(MultiAcquirePlan, PermanentFailureEndsThePlan) {
  for (const Answer answer : {Answer::would_deadlock, Answer::closed, Answer::cancelled}) {
    MultiAcquirePlan together = plan_of_three(10s, true);
    together.attempted(answer, 1, start);
    together.given_back();
    EXPECT_EQ(together.step(), Step::done);
    EXPECT_EQ(together.answer(), answer);
    MultiAcquirePlan ordered = plan_of_three(10s, false);
    ordered.awaited(answer, false, start);
    ordered.given_back();
    EXPECT_EQ(ordered.step(), Step::done);
    EXPECT_EQ(ordered.answer(), answer);
  }
}

TEST(MultiAcquirePlan, EndlessWaitAwaitsTheBusyMemberWithoutEnd) {
  MultiAcquirePlan all({.members = 2, .one_step = true, .forever = true, .asked = start});
  all.attempted(Answer::busy, 1, start + 1h);
  all.given_back();
  EXPECT_EQ(all.until(), Clock::never());
  EXPECT_EQ(all.member(), 1U);
}

}  // namespace
}  // namespace latchkey::sim
