// The judge: visits that are commands of `latchkey run`.
// SPDX-License-Identifier: BSL-1.0
#include <gtest/gtest.h>

#include "chaos/judge/history_builder.hpp"

namespace latchkey::chaos {
namespace {

using enum FaultKind;

Fault& tool_fault(HistoryBuilder& builder, FaultKind kind, int from, int to) {
  Fault& fault = builder.fault(kind, from, to, 0);
  fault.thread = 0;
  return fault;
}

TEST(JudgeTools, ACommandDoesNotOutliveItsTool) {
  HistoryBuilder builder;
  tool_fault(builder, tool_kill, 200, 200);
  builder.visit(0, 100, 450);
  EXPECT_EQ(builder.broken(judge_tools), "");
  builder.history().visits.pop_back();
  builder.visit(0, 100, 600);
  EXPECT_EQ(builder.broken(judge_tools), "a command outlives its tool");
  builder.history().visits.back().thread = 1;
  EXPECT_EQ(builder.broken(judge_tools), "") << "another tool of the worker was killed";
}

TEST(JudgeTools, ACallWhoseToolIsKilledEndsSoAndNoOther) {
  HistoryBuilder builder;
  Visit& visit = builder.visit(0, 100, 250);
  visit.release = Outcome::killed;
  EXPECT_EQ(builder.broken(judge_outcomes), "an exception that no page allows");
  tool_fault(builder, tool_kill, 200, 200);
  EXPECT_EQ(builder.broken(judge_outcomes), "");
  builder.visit(0, 300, 400).release = Outcome::killed;
  EXPECT_EQ(builder.broken(judge_outcomes), "an exception that no page allows");
}

TEST(JudgeTools, AStoppedToolTellsItsCommandOfALossWhenItContinues) {
  HistoryBuilder builder;
  builder.visit(0, 100, 2'700);
  builder.visit(1, 1'500, 2'400);
  EXPECT_EQ(builder.broken(judge_exclusion), "promise 1: two holders");
  EXPECT_EQ(builder.broken(judge_deadlines), "promise 2: held beyond the lease");
  tool_fault(builder, tool_stop, 200, 2'500);
  EXPECT_EQ(builder.broken(judge_exclusion), "");
  EXPECT_EQ(builder.broken(judge_deadlines), "");
  for (Visit& each : builder.history().visits) each.held_until = 2'900 * millisecond;
  EXPECT_EQ(builder.broken(judge_exclusion), "promise 1: two holders");
  builder.history().faults.back().begins = 1'600 * millisecond;
  builder.history().visits.back().held_until = 2'400 * millisecond;
  EXPECT_EQ(builder.broken(judge_exclusion), "promise 1: two holders") << "before the tool stops";
}

TEST(JudgeTools, AToolRenewsWhileItsWorkerIsStopped) {
  HistoryBuilder builder;
  builder.visit(0, 100, 2'700).watchdog = true;
  builder.fault(client_stop_long, 200, 2'500, 0);
  EXPECT_EQ(builder.broken(judge_deadlines),
            "promise 2: held beyond the deadline without a server");
  builder.history().limits.tool_worker = 0;
  EXPECT_EQ(builder.broken(judge_deadlines), "");
}

TEST(JudgeTools, AToolThatTheMachineDoesNotRunTellsItsCommandLater) {
  HistoryBuilder builder;
  builder.visit(0, 100, 1'700);
  builder.visit(1, 1'300, 1'600);
  builder.history().stalls = {{1'000 * millisecond, 1'500 * millisecond}};
  EXPECT_EQ(builder.broken(judge_exclusion), "promise 1: two holders") << "it needs no tool";
  builder.history().limits.tool_worker = 0;
  EXPECT_EQ(builder.broken(judge_exclusion), "");
  for (Visit& each : builder.history().visits) each.held_until = 1'900 * millisecond;
  EXPECT_EQ(builder.broken(judge_exclusion), "promise 1: two holders");
}

TEST(JudgeTools, AnUpdateByACommandThatWasNotToldExcusesTheVisitThatItDisturbs) {
  HistoryBuilder builder;
  Visit& torn = builder.visit(1, 1'500, 1'600);
  torn.intact = false;
  torn.written = 1'601 * millisecond;
  Visit late = builder.visit(0, 100, 1'550);
  late.wrote = true;
  late.written = 1'550 * millisecond;
  late.deadline = 1'650 * millisecond;
  builder.history().visits.back() = late;
  EXPECT_EQ(builder.broken(judge_updates), "promise 1: an update is lost");
  tool_fault(builder, tool_stop, 200, 2'500);
  EXPECT_EQ(builder.broken(judge_updates), "");
}

TEST(JudgeTools, ALossIsNoticedAlthoughTheToolWasStoppedBefore) {
  HistoryBuilder builder;
  builder.fault(delete_key, 5'000, 5'000).key = 0;
  tool_fault(builder, tool_stop, 100, 150);
  builder.visit(0, 120, 6'000);
  EXPECT_EQ(builder.broken(judge_notices), "promise 3: a hold that the server lost is not noticed");
}

TEST(JudgeTools, AWorkerThatStartsProgramsHasNoShare) {
  HistoryBuilder builder;
  builder.history().workers = 3;
  builder.history().calm = 2'000 * millisecond;
  for (int visit = 0; visit < 100; ++visit) builder.visit(0, 100 + visit, 100 + visit);
  for (int visit = 0; visit < 100; ++visit) builder.visit(1, 100 + visit, 100 + visit);
  EXPECT_EQ(builder.broken(judge_shares), "starvation: less than a quarter of the even share");
  builder.history().limits.tool_worker = 2;
  EXPECT_EQ(builder.broken(judge_shares), "");
}

}  // namespace
}  // namespace latchkey::chaos
