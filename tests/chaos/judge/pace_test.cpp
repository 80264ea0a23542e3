// How fast locks are granted while a fault lasts that concerns none.
// SPDX-License-Identifier: BSL-1.0
#include <gtest/gtest.h>

#include "chaos/judge/history_builder.hpp"
#include "chaos/judge/judge.hpp"

namespace latchkey::chaos {
namespace {

using enum FaultKind;

constexpr const char* slow = "slow: a fault that concerns no lock delays each grant";

/// 1 s before the first fault, in which key 0 is handed over in 5 ms.
class Paced : public HistoryBuilder {
 public:
  Paced() {
    history().calm = 1'000 * millisecond;
    visit_often(0, 1'000, 5);
  }
  /// Visits of 1 ms.
  void visit_often(int from, int to, int hand_over) {
    for (int at = from; at < to; at += hand_over + 1) visit(0, at, at + 1);
  }
};

TEST(JudgePace, GrantsThatAreSlowDuringAFaultThatConcernsNoLockAreAViolation) {
  Paced builder;
  builder.fault(pattern_subscriber, 1'100, 3'000);
  builder.visit_often(1'100, 3'000, 40);
  EXPECT_EQ(builder.broken(judge_pace), slow);
}

TEST(JudgePace, OnlyTheTimeCountsInWhichNobodyHolds) {
  Paced builder;
  builder.fault(pattern_subscriber, 1'100, 3'000);
  builder.visit_often(1'100, 1'500, 5);
  builder.visit(1, 1'501, 3'000);
  EXPECT_EQ(builder.broken(judge_pace), "");
}

TEST(JudgePace, GrantsAreSlowDuringOtherFaultsAndNearThem) {
  Paced builder;
  Fault& fault = builder.fault(pattern_subscriber, 4'000, 6'000);
  builder.visit_often(1'100, 7'000, 40);
  EXPECT_EQ(builder.broken(judge_pace), slow);
  fault.kind = server_pause;
  EXPECT_EQ(builder.broken(judge_pace), "");
  fault.kind = pattern_subscriber;
  builder.fault(client_kill, 2'000, 2'500);
  EXPECT_EQ(builder.broken(judge_pace), "");
}

TEST(JudgePace, OfALongFaultTheLastSecondsCount) {
  Paced builder;
  builder.fault(member_kill, 1'100, 61'100);
  builder.visit_often(1'100, 21'100, 500);
  builder.visit_often(21'100, 61'100, 5);
  EXPECT_EQ(builder.broken(judge_pace), "");
  Paced slower_and_slower;
  slower_and_slower.fault(member_kill, 1'100, 61'100);
  slower_and_slower.visit_often(1'100, 41'100, 5);
  slower_and_slower.visit_often(41'100, 61'100, 40);
  EXPECT_EQ(slower_and_slower.broken(judge_pace), slow);
}

TEST(JudgePace, TheFirstSecondsAfterAMemberIsLostAreLeftOut) {
  Paced builder;
  builder.fault(member_stop, 1'100, 6'100);
  builder.visit_often(1'100, 3'600, 500);
  builder.visit_often(3'600, 6'100, 5);
  EXPECT_EQ(builder.broken(judge_pace), "");
}

TEST(JudgePace, AStallOfTheMachineIsLeftOut) {
  Paced builder;
  builder.fault(pattern_subscriber, 1'100, 3'000);
  builder.visit_often(1'100, 1'300, 5);
  builder.visit_often(2'900, 3'000, 5);
  EXPECT_EQ(builder.broken(judge_pace), slow);
  builder.history().stalls = {{1'295 * millisecond, 2'900 * millisecond}};
  EXPECT_EQ(builder.broken(judge_pace), "");
}

TEST(JudgePace, AMachineThatIsTooBusyFromTheStartSaysNothing) {
  HistoryBuilder builder;
  builder.history().calm = 1'000 * millisecond;
  builder.visit(0, 10, 11);
  builder.fault(pattern_subscriber, 1'100, 3'000);
  EXPECT_EQ(builder.broken(judge_pace), "");
}

}  // namespace
}  // namespace latchkey::chaos
