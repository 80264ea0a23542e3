// The judge: requests to release a lock.
// SPDX-License-Identifier: BSL-1.0
#include <gtest/gtest.h>

#include "chaos/judge/history_builder.hpp"

namespace latchkey::chaos {
namespace {

using enum FaultKind;

constexpr const char* unheard = "a request to release does not reach a holder that listens";
constexpr const char* uncounted = "a request to release that reaches a holder is not counted";
constexpr const char* unasked = "a holder is asked to release a lock that nobody asked for";

class JudgeRevocations : public ::testing::Test {
 protected:
  JudgeRevocations() {
    Fault& fault = builder.fault(revocation, 1'000, 1'010);
    fault.key = 0;
    fault.reached = 1;
  }
  Fault& request() { return builder.history().faults.front(); }
  Visit& listener(std::uint32_t worker, int entered, int held_until, int asked) {
    Visit& visit = builder.visit(worker, entered, held_until, 3'000);
    visit.listens = true;
    visit.asked = asked * millisecond;
    return visit;
  }

  HistoryBuilder builder;
};

TEST_F(JudgeRevocations, AListenerIsAskedWithinTheBound) {
  listener(0, 500, 1'040, 1'041);
  EXPECT_EQ(builder.broken(judge_revocations), "");
  listener(0, 500, 1'400, 1'401);
  EXPECT_EQ(builder.broken(judge_revocations), unheard) << "too late";
  builder.history().visits.back().asked = 0;
  EXPECT_EQ(builder.broken(judge_revocations), unheard);
  builder.history().visits.back().listens = false;
  EXPECT_EQ(builder.broken(judge_revocations), "") << "it keeps the lock";
}

TEST_F(JudgeRevocations, OneThatBeganToListenJustBeforeMayMissIt) {
  listener(0, 800, 1'400, 0);
  request().reached = 0;
  EXPECT_EQ(builder.broken(judge_revocations), "");
}

TEST_F(JudgeRevocations, OneWhoseConnectionIsDisturbedMayMissIt) {
  listener(0, 500, 1'400, 0);
  builder.fault(link_cut, 900, 900, 0);
  request().reached = 0;
  EXPECT_EQ(builder.broken(judge_revocations), "");
}

TEST_F(JudgeRevocations, EachProcessThatHearsItIsCounted) {
  listener(0, 500, 1'005, 1'006).type = LockType::READ;
  listener(0, 600, 1'005, 1'006).type = LockType::READ;
  EXPECT_EQ(builder.broken(judge_revocations), "");
  listener(1, 500, 1'005, 1'006).type = LockType::READ;
  EXPECT_EQ(builder.broken(judge_revocations), uncounted);
  request().reached = 2;
  EXPECT_EQ(builder.broken(judge_revocations), "");
  request().reached = 0;
  EXPECT_EQ(builder.broken(judge_revocations), uncounted);
  request().reached = -1;  // the request was not confirmed
  EXPECT_EQ(builder.broken(judge_revocations), "");
}

TEST_F(JudgeRevocations, NobodyIsAskedForAKeyThatNobodyAskedFor) {
  listener(0, 500, 1'040, 1'041).key = 1;
  request().reached = 0;
  EXPECT_EQ(builder.broken(judge_revocations), unasked);
  builder.history().visits.back().key = 0;
  request().reached = 1;
  EXPECT_EQ(builder.broken(judge_revocations), "");
  builder.history().visits.back().asked = 990 * millisecond;
  EXPECT_EQ(builder.broken(judge_revocations), unasked) << "before the request";
}

TEST_F(JudgeRevocations, ALaterHolderIsNotAskedUnlessTheMessageWasLate) {
  listener(0, 1'500, 1'600, 1'601);
  EXPECT_EQ(builder.broken(judge_revocations), unasked);
  builder.fault(link_slow, 900, 1'550, 0);
  EXPECT_EQ(builder.broken(judge_revocations), "");
}

TEST_F(JudgeRevocations, ARequestIsNoLoss) {
  listener(0, 500, 1'040, 1'041);
  builder.visit(1, 1'020, 1'100);
  EXPECT_EQ(builder.broken(judge_exclusion), "promise 1: two holders");
  builder.history().visits.front().release = Outcome::busy;
  EXPECT_EQ(builder.broken(judge_releases), "promise 1: a hold ended before its lease");
}

}  // namespace
}  // namespace latchkey::chaos
