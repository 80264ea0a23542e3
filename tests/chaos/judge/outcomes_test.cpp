// How calls may end.
// SPDX-License-Identifier: BSL-1.0
#include "chaos/judge/judge.hpp"

#include <gtest/gtest.h>

#include "chaos/judge/history_builder.hpp"

namespace latchkey::chaos {
namespace {

using enum FaultKind;

TEST(JudgeOutcomes, UnavailableNeedsAFaultAndOtherExceptionsAreNeverAllowed) {
  HistoryBuilder builder;
  builder.visit(0, 1'100, 1'100).outcome = Outcome::unavailable;
  EXPECT_EQ(builder.broken(judge_outcomes), "an exception that no page allows");
  builder.fault(link_cut, 900, 900, 0);
  EXPECT_EQ(builder.broken(judge_outcomes), "");
  builder.visit(0, 1'100, 1'100).outcome = Outcome::other;
  EXPECT_EQ(builder.broken(judge_outcomes), "an exception that no page allows");
}

TEST(JudgeOutcomes, AShortWaitMayEndBeforeABusyMachineReplies) {
  HistoryBuilder builder;
  Visit& visit = builder.visit(0, 1'100, 1'100);
  visit.outcome = Outcome::unavailable;
  visit.wait = 30 * millisecond;
  EXPECT_EQ(builder.broken(judge_outcomes), "");
  visit.wait = 1'000 * millisecond;
  EXPECT_EQ(builder.broken(judge_outcomes), "an exception that no page allows");
}

TEST(JudgeOutcomes, ACallThatComesFirstLateMayEndBeforeABusyMachineReplies) {
  HistoryBuilder builder;
  builder.visit(0, 101, 3'080).thread = 0;
  Visit& visit = builder.visit(0, 3'100, 3'100);
  visit.thread = 1;
  visit.called = 101 * millisecond;
  visit.wait = 3'000 * millisecond;
  visit.outcome = Outcome::unavailable;
  EXPECT_EQ(builder.broken(judge_outcomes), "");
  builder.history().visits.front().worker = 1;  // another process keeps no call here waiting
  EXPECT_EQ(builder.broken(judge_outcomes), "an exception that no page allows");
}

TEST(JudgeOutcomes, ALockThatNoThreadCanRenewIsNotGranted) {
  HistoryBuilder builder;
  builder.visit(0, 100, 200).lack = Lack::threads;
  EXPECT_EQ(builder.broken(judge_outcomes), "a lock is granted that no thread can renew");
}

TEST(JudgeOutcomes, OnlyAVisitWithoutMemoryEndsWithBadAlloc) {
  HistoryBuilder builder;
  Visit& visit = builder.visit(0, 100, 100);
  visit.outcome = Outcome::no_memory;
  EXPECT_EQ(builder.broken(judge_outcomes), "an exception that no page allows");
  visit.lack = Lack::memory;
  EXPECT_EQ(builder.broken(judge_outcomes), "");
}

// A quorum excuses no refusal of one server, but its Locks are not made then.
TEST(JudgeOutcomes, NewLocksMayBeRefusedByOneServer) {
  HistoryBuilder builder;
  builder.visit(0, 1'100, 1'100).outcome = Outcome::refused;
  builder.fault(forbidden_command, 1'000, 1'200).excuses = impairs;
  EXPECT_EQ(builder.broken(judge_outcomes), "an exception that no page allows");
  builder.history().visits.back().lack = Lack::threads;
  EXPECT_EQ(builder.broken(judge_outcomes), "");
}

TEST(JudgeOutcomes, ACoroutineWithoutAFreeDescriptorMayEndWithBadAlloc) {
  HistoryBuilder builder;
  builder.visit(0, 1'100, 1'100).outcome = Outcome::no_memory;
  builder.history().coroutines = {0};
  EXPECT_EQ(builder.broken(judge_outcomes), "an exception that no page allows");
  builder.fault(client_descriptors, 1'000, 1'200, 0);
  EXPECT_EQ(builder.broken(judge_outcomes), "");
  builder.history().coroutines.clear();
  EXPECT_EQ(builder.broken(judge_outcomes), "an exception that no page allows");
}

TEST(JudgeOutcomes, TheWaitIsAnUpperBound) {
  HistoryBuilder builder;
  Visit& visit = builder.visit(0, 2'099, 2'100);
  visit.wait = 1'000 * millisecond;
  visit.called = 100 * millisecond;
  EXPECT_EQ(builder.broken(judge_outcomes), "");
  visit.called = 40 * millisecond;
  EXPECT_EQ(builder.broken(judge_outcomes), "a call waits longer than it may");
  builder.fault(server_stop_long, 100, 2'000);
  EXPECT_EQ(builder.broken(judge_outcomes), "a call waits longer than it may")
      << "whatever the server does";
  builder.fault(client_stop_short, 200, 500, 0);
  EXPECT_EQ(builder.broken(judge_outcomes), "");
}

TEST(JudgeOutcomes, ABusyLockIsWaitedForUntilTheWaitIsOver) {
  HistoryBuilder builder;
  Visit& visit = builder.visit(0, 1'050, 1'050);
  visit.outcome = Outcome::busy;
  visit.called = 100 * millisecond;
  visit.wait = 1'000 * millisecond;
  EXPECT_EQ(builder.broken(judge_outcomes), "a call gives up before its wait is over");
  builder.history().coroutines = {0};
  EXPECT_EQ(builder.broken(judge_outcomes), "");
  builder.history().coroutines.clear();
  visit.called = 50 * millisecond;
  EXPECT_EQ(builder.broken(judge_outcomes), "");
  visit.wait = 0;
  visit.waits_forever = true;
  EXPECT_EQ(builder.broken(judge_outcomes), "a call gives up before its wait is over");
}

TEST(JudgeOutcomes, AReleaseIsBounded) {
  HistoryBuilder builder;
  Visit& visit = builder.visit(0, 100, 200);
  visit.ended = 1'600 * millisecond;
  EXPECT_EQ(builder.broken(judge_outcomes), "");
  visit.ended = 1'800 * millisecond;
  EXPECT_EQ(builder.broken(judge_outcomes), "a release waits longer than it may");
}

TEST(JudgeOutcomes, AQuorumMayNotKnowAFewOutcomesButNotMany) {
  HistoryBuilder builder;
  builder.history().limits.hasty = true;
  const auto unknown = [&] {
    Visit& visit = builder.visit(0, 1'100, 1'100);
    visit.wait = 1'000 * millisecond;
    visit.outcome = Outcome::unavailable;
  };
  for (int call = 0; call < 10; ++call) unknown();
  EXPECT_EQ(builder.broken(judge_outcomes), "");
  unknown();
  EXPECT_EQ(builder.broken(judge_outcomes), "a quorum is not available although a majority is");
}

TEST(JudgeOutcomes, ARefusalNeedsAFaultThatRefuses) {
  HistoryBuilder builder;
  builder.visit(0, 1'100, 1'100).outcome = Outcome::refused;
  builder.fault(link_cut, 1'000, 1'200, 0);
  EXPECT_EQ(builder.broken(judge_outcomes), "an exception that no page allows");
  builder.fault(max_memory, 1'000, 1'200);
  EXPECT_EQ(builder.broken(judge_outcomes), "");
}

}  // namespace
}  // namespace latchkey::chaos
