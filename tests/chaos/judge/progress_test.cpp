// The judge: hangs and starvation.
// SPDX-License-Identifier: BSL-1.0
#include "chaos/judge/judge.hpp"

#include <gtest/gtest.h>

#include "chaos/judge/history_builder.hpp"

namespace latchkey::chaos {
namespace {

using enum FaultKind;

TEST(JudgeProgress, AThreadOrKeyWithoutAGrantAfterTheFaultsHangs) {
  HistoryBuilder builder;
  builder.history().healed = 1'000 * millisecond;
  builder.visit(0, 2'000, 2'001);
  builder.visit(1, 2'000, 2'001).key = 1;
  EXPECT_EQ(builder.broken(judge_progress), "");
  builder.history().visits.back().outcome = Outcome::busy;
  EXPECT_EQ(builder.broken(judge_progress),
            "hang: no progress after the last fault healed; "
            "hang: no progress after the last fault healed");
}

// One stall of 150 ms switched the rule off for the whole round.
TEST(JudgeProgress, AStallGivesAsMuchMoreTimeAsItLasted) {
  HistoryBuilder builder;
  builder.history().healed = 1'000 * millisecond;
  builder.history().stalls.emplace_back(2'000 * millisecond, 2'500 * millisecond);
  builder.visit(0, 2'000, 2'001);
  builder.visit(1, 11'400, 11'401).key = 1;
  EXPECT_EQ(builder.broken(judge_progress), "");
  builder.visit(1, 11'600, 11'601).key = 1;
  std::swap(builder.history().visits[1], builder.history().visits[2]);
  builder.history().visits.pop_back();
  EXPECT_EQ(builder.broken(judge_progress), "hang: no progress after the last fault healed");
}

TEST(JudgeProgress, AKeyThatNobodyAsksForDoesNotHang) {
  HistoryBuilder builder;
  builder.history().healed = 1'000 * millisecond;
  builder.visit(0, 2'000, 2'001);
  builder.visit(1, 2'000, 2'001);
  EXPECT_EQ(builder.broken(judge_progress), "");
}

// FAIR waiters that died together delay the others by up to 15 s.
TEST(JudgeProgress, AThreadThatWaitsForAFairKeyHasAsLongAsTheKey) {
  HistoryBuilder builder;
  builder.history().healed = 1'000 * millisecond;
  builder.visit(0, 2'000, 2'001).key = 1;
  const auto wait_until = [&](int entered, LockType type) {
    Visit& visit = builder.visit(1, entered, entered + 1);
    visit.type = type;
    visit.called = 900 * millisecond;
  };
  wait_until(16'900, LockType::FAIR);
  EXPECT_EQ(builder.broken(judge_progress), "");
  builder.history().visits.pop_back();
  wait_until(11'100, LockType::REENTRANT);
  EXPECT_EQ(builder.broken(judge_progress), "hang: no progress after the last fault healed");
}

TEST(JudgeProgress, WithoutTurnsAThreadMayWaitWhileOthersGetTheKey) {
  HistoryBuilder builder;
  builder.history().healed = 1'000 * millisecond;
  builder.visit(0, 2'000, 2'001).key = 1;
  builder.visit(0, 2'100, 2'101);
  Visit& waits = builder.visit(1, 12'000, 12'001);
  waits.called = 900 * millisecond;
  EXPECT_EQ(builder.broken(judge_progress), "hang: no progress after the last fault healed");
  builder.history().limits.turns = false;
  EXPECT_EQ(builder.broken(judge_progress), "");
  builder.history().visits[1].key = 1;  // nobody gets key 0
  EXPECT_EQ(builder.broken(judge_progress), "hang: no progress after the last fault healed");
}

TEST(JudgeProgress, AWorkerThatWasNotStartedDoesNotHang) {
  HistoryBuilder builder;
  builder.history().healed = 1'000 * millisecond;
  builder.visit(0, 2'000, 2'001);
  builder.visit(0, 2'000, 2'001).key = 1;
  EXPECT_EQ(builder.broken(judge_progress), "hang: no progress after the last fault healed");
  builder.history().absent = {1};
  EXPECT_EQ(builder.broken(judge_progress), "");
}

TEST(JudgeShares, AProcessWithLessThanAQuarterOfItsShareStarves) {
  HistoryBuilder builder;
  builder.history().calm = 2'000 * millisecond;
  for (int visit = 0; visit < 100; ++visit) builder.visit(0, 100 + visit, 100 + visit);
  for (int visit = 0; visit < 13; ++visit) builder.visit(1, 100 + visit, 100 + visit);
  EXPECT_EQ(builder.broken(judge_shares), "starvation: less than a quarter of the even share");
  builder.history().limits.process_queue = false;
  EXPECT_EQ(builder.broken(judge_shares), "") << "nothing is promised then";
  builder.history().limits.process_queue = true;
  for (int visit = 0; visit < 10; ++visit) builder.visit(1, 300 + visit, 300 + visit);
  EXPECT_EQ(builder.broken(judge_shares), "");
}

TEST(JudgeShares, TheEvenShareIsThatOfTheWorkersThatWereStarted) {
  HistoryBuilder builder;
  builder.history().calm = 2'000 * millisecond;
  builder.history().workers = 4;
  builder.history().absent = {0, 2};
  for (int visit = 0; visit < 70; ++visit) builder.visit(1, 100 + visit, 100 + visit);
  for (int visit = 0; visit < 8; ++visit) builder.visit(3, 100 + visit, 100 + visit);
  EXPECT_EQ(builder.broken(judge_shares), "") << "78 grants of two workers say nothing yet";
  for (int visit = 0; visit < 2; ++visit) builder.visit(1, 300 + visit, 300 + visit);
  EXPECT_EQ(builder.broken(judge_shares), "starvation: less than a quarter of the even share")
      << "8 of 80; of four workers each would have 20";
  for (int visit = 0; visit < 3; ++visit) builder.visit(3, 300 + visit, 300 + visit);
  EXPECT_EQ(builder.broken(judge_shares), "");
}

}  // namespace
}  // namespace latchkey::chaos
