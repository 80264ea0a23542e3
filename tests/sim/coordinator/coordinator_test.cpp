// The coordinator's main flows, request by request.
#include <chrono>

#include <gtest/gtest.h>

#include "sim/script.hpp"

namespace latchkey::sim {
namespace {

using namespace std::chrono_literals;
using enum LockType;
using Caller = Script::Caller;

TEST(Coordinator, UncontendedLockSendsOneAcquireAndOneRelease) {
  Script script;
  Caller& call = script.acquire(REENTRANT, 3s, 30s);
  EXPECT_EQ(script.sent(), "acquire 1 30000");
  EXPECT_EQ(call.answer, Answer::pending);
  script.pass(2ms);
  script.answer(Kind::granted);
  EXPECT_EQ(call.answer, Answer::granted);
  EXPECT_EQ(script.sent(), "");
  Caller& end = script.release(call);
  EXPECT_EQ(script.sent(), "release 1");
  script.answer(Kind::granted);
  EXPECT_EQ(end.answer, Answer::granted);
  EXPECT_TRUE(script.idle());
}

TEST(Coordinator, DeadlineCountsFromTheSendTimeMinusAMargin) {
  Script script;
  Caller& call = script.acquire(REENTRANT, 3s, 10s);
  script.pass(200ms);
  script.answer(Kind::granted);
  EXPECT_EQ(script.left(call), 10s - 200ms - 100ms);
  Script brief;
  Caller& shorter = brief.acquire(REENTRANT, 3s, 100ms);
  brief.answer(Kind::granted);
  EXPECT_EQ(brief.left(shorter), 95ms);
}

TEST(Coordinator, ReentrySendsNothingWhileTwoThirdsOfTheLeaseRemain) {
  Script script;
  const Owner owner = Owner::make();
  Caller& outer = script.acquire(REENTRANT, 3s, 30s, owner);
  script.answer(Kind::granted);
  (void)script.sent();
  script.pass(9'700ms);
  Caller& inner = script.acquire(REENTRANT, 0ms, 30s, owner);
  EXPECT_EQ(inner.answer, Answer::granted);
  EXPECT_EQ(script.sent(), "");
  EXPECT_EQ(script.release(inner).answer, Answer::granted);
  EXPECT_EQ(script.sent(), "");
  script.release(outer);
  EXPECT_EQ(script.sent(), "release 1");
}

TEST(Coordinator, ReentryBelowTwoThirdsOfTheLeaseAwaitsARenewal) {
  Script script;
  const Owner owner = Owner::make();
  script.acquire(REENTRANT, 3s, 3s, owner);
  script.answer(Kind::granted);
  (void)script.sent();
  Caller& inner = script.acquire(REENTRANT, 1s, 30s, owner);
  EXPECT_EQ(script.sent(), "renew 1 30000");
  EXPECT_EQ(inner.answer, Answer::pending);
  script.answer(Kind::granted);
  EXPECT_EQ(inner.answer, Answer::granted);
  EXPECT_EQ(script.left(inner), 30s - 300ms);
}

TEST(Coordinator, ReentryUnderTheWatchdogSendsNothing) {
  Script script;
  const Owner owner = Owner::make();
  script.lock(REENTRANT, forever, owner);
  script.answer(Kind::granted);
  script.pass(9s);
  (void)script.sent();
  EXPECT_EQ(script.lock(REENTRANT, forever, owner).answer, Answer::granted);
  EXPECT_EQ(script.sent(), "");
}

TEST(Coordinator, OtherTypeOfTheSameOwnerIsADeadlockExceptReadInsideWrite) {
  Script script;
  const Owner owner = Owner::make();
  script.acquire(WRITE, 3s, 30s, owner);
  script.answer(Kind::granted);
  EXPECT_EQ(script.acquire(READ, 0ms, 30s, owner).answer, Answer::granted);
  const Caller& plain = script.acquire(REENTRANT, 1s, 30s, owner);
  EXPECT_EQ(plain.answer, Answer::would_deadlock);
  EXPECT_EQ(plain.held_as, WRITE);
  EXPECT_EQ(script.sent(), "acquire 1 30000");
}

TEST(Coordinator, WatchdogRenewsEveryThirdOfItsLease) {
  Script script;
  Caller& call = script.acquire(REENTRANT, 3s, watchdog);
  script.answer(Kind::granted);
  EXPECT_EQ(script.sent(), "acquire 1 30000");
  for (int period = 0; period < 3; ++period) {
    script.pass(9'990ms);
    EXPECT_EQ(script.sent(), "");
    script.pass(10ms);
    EXPECT_EQ(script.sent(), "renew 1 30000");
    script.answer(Kind::granted);
    EXPECT_EQ(script.left(call), 29'700ms);
  }
}

TEST(Coordinator, ExplicitLeaseIsVerifiedAndNotExtended) {
  Script script;
  Caller& call = script.acquire(REENTRANT, 3s, 9s);
  script.answer(Kind::granted);
  (void)script.sent();
  script.pass(3s);
  EXPECT_EQ(script.sent(), "verify 1");
  script.answer(Kind::granted);
  EXPECT_EQ(script.left(call), 9s - 90ms - 3s);
  script.pass(3s);
  EXPECT_EQ(script.sent(), "verify 1");
  script.answer(Kind::gone);
  EXPECT_TRUE(script.lost(call));
  EXPECT_EQ(script.release(call).answer, Answer::lost);
  EXPECT_EQ(script.sent(), "") << "a hold that is gone needs no release";
  EXPECT_TRUE(script.idle());
}

TEST(Coordinator, RenewalAnsweredAfterTheDeadlineLeavesTheHoldLost) {
  Script script;
  Caller& call = script.acquire(REENTRANT, 3s, watchdog);
  script.answer(Kind::granted);
  script.pass(10s);
  script.pass(20s);
  EXPECT_TRUE(script.lost(call));
  script.answer(Kind::granted);
  EXPECT_TRUE(script.lost(call));
  EXPECT_EQ(script.release(call).answer, Answer::lost);
}

TEST(Coordinator, BusyAcquireSubscribesAndTriesAgainOnRelease) {
  Script script;
  Caller& call = script.acquire(REENTRANT, 30s, 30s);
  script.answer(Script::busy(20s));
  EXPECT_EQ(script.sent(), "acquire 1 30000, subscribe");
  script.answer(Kind::granted);
  EXPECT_EQ(script.sent(), "acquire 1 30000")
      << "a release before the subscription may have been missed";
  script.answer(Script::busy(20s));
  script.pass(790ms);
  EXPECT_EQ(script.sent(), "");
  script.notify(Notification::Kind::released);
  EXPECT_EQ(script.sent(), "acquire 1 30000");
  script.answer(Kind::granted);
  EXPECT_EQ(call.answer, Answer::granted);
  EXPECT_EQ(script.sent(), "unsubscribe");
}

TEST(Coordinator, SafetyPollIntervalDoublesUpToFiveSeconds) {
  Script script;
  script.acquire(REENTRANT, forever, 30s);
  script.answer(Script::of(Kind::busy));
  script.answer(Kind::granted);
  script.answer(Script::of(Kind::busy));
  (void)script.sent();
  // The first "busy" used the interval of 1 s, the second begins that of 2 s. Each varies by 20 %.
  for (const milliseconds pause : {2s, 4s, 5s, 5s}) {
    script.pass(pause * 4 / 5 - 1ms);
    EXPECT_EQ(script.sent(), "");
    milliseconds more{};
    while (script.open() == 0 && more < pause) {
      script.pass(1ms);
      more += 1ms;
    }
    EXPECT_LE(more, pause * 2 / 5 + 1ms);
    EXPECT_EQ(script.sent(), "acquire 1 30000");
    script.answer(Script::of(Kind::busy));
  }
}

TEST(Coordinator, ReleaseNotificationsDuringAnAttemptCauseOneMoreAttempt) {
  Script script;
  script.acquire(REENTRANT, 30s, 30s);
  script.answer(Script::busy(20s));
  script.answer(Kind::granted);
  (void)script.sent();
  script.notify(Notification::Kind::released);
  script.notify(Notification::Kind::released);
  EXPECT_EQ(script.sent(), "");
  script.answer(Script::busy(20s));
  EXPECT_EQ(script.sent(), "acquire 1 30000");
  script.answer(Script::busy(20s));
  EXPECT_EQ(script.sent(), "");
}

TEST(Coordinator, AcquireWithoutAWaitMakesOneAttempt) {
  Script script;
  Caller& call = script.acquire(REENTRANT, 0ms, 30s);
  script.answer(Script::busy(20s));
  EXPECT_EQ(call.answer, Answer::busy);
  EXPECT_EQ(script.sent(), "acquire 1 30000");
  EXPECT_TRUE(script.idle());
}

TEST(Coordinator, WaitEndsAsBusyAfterABusyReplyAndAsUnavailableWithoutAReply) {
  Script script;
  Caller& busy = script.acquire(REENTRANT, 500ms, 30s);
  script.answer(Script::busy(20s));
  script.answer(Kind::granted);
  script.answer(Script::busy(20s));
  script.pass(500ms);
  EXPECT_EQ(busy.answer, Answer::busy);
  Script silent;
  Caller& unknown = silent.acquire(REENTRANT, 500ms, 30s);
  silent.pass(2s);
  EXPECT_EQ(unknown.answer, Answer::unavailable);
  EXPECT_EQ(silent.sent(), "acquire 1 30000, release 1");
}

TEST(Coordinator, EndlessWaitEndsAsUnavailableAfterTenSecondsOfSilence) {
  Script script;
  Caller& call = script.acquire(REENTRANT, forever, 30s);
  script.pass(9'999ms);
  EXPECT_EQ(call.answer, Answer::pending);
  script.pass(1ms);
  EXPECT_EQ(call.answer, Answer::unavailable);
}

TEST(Coordinator, UnknownAttemptIsReleasedEverySecondOnAnUnorderedBackend) {
  Script script(unordered());
  Caller& call = script.acquire(REENTRANT, 0ms, 5s);
  script.answer(Kind::unknown);
  EXPECT_EQ(call.answer, Answer::unavailable);
  EXPECT_EQ(script.sent(), "acquire 1 5000, release 1");
  for (int second = 1; second <= 5; ++second) {
    script.answer(Kind::gone);
    EXPECT_FALSE(script.idle());
    script.pass(1s);
    EXPECT_EQ(script.sent(), "release 1");
  }
  script.answer(Kind::gone);
  EXPECT_TRUE(script.idle());
}

TEST(Coordinator, UnknownAttemptIsReleasedOnceOnAnOrderedBackend) {
  Script script;
  script.acquire(REENTRANT, 0ms, 5s);
  script.answer(Kind::unknown);
  script.answer(Kind::gone);
  EXPECT_EQ(script.sent(), "acquire 1 5000, release 1");
  EXPECT_TRUE(script.idle());
}

TEST(Coordinator, CancelledAttemptIsFollowedByARelease) {
  Script script;
  Caller& call = script.acquire(REENTRANT, 30s, 30s);
  script.cancel(call);
  EXPECT_EQ(call.answer, Answer::cancelled);
  EXPECT_EQ(script.sent(), "acquire 1 30000, release 1");
  script.answer(Kind::granted);
  script.answer(Kind::granted);
  EXPECT_TRUE(script.idle());
}

}  // namespace
}  // namespace latchkey::sim
