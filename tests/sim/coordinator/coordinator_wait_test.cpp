// The wait of an acquire is an upper bound, except for a short grace for the first reply.
#include <chrono>
#include <string>

#include <gtest/gtest.h>

#include "sim/script.hpp"

namespace latchkey::sim {
namespace {

using namespace std::chrono_literals;
using enum LockType;
using Caller = Script::Caller;

TEST(CoordinatorWait, AcquireWithoutAReplyEndsWithItsWait) {
  Script script;
  Caller& call = script.acquire(REENTRANT, 500ms, 30s);
  script.pass(499ms);
  EXPECT_EQ(call.answer, Answer::pending);
  script.pass(51ms);
  EXPECT_EQ(call.answer, Answer::unavailable);
  EXPECT_EQ(script.sent(), "acquire 1 30000, release 1")
      << "whatever the attempt was granted is released";
  script.answer(Kind::granted);
  script.answer(Kind::granted);
  EXPECT_TRUE(script.idle());
}

TEST(CoordinatorWait, AcquireWithAWaitShorterThanARoundTripIsGranted) {
  Script script;
  Caller& call = script.acquire(REENTRANT, 1ms, 30s);
  script.pass(30ms);
  script.answer(Kind::granted);
  EXPECT_EQ(call.answer, Answer::granted);
}

TEST(CoordinatorWait, AcquireWithAWaitOfZeroEndsAfterTheCommandTimeout) {
  Script script;
  Caller& call = script.acquire(REENTRANT, 0ms, 30s);
  script.pass(1'999ms);
  EXPECT_EQ(call.answer, Answer::pending);
  script.pass(1ms);
  EXPECT_EQ(call.answer, Answer::unavailable);
}

TEST(CoordinatorWait, FairAcquireWithoutAReplyEndsWithItsWaitAndLeavesTheQueue) {
  Script script;
  Caller& call = script.acquire(FAIR, 100ms, 30s);
  script.pass(150ms);
  EXPECT_EQ(call.answer, Answer::unavailable);
  EXPECT_EQ(script.sent(), "acquire 1 30000, leave 1");
}

TEST(CoordinatorWait, ReentryThatAwaitsItsRenewalEndsWithItsWait) {
  Script script;
  const Owner owner = Owner::make();
  Caller& outer = script.acquire(REENTRANT, 3s, 3s, owner);
  script.answer(Kind::granted);
  Caller& inner = script.acquire(REENTRANT, 100ms, 30s, owner);
  EXPECT_EQ(inner.answer, Answer::pending);
  script.pass(150ms);
  EXPECT_EQ(inner.answer, Answer::unavailable);
  EXPECT_FALSE(script.lost(outer));
}

TEST(CoordinatorWait, WaiterAfterAnUnansweredAttemptIsUnavailable) {
  Script script;
  script.acquire(REENTRANT, 10s, 30s, Owner::make());
  Caller& second = script.acquire(REENTRANT, 500ms, 30s, Owner::make());
  script.pass(550ms);
  EXPECT_EQ(second.answer, Answer::unavailable) << "no reply said that the lock is busy";
  Outcome unknown = Script::of(Kind::unknown);
  unknown.reason = "connect: Connection refused";
  script.answer(unknown);
  Caller& third = script.acquire(REENTRANT, 0ms, 30s, Owner::make());
  EXPECT_EQ(third.answer, Answer::unavailable);
  EXPECT_EQ(std::string(third.reason.view()), "connect: Connection refused");
}

TEST(CoordinatorWait, WaiterAfterAFreshAttemptIsBusy) {
  Script script;
  script.acquire(REENTRANT, 10s, 30s, Owner::make());
  script.pass(5ms);
  Caller& second = script.acquire(REENTRANT, 0ms, 30s, Owner::make());
  EXPECT_EQ(second.answer, Answer::busy);
}

// Another key of that call was busy. The reply counted as one that this key is busy.
TEST(CoordinatorWait, WaiterAfterAnAttemptThatFailedForAnotherKeyIsUnavailable) {
  Script script;
  script.acquire(REENTRANT, 0ms, 30s, Owner::make());
  Caller& second = script.acquire(REENTRANT, 500ms, 30s, Owner::make());
  Caller& third = script.acquire(REENTRANT, 500ms, 30s, Owner::make());
  Outcome of_another = Script::of(Kind::busy);
  of_another.busy_member = 1;
  script.answer(of_another);
  script.pass(550ms);
  EXPECT_EQ(second.answer, Answer::unavailable) << "its own attempt has no reply";
  EXPECT_EQ(third.answer, Answer::unavailable);
}

// In ns it overflowed: the pause was negative, and the next attempt was due at once.
TEST(CoordinatorWait, ATimeBeyondTheClockIsNoReasonToAskAtOnce) {
  for (const milliseconds left : {milliseconds(9'300'000'000'000), milliseconds::max()}) {
    Script script;
    Caller& call = script.acquire(REENTRANT, 10s, 30s, Owner::make());
    script.answer(Script::busy(left));
    EXPECT_EQ(call.answer, Answer::pending);
    script.answer(Verb::subscribe, Script::of(Kind::granted));
    script.answer(Script::busy(left));
    static_cast<void>(script.sent());
    script.pass(500ms);
    EXPECT_EQ(script.sent(), "");
  }
}

}  // namespace
}  // namespace latchkey::sim
