// Tests of a coordinator's answers and releases while the backend does not answer.
#include <chrono>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "permits.hpp"

namespace latchkey::sim {
namespace {

using namespace std::chrono_literals;
using enum LockType;
using Caller = Script::Caller;

/// A request that was never sent.
Outcome never_ran() {
  Outcome outcome = Script::of(Kind::unknown);
  outcome.never_ran = true;
  outcome.reason = "connect: Connection refused";
  return outcome;
}

std::vector<Caller*> start_calls(Script& script, int count, Wait wait) {
  std::vector<Caller*> calls;
  for (int index = 0; index < count; ++index) {
    calls.push_back(&script.acquire(REENTRANT, wait, 30s, Owner::make()));
  }
  return calls;
}

void expect_all(const std::vector<Caller*>& calls, Answer answer) {
  for (const Caller* const call : calls) EXPECT_EQ(call->answer, answer);
}

// The first call gave up, and the next one had just sent its attempt when the waits of the others
// ended: they were told that the key is busy.
TEST(CoordinatorOutage, WaitersAfterOneThatGaveUpWithoutAReplyAreUnavailable) {
  Script script;
  const auto calls = start_calls(script, 4, 300ms);
  script.pass(250ms);
  script.answer(Kind::unknown);
  script.pass(100ms);
  expect_all(calls, Answer::unavailable);
}

TEST(CoordinatorOutage, WaitersAreUnavailableAlthoughNoAttemptWasSent) {
  Script script;
  const auto calls = start_calls(script, 4, 300ms);
  script.answer(never_ran());
  script.pass(100ms);
  script.answer(never_ran());
  script.pass(250ms);
  expect_all(calls, Answer::unavailable);
}

// They said "no answer", and only the first said what an operator needs to know.
TEST(CoordinatorOutage, AllWaitersSayWhyAsTheFirstDoes) {
  Script script;
  const auto calls = start_calls(script, 4, 300ms);
  script.answer(never_ran());
  script.pass(100ms);
  script.answer(never_ran());
  script.pass(250ms);
  for (const Caller* const call : calls) {
    EXPECT_EQ(call->reason.view(), "connect: Connection refused");
  }
  while (script.open() > 0) script.answer(Kind::granted);
  Caller& later = script.acquire(REENTRANT, 300ms, 30s, Owner::make());
  script.pass(400ms);
  EXPECT_EQ(later.reason.view(), "no answer") << "the server has answered since";
}

// The release that has no reply is repeated. Each repetition counted as a request that is too young
// to be missed.
TEST(CoordinatorOutage, WaiterAfterARepeatedReleaseIsUnavailable) {
  Script script(unordered());
  Caller& held = script.acquire(REENTRANT, 1s, 30s, Owner::make());
  script.answer(Kind::granted);
  Caller& waiter = script.acquire(REENTRANT, 1'010ms, 30s, Owner::make());
  script.release(held);
  script.answer(Kind::unknown);  // the waiter's attempt follows
  script.pass(1'100ms);
  EXPECT_EQ(waiter.answer, Answer::unavailable);
}

TEST(CoordinatorOutage, WaitersBehindAnUnansweredReleaseAreUnavailable) {
  Script script(with_cohorts());
  Caller& held = script.acquire(REENTRANT, 1s, 30s, Owner::make());
  script.answer(Kind::granted);
  script.pass(1s);  // the cohort has ended: the release asks whether others wait
  Caller& waiter = script.acquire(REENTRANT, 300ms, 30s, Owner::make());
  script.release(held);
  script.pass(300ms);
  EXPECT_EQ(waiter.answer, Answer::unavailable) << "nobody holds the key, as far as is known";
}

TEST(CoordinatorOutage, AttemptBehindAnotherIsUnavailableWhileTheOnlyConnectionIsDown) {
  Script script;
  script.acquire(REENTRANT, 10s, 30s, Owner::make());
  script.notify(Notification::Kind::link_down);
  Caller& second = script.acquire(REENTRANT, 0ms, 30s, Owner::make());
  EXPECT_EQ(second.answer, Answer::unavailable);
  script.notify(Notification::Kind::link_up);
  Caller& third = script.acquire(REENTRANT, 0ms, 30s, Owner::make());
  EXPECT_EQ(third.answer, Answer::busy);
}

// A slow server: the reply during the wait counts, and not the age of the request after it.
TEST(CoordinatorOutage, WaitersAfterAReplyThatTheKeyIsBusyAreBusy) {
  Script script;
  const auto calls = start_calls(script, 4, 300ms);
  script.answer(Script::busy(20s));
  script.answer(Verb::subscribe, Kind::granted);
  script.pass(350ms);
  expect_all(calls, Answer::busy);
}

// Every claim of an outage was released every second until its lease and its place had ended.
TEST(CoordinatorOutage, AClaimThatNeverRanIsNotReleased) {
  Script script;
  Caller& call = script.acquire(REENTRANT, 20ms, 30s);
  script.pass(60ms);
  EXPECT_EQ(call.answer, Answer::unavailable);
  EXPECT_EQ(script.sent(), "acquire 1 30000, release 1");
  script.answer(Verb::acquire, never_ran());
  script.answer(Verb::release, never_ran());
  EXPECT_TRUE(script.idle());
}

TEST(CoordinatorOutage, AClaimThatNeverRanIsNotReleasedIfItsReplyIsTheLast) {
  Script script;
  script.acquire(FAIR, 20ms, 30s);
  script.pass(60ms);
  script.answer(Verb::leave, never_ran());
  (void)script.sent();
  script.answer(Verb::acquire, never_ran());
  EXPECT_TRUE(script.idle());
  EXPECT_EQ(script.sent(), "");
}

TEST(CoordinatorOutage, AClaimOfWhichOneAttemptMayHaveRunIsReleased) {
  Script script;
  Caller& call = script.acquire(REENTRANT, 200ms, 30s);
  script.answer(Kind::unknown);
  script.pass(100ms);
  script.answer(never_ran());
  script.pass(150ms);
  EXPECT_EQ(call.answer, Answer::unavailable);
  (void)script.sent();
  while (script.open() > 0) script.answer(never_ran());
  script.pass(1s);
  EXPECT_EQ(script.sent(), "release 1");
  script.answer(Kind::gone);
  EXPECT_TRUE(script.idle());
}

TEST(CoordinatorOutage, ReleasesThatAreNotSentAreRepeatedAtGrowingPausesUntilTheLinkIsUp) {
  Script script;
  Caller& held = script.acquire(REENTRANT, 1s, 60s);
  script.answer(Kind::granted);
  script.release(held);
  script.answer(never_ran());
  (void)script.sent();
  for (const milliseconds pause : {1'000ms, 2'000ms, 4'000ms, 8'000ms, 8'000ms}) {
    script.pass(pause - 1ms);
    EXPECT_EQ(script.sent(), "") << pause.count();
    script.pass(1ms);
    EXPECT_EQ(script.sent(), "release 1") << pause.count();
    script.answer(never_ran());
  }
  script.notify(Notification::Kind::link_up);
  EXPECT_EQ(script.sent(), "release 1");
  script.answer(Kind::granted);
  EXPECT_TRUE(script.idle());
}

TEST(CoordinatorOtherKind, ASemaphoreWithTheKeyOfALockOfThisProcessIsRefused) {
  Permits script;
  script.acquire(REENTRANT, 1s, 30s, Owner::make());
  script.answer(Kind::granted);
  Caller& permit = script.acquire(PERMIT, forever, 30s, Owner::make());
  EXPECT_EQ(permit.answer, Answer::refused);
  EXPECT_EQ(permit.reason.view(), "the key is a lock");
}

TEST(CoordinatorOtherKind, ALockWithTheKeyOfASemaphoreOfThisProcessIsRefused) {
  Permits script;
  script.hold(1);
  Caller& lock = script.acquire(REENTRANT, forever, 30s, Owner::make());
  EXPECT_EQ(lock.answer, Answer::refused);
  EXPECT_EQ(lock.reason.view(), "the key is a semaphore");
}

TEST(CoordinatorOtherKind, WaitingCallsAreRefusedOnceTheKeyIsALock) {
  Permits script;
  script.acquire(REENTRANT, 3s, 30s, Owner::make());
  Caller& first = script.acquire(PERMIT, forever, 30s, Owner::make());
  Caller& second = script.acquire(PERMIT, forever, 30s, Owner::make());
  Caller& lock = script.acquire(REENTRANT, 3s, 30s, Owner::make());
  EXPECT_EQ(first.answer, Answer::pending);
  script.answer(Kind::granted);
  EXPECT_EQ(first.answer, Answer::refused);
  EXPECT_EQ(second.answer, Answer::refused);
  EXPECT_EQ(lock.answer, Answer::pending);
  script.cancel(lock);
}

TEST(CoordinatorOutage, AnExtendWithoutAReplyIsNotBusyBecauseANeighbourIs) {
  Script script;
  Caller& held = script.acquire(READ, 1s, 30s, Owner::make());
  script.answer(Kind::granted);
  Caller& extend = script.extend(held, 60s);
  Caller& neighbour = script.acquire(READ, 20s, 30s, Owner::make());
  EXPECT_EQ(script.sent(), "acquire 1 30000, renew 1 60000, acquire 2 30000");
  script.answer(Verb::acquire, Kind::busy);
  EXPECT_EQ(neighbour.answer, Answer::pending);
  script.pass(2s);
  EXPECT_EQ(extend.answer, Answer::unavailable);
  EXPECT_EQ(neighbour.answer, Answer::pending);
}

}  // namespace
}  // namespace latchkey::sim
