// The judge of workers that lock with another library.
// SPDX-License-Identifier: BSL-1.0
#include <gtest/gtest.h>

#include "chaos/judge/history_builder.hpp"

namespace latchkey::chaos {
namespace {

using enum FaultKind;

TEST(JudgeForeign, AnotherLibraryBelievesInALostHoldUntilItsLeaseEnds) {
  HistoryBuilder builder;
  builder.history().foreign = {1};
  builder.visit(1, 100, 1'090);
  builder.visit(0, 900, 950);
  builder.fault(delete_key, 200, 200).key = 0;
  EXPECT_EQ(builder.broken(judge_exclusion), "");
  EXPECT_EQ(builder.broken(judge_notices), "") << "nobody tells it";
  builder.history().foreign.clear();
  EXPECT_EQ(builder.broken(judge_exclusion), "promise 1: two holders");
}

TEST(JudgeForeign, WithoutALossALatchkeyWorkerAndAnotherLibraryExcludeEachOther) {
  HistoryBuilder builder;
  builder.history().foreign = {1};
  builder.visit(1, 100, 200);
  builder.visit(0, 150, 250);
  EXPECT_EQ(builder.broken(judge_exclusion), "promise 1: two holders");
}

TEST(JudgeForeign, AHoldThatEndsBeforeItsLeaseIsAViolationUnlessItsReleaseWasRepeated) {
  HistoryBuilder builder;
  builder.history().foreign = {1};
  builder.visit(1, 5'000, 5'100).release = Outcome::busy;
  EXPECT_EQ(builder.broken(judge_releases), "promise 1: a hold ended before its lease");
  builder.fault(link_cut, 5'050, 5'050, 1);
  EXPECT_EQ(builder.broken(judge_releases), "");
}

TEST(JudgeForeign, ExceptionsForServersAndConnectionsAreItsOwn) {
  HistoryBuilder builder;
  builder.history().foreign = {1};
  builder.visit(1, 1'100, 1'100).outcome = Outcome::unavailable;
  EXPECT_EQ(builder.broken(judge_outcomes), "");
  builder.visit(1, 1'100, 1'100).outcome = Outcome::other;
  EXPECT_EQ(builder.broken(judge_outcomes), "an exception that no page allows");
}

TEST(JudgeForeign, LatchkeyAndAnotherLibraryGetAQuarterOfWhatTheOtherGets) {
  HistoryBuilder builder;
  builder.history().workers = 3;
  builder.history().foreign = {2};
  builder.history().calm = 2'000 * millisecond;
  const auto visits = [&](std::uint32_t worker, int count) {
    for (int visit = 0; visit < count; ++visit) builder.visit(worker, 100 + visit, 100 + visit);
  };
  visits(0, 100);
  visits(1, 100);
  visits(2, 24);
  EXPECT_EQ(builder.broken(judge_shares),
            "starvation: less than a quarter of what the other library gets, or four times it");
  visits(2, 1);
  EXPECT_EQ(builder.broken(judge_shares), "");
  visits(2, 376);
  EXPECT_EQ(builder.broken(judge_shares),
            "starvation: less than a quarter of what the other library gets, or four times it");
}

}  // namespace
}  // namespace latchkey::chaos
