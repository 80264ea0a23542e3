// The judge: holds with a limit.
// SPDX-License-Identifier: BSL-1.0
#include <gtest/gtest.h>

#include "chaos/judge/history_builder.hpp"

namespace latchkey::chaos {
namespace {

using enum FaultKind;

constexpr const char* beyond = "promise 2: held beyond held_at_most";
constexpr const char* unnamed = "a loss does not say that the lock was held too long";
constexpr const char* kept = "nobody is granted a key whose holder was held too long";

/// It has a limit of 1 s from its entry at 100 ms on, and hangs until 1400 ms.
Visit& hanging_visit(HistoryBuilder& builder, int held_until = 1'099) {
  Visit& visit = builder.visit(0, 100, held_until, 1'500);
  visit.wish = Wish::hang;
  visit.watchdog = visit.hung = visit.limit_named = true;
  visit.limit = 1'000 * millisecond;
  visit.told = (held_until + 1) * millisecond;
  visit.left = visit.ended = 1'400 * millisecond;
  visit.release = Outcome::busy;
  return visit;
}

TEST(JudgeLimits, AHoldEndsAtItsLimit) {
  HistoryBuilder builder;
  hanging_visit(builder);
  EXPECT_EQ(builder.broken(judge_limits), "");
  EXPECT_EQ(holds_at_their_limit(builder.history()), 1U);
  builder.history().visits.clear();
  hanging_visit(builder, 1'101);
  EXPECT_EQ(builder.broken(judge_limits), beyond);
  builder.fault(link_mute, 200, 900, 0);
  EXPECT_EQ(builder.broken(judge_limits), beyond) << "its process needs no server for that";
}

TEST(JudgeLimits, TheLossNamesTheLimitUnlessSomethingElseMayHaveEndedTheHold) {
  HistoryBuilder builder;
  hanging_visit(builder).limit_named = false;
  EXPECT_EQ(builder.broken(judge_limits), unnamed);
  EXPECT_EQ(holds_at_their_limit(builder.history()), 0U);
  builder.fault(flushall, 500, 500);
  EXPECT_EQ(builder.broken(judge_limits), "");
  builder.history().faults.clear();
  builder.fault(link_mute, 200, 900, 0);
  EXPECT_EQ(builder.broken(judge_limits), "");
  builder.history().faults.clear();
  builder.history().visits.back().hung = false;  // the round ended before
  EXPECT_EQ(builder.broken(judge_limits), "");
}

TEST(JudgeLimits, NobodyElseHoldsBeforeTheLimit) {
  HistoryBuilder builder;
  hanging_visit(builder);
  builder.visit(1, 1'100, 1'300);
  EXPECT_EQ(builder.broken(judge_exclusion), "");
  builder.visit(1, 1'050, 1'090);
  EXPECT_EQ(builder.broken(judge_exclusion), "promise 1: two holders");
}

TEST(JudgeLimits, SomebodyWhoWaitsIsGrantedTheKeySoon) {
  HistoryBuilder builder;
  hanging_visit(builder);
  EXPECT_EQ(builder.broken(judge_limits), "") << "nobody waits";
  Visit waiter = builder.visit(1, 3'000, 3'100);
  waiter.called = 500 * millisecond;
  builder.history().visits.back() = waiter;
  EXPECT_EQ(builder.broken(judge_limits), "");
  builder.history().visits.back().entered = 4'200 * millisecond;
  EXPECT_EQ(builder.broken(judge_limits), kept);
  builder.history().visits.back().entered = 0;  // it waits still
  builder.history().visits.back().outcome = Outcome::none;
  EXPECT_EQ(builder.broken(judge_limits), kept);
  builder.visit(1, 2'000, 2'001);
  EXPECT_EQ(builder.broken(judge_limits), "") << "somebody else was";
  builder.history().visits.pop_back();
  builder.fault(server_stop_long, 1'000, 3'000);
  EXPECT_EQ(builder.broken(judge_limits), "");
}

TEST(JudgeLimits, AHoldIsToldOfItsLimitAndThatIsNoLossWithoutACause) {
  HistoryBuilder builder;
  Visit& visit = hanging_visit(builder);
  visit.deadline = 1'100 * millisecond;  // remaining() knows the limit
  EXPECT_EQ(builder.broken(judge_releases), "");
  visit.told = 900 * millisecond;
  EXPECT_EQ(builder.broken(judge_releases), "promise 1: a hold ended before its lease");
}

}  // namespace
}  // namespace latchkey::chaos
