// A wait is a bound, request by request.
#include <chrono>
#include <string>

#include <gtest/gtest.h>

#include "sim/script.hpp"

namespace latchkey::sim {
namespace {

using namespace std::chrono_literals;
using enum LockType;
using Caller = Script::Caller;

TEST(CoordinatorWait, AnAcquireEndsAtItsWaitsEndThoughItsFirstAttemptIsUnderWay) {
  Script script;
  Caller& call = script.acquire(REENTRANT, 500ms, 30s);
  script.pass(499ms);
  EXPECT_EQ(call.answer, Answer::pending);
  script.pass(51ms);
  EXPECT_EQ(call.answer, Answer::unavailable);
  EXPECT_EQ(script.sent(), "acquire 1 30000, release 1") << "what came of it is given back";
  script.answer(Kind::granted);
  script.answer(Kind::granted);
  EXPECT_TRUE(script.idle());
}

TEST(CoordinatorWait, AWaitShorterThanARoundTripIsNotInVain) {
  Script script;
  Caller& call = script.acquire(REENTRANT, 1ms, 30s);
  script.pass(30ms);
  script.answer(Kind::granted);
  EXPECT_EQ(call.answer, Answer::granted);
}

TEST(CoordinatorWait, AWaitOfZeroWaitsForItsOneAttemptAsLongAsACommandMayTake) {
  Script script;
  Caller& call = script.acquire(REENTRANT, 0ms, 30s);
  script.pass(1'999ms);
  EXPECT_EQ(call.answer, Answer::pending);
  script.pass(1ms);
  EXPECT_EQ(call.answer, Answer::unavailable);
}

TEST(CoordinatorWait, AFairAcquireEndsAtItsWaitsEndAndLeavesTheQueue) {
  Script script;
  Caller& call = script.acquire(FAIR, 100ms, 30s);
  script.pass(150ms);
  EXPECT_EQ(call.answer, Answer::unavailable);
  EXPECT_EQ(script.sent(), "acquire 1 30000, leave 1");
}

TEST(CoordinatorWait, AReentryThatAwaitsItsRenewalEndsAtItsWaitsEnd) {
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

TEST(CoordinatorWait, WhoQueuesBehindOneThatGetsNoAnswerIsToldSoToo) {
  Script script;
  script.acquire(REENTRANT, 10s, 30s, Owner::make());
  Caller& second = script.acquire(REENTRANT, 500ms, 30s, Owner::make());
  script.pass(550ms);
  EXPECT_EQ(second.answer, Answer::unavailable) << "nobody has said that the lock is busy";
  Outcome unknown = Script::of(Kind::unknown);
  unknown.text = "connect: Connection refused";
  script.answer(unknown);
  Caller& third = script.acquire(REENTRANT, 0ms, 30s, Owner::make());
  EXPECT_EQ(third.answer, Answer::unavailable);
  EXPECT_EQ(std::string(third.text.view()), "connect: Connection refused");
}

TEST(CoordinatorWait, WhoQueuesBehindOneThatHasJustAskedIsToldThatTheLockIsBusy) {
  Script script;
  script.acquire(REENTRANT, 10s, 30s, Owner::make());
  script.pass(5ms);
  Caller& second = script.acquire(REENTRANT, 0ms, 30s, Owner::make());
  EXPECT_EQ(second.answer, Answer::busy);
}

}  // namespace
}  // namespace latchkey::sim
