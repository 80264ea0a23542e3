// Histories as operations, for a checker of linearizability.
// SPDX-License-Identifier: BSL-1.0
#include "chaos/judge/operations.hpp"

#include <gtest/gtest.h>

#include "chaos/judge/history_builder.hpp"

namespace latchkey::chaos {
namespace {

using enum FaultKind;

TEST(Operations, AConfirmedReleaseTakesEffectWithinItsCall) {
  HistoryBuilder builder;
  Visit& visit = builder.visit(1, 100, 200);
  visit.ended = 210 * millisecond;
  EXPECT_EQ(operations_of(builder.history()),
            "0 mutex acquire 1 1 99000000 100000000 0\n"
            "0 mutex release 1 1 200000000 210000000 0\n");
}

TEST(Operations, ALossTakesEffectAfterTheVisitorSurelyHeldAndBeforeItHasLeft) {
  HistoryBuilder builder;
  Visit& visit = builder.visit(0, 100, 200);
  visit.told = visit.ended = 300 * millisecond;
  visit.release = Outcome::busy;
  EXPECT_EQ(operations_of(builder.history()),
            "0 mutex acquire 0 1 99000000 100000000 0\n"
            "0 mutex release 0 1 200000000 300000000 0\n");
}

// The machine ran nothing between the grant and the visitor, until the lease had ended.
TEST(Operations, AHoldThatWasOverBeforeItsVisitorRanEndsAtAnyTimeOfTheVisit) {
  HistoryBuilder builder;
  Visit& visit = builder.visit(0, 100, 100);
  visit.held_until = 0;
  visit.told = visit.ended = 101 * millisecond;
  visit.release = Outcome::busy;
  EXPECT_EQ(operations_of(builder.history()),
            "0 mutex acquire 0 1 99000000 100000000 0\n"
            "0 mutex release 0 1 99000000 101000000 0\n");
}

TEST(Operations, AFaultThatForgetsTheKeyMayEndTheHoldUnnoticed) {
  HistoryBuilder builder;
  builder.visit(0, 100, 200);
  builder.fault(delete_key, 150, 151).key = 0;
  EXPECT_EQ(operations_of(builder.history()),
            "0 mutex acquire 0 1 99000000 100000000 0\n"
            "0 mutex release 0 1 150000000 200000000 0\n");
}

// Its process was killed before it noticed.
TEST(Operations, AFaultThatForgetsTheKeyMayEndTheHoldOfAProcessThatIsKilledLater) {
  HistoryBuilder builder;
  Visit& visit = builder.visit(0, 100, 200);
  visit.killed = true;
  visit.left = visit.ended = 0;
  visit.release = Outcome::none;
  builder.fault(flushall, 150, 151);
  EXPECT_EQ(operations_of(builder.history()),
            "0 mutex acquire 0 1 99000000 100000000 0\n"
            "0 mutex release 0 1 150000000 0 0\n");
}

TEST(Operations, ACallThatWasNotGrantedIsLeftOut) {
  HistoryBuilder builder;
  builder.visit(0, 100, 200).outcome = Outcome::busy;
  EXPECT_EQ(operations_of(builder.history()), "");
}

TEST(Operations, ASemaphoreIsAcquiredPermitByPermit) {
  HistoryBuilder builder;
  builder.visit(0, 100, 200).type = LockType::PERMIT;
  EXPECT_EQ(operations_of(builder.history()),
            "0 semaphore:3 acquire 0 1 99000000 100000000 0\n"
            "0 semaphore:3 release 0 1 200000000 200000000 0\n");
}

TEST(Operations, AKeyHasTheModelOfAllItsTypes) {
  HistoryBuilder builder;
  builder.visit(0, 100, 200).type = LockType::READ;
  Visit& fenced = builder.visit(1, 300, 400);
  fenced.type = LockType::FENCED;
  fenced.token = 7;
  EXPECT_EQ(operations_of(builder.history()),
            "0 fenced_rwlock acquire_shared 0 1 99000000 100000000 0\n"
            "0 fenced_rwlock release 0 1 200000000 200000000 0\n"
            "0 fenced_rwlock acquire 1 2 299000000 300000000 7\n"
            "0 fenced_rwlock release 1 2 400000000 400000000 0\n");
}

}  // namespace
}  // namespace latchkey::chaos
