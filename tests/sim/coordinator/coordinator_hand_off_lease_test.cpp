// Cohort hand-off: the lease of the call that takes over.
#include <chrono>

#include <gtest/gtest.h>

#include "sim/cohort.hpp"

namespace latchkey::sim {
namespace {

using namespace std::chrono_literals;
using enum LockType;
using Caller = Script::Caller;

TEST(CoordinatorHandOffLease, ACallThatAskedForLessTakesNothingOver) {
  Cohort script(REENTRANT);
  script.wait(REENTRANT, 29s);
  script.expect_released_at_the_backend();
}

TEST(CoordinatorHandOffLease, ACallThatAskedForMoreIsRenewedToItsLease) {
  Cohort script(REENTRANT, 2s);
  Caller& next = script.wait(REENTRANT, 45s);
  script.pass(1ms);
  EXPECT_EQ(script.release(script.holder()).answer, Answer::granted);
  EXPECT_EQ(next.answer, Answer::granted);
  script.pass(50ms);
  EXPECT_EQ(script.sent(), "renew 1 45000");
  script.answer(Kind::granted);
  EXPECT_GT(script.left(next), 44s);
}

// The renewal that the call before it had asked for was sent, so it held for longer than it asked.
TEST(CoordinatorHandOffLease, ACallThatAskedForLessThanTheOneBeforeItIsRenewedToItsOwnLease) {
  Cohort script(REENTRANT, 2s);
  Caller& longer = script.wait(REENTRANT, 45s);
  Caller& last = script.wait(REENTRANT, 2s);
  script.release(script.holder());
  EXPECT_EQ(script.release(longer).answer, Answer::granted);
  EXPECT_EQ(last.answer, Answer::granted);
  script.pass(100ms);
  EXPECT_EQ(script.sent(), "verify 1");
  script.answer(Kind::granted);
  EXPECT_LT(script.left(last), 2s);
}

// Its reply was lost, and the hold ended when the lease of the call before it did.
TEST(CoordinatorHandOffLease, ARenewalToTheNextCallsLeaseIsRepeatedUntilItIsAnswered) {
  Cohort script(REENTRANT, 2s);
  Caller& next = script.wait(REENTRANT, 45s);
  script.release(script.holder());
  script.pass(50ms);
  EXPECT_EQ(script.sent(), "renew 1 45000");
  script.answer(Kind::unknown);
  script.pass(1s);
  EXPECT_EQ(script.sent(), "renew 1 45000");
  script.answer(Kind::granted);
  EXPECT_GT(script.left(next), 43s);
  script.pass(15s);
  EXPECT_EQ(script.sent(), "verify 1") << "renewed once";
}

TEST(CoordinatorHandOffLease, NothingIsTakenOverThatEndsWithinASecondAndHalfOfTheLease) {
  Cohort script(REENTRANT, 1s);
  script.wait(REENTRANT, 45s);
  script.expect_released_at_the_backend();
}

TEST(CoordinatorHandOffLease, TheNextCallsWatchdogRenews) {
  Cohort script(REENTRANT);
  Caller& next = script.wait(REENTRANT, watchdog);
  script.release(script.holder());
  EXPECT_EQ(next.answer, Answer::granted);
  script.pass(10s);
  EXPECT_EQ(script.sent(), "renew 1 30000");
  script.answer(Kind::granted);
  EXPECT_EQ(script.left(next), 30s - 300ms);
}

TEST(CoordinatorHandOffLease, AWatchedHoldEndsForACallWithALease) {
  Cohort script(REENTRANT, watchdog);
  Caller& next = script.wait(REENTRANT, 30s);
  script.release(script.holder());
  EXPECT_EQ(next.answer, Answer::granted);
  script.pass(10s);
  EXPECT_EQ(script.sent(), "verify 1");
  script.answer(Kind::granted);
  EXPECT_EQ(script.left(next), 20s - 300ms);
}

}  // namespace
}  // namespace latchkey::sim
