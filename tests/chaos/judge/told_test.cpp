// The judge: holders whose key was deleted under a watch, and visitors that know of a loss.
// SPDX-License-Identifier: BSL-1.0
#include <gtest/gtest.h>

#include "chaos/judge/history_builder.hpp"

namespace latchkey::chaos {
namespace {

using enum FaultKind;

constexpr const char* untold = "a holder is not told that its key was deleted";
constexpr const char* writes = "a visitor writes although it was told of its loss";

class JudgeTold : public ::testing::Test {
 protected:
  JudgeTold() {
    Fault& fault = builder.fault(delete_watched, 2'000, 2'010);
    fault.key = 0;
    fault.watched = true;
  }
  Fault& deleted() { return builder.history().faults.front(); }

  HistoryBuilder builder;
};

TEST_F(JudgeTold, AHolderKnowsWithinTheBound) {
  builder.visit(0, 1'100, 2'300, 1'500).watchdog = true;
  EXPECT_EQ(builder.broken(judge_told), "");
  builder.visit(0, 1'100, 2'320, 1'500).watchdog = true;
  EXPECT_EQ(builder.broken(judge_told), untold) << "a third of the lease would be until 2510 ms";
  EXPECT_EQ(builder.broken(judge_notices), "");
}

TEST_F(JudgeTold, AYoungerHoldIsNotWatchedYet) {
  builder.visit(0, 1'300, 2'400, 1'500).watchdog = true;
  EXPECT_EQ(builder.broken(judge_told), "");
}

TEST_F(JudgeTold, OtherKeysSemaphoresAndOtherLibrariesAreNotTold) {
  Visit visit = builder.visit(1, 1'000, 2'400, 1'500);
  builder.history().visits.back().key = 1;
  EXPECT_EQ(builder.broken(judge_told), "");
  builder.history().visits.back() = visit;
  EXPECT_EQ(builder.broken(judge_told), untold);
  builder.history().visits.back().type = LockType::PERMIT;
  EXPECT_EQ(builder.broken(judge_told), "");
  builder.history().visits.back() = visit;
  builder.history().foreign = {1};
  EXPECT_EQ(builder.broken(judge_told), "");
}

TEST_F(JudgeTold, AStallOrAnotherFaultOfItsProcessExcusesIt) {
  builder.visit(0, 1'000, 2'400, 1'500);
  builder.history().stalls = {{1'900 * millisecond, 2'060 * millisecond}};
  EXPECT_EQ(builder.broken(judge_told), "");
  builder.history().stalls.clear();
  builder.fault(link_cut, 1'500, 1'500, 1);
  EXPECT_EQ(builder.broken(judge_told), untold) << "of another process";
  builder.fault(link_cut, 1'500, 1'500, 0);
  EXPECT_EQ(builder.broken(judge_told), "");
}

TEST_F(JudgeTold, AServerThatTellsOfNoChangeIsCheckedAsBefore) {
  builder.visit(0, 1'000, 2'400, 1'500);
  deleted().watched = false;
  EXPECT_EQ(builder.broken(judge_told), "");
  builder.history().visits.back().held_until = 2'900 * millisecond;
  EXPECT_EQ(builder.broken(judge_told), "");
  EXPECT_EQ(builder.broken(judge_notices), "promise 3: a hold that the server lost is not noticed");
}

TEST_F(JudgeTold, AFaultThatMetNobodyExcusesNothing) {
  deleted().key = no_key;
  builder.visit(0, 1'000, 2'400, 1'500);
  EXPECT_EQ(builder.broken(judge_told), "");
  builder.visit(1, 2'100, 2'200);
  EXPECT_EQ(builder.broken(judge_exclusion), "promise 1: two holders");
  deleted().key = 0;
  EXPECT_EQ(builder.broken(judge_exclusion), "");
}

TEST_F(JudgeTold, AVisitorThatKnowsOfItsLossWritesNoMore) {
  Visit& visit = builder.visit(0, 1'000, 2'100);
  visit.written = 2'101 * millisecond;
  EXPECT_EQ(builder.broken(judge_told), "");
  visit.told = 2'102 * millisecond;
  EXPECT_EQ(builder.broken(judge_told), "");
  visit.told = 2'050 * millisecond;
  EXPECT_EQ(builder.broken(judge_told), writes);
}

}  // namespace
}  // namespace latchkey::chaos
