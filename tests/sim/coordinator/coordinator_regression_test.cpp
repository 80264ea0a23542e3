// The bugs that the simulator found in the coordinator, each as the shortest schedule that shows
// it. The comment of a test says what went wrong.
#include <chrono>

#include <gtest/gtest.h>

#include "sim/script.hpp"

namespace latchkey::sim {
namespace {

using namespace std::chrono_literals;
using enum LockType;
using Caller = Script::Caller;

// While a verify was in flight, the next tick was due in the past, so the timer thread spun.
TEST(CoordinatorRegression, WatchdogReentryDuringAVerifyIsNotDueAtOnce) {
  Script script;
  const Owner owner = Owner::make();
  script.acquire(REENTRANT, 1s, 1'200s, owner);
  script.answer(Kind::granted);
  script.pass(400s);
  EXPECT_EQ(script.sent(), "acquire 1 1200000, verify 1");
  Caller& watched = script.lock(REENTRANT, forever, owner);
  ASSERT_EQ(watched.answer, Answer::granted);
  script.pass(1s);  // fails if ticks do not stop
}

// The release of the WRITE was delayed until the next check, a third of the lease later.
TEST(CoordinatorRegression, DowngradeIsSentOnceThePrecedingVerifyIsAnswered) {
  Script script;
  const Owner owner = Owner::make();
  Caller& write = script.acquire(WRITE, 1s, 9s, owner);
  script.answer(Kind::granted);
  script.acquire(READ, 1s, 9s, owner);
  script.pass(3s);
  Caller& end = script.release(write);
  EXPECT_EQ(script.sent(), "acquire 1 9000, verify 1");
  script.answer(Kind::granted);
  EXPECT_EQ(script.sent(), "downgrade 1 9000");
  script.answer(Kind::granted);
  EXPECT_EQ(end.answer, Answer::granted);
}

// The call that released the WRITE was never answered.
TEST(CoordinatorRegression, ReleaseBeforeTheDowngradeAnswersBothReleases) {
  Script script;
  const Owner owner = Owner::make();
  Caller& write = script.acquire(WRITE, 1s, 9s, owner);
  script.answer(Kind::granted);
  Caller& read = script.acquire(READ, 1s, 9s, owner);
  script.pass(3s);
  Caller& end_of_write = script.release(write);
  Caller& end_of_read = script.release(read);
  script.answer(Verb::verify, Kind::granted);
  script.answer(Verb::release, Kind::granted);
  EXPECT_EQ(end_of_write.answer, Answer::granted);
  EXPECT_EQ(end_of_read.answer, Answer::granted);
  EXPECT_TRUE(script.idle());
}

// The release of the READ overtook the downgrade. The release of the WRITE ended as unavailable.
TEST(CoordinatorRegression, DowngradeOfAReleasedHoldCountsAsGranted) {
  Script script(unordered());
  const Owner owner = Owner::make();
  Caller& write = script.acquire(WRITE, 1s, 9s, owner);
  script.answer(Kind::granted);
  Caller& read = script.acquire(READ, 1s, 9s, owner);
  Caller& end_of_write = script.release(write);
  script.release(read);
  script.answer(Verb::leave, Kind::granted);
  script.answer(Verb::downgrade, Kind::gone);
  EXPECT_EQ(end_of_write.answer, Answer::granted);
}

// The release named the WRITE, but the store had a READ, which stayed until its lease expired.
TEST(CoordinatorRegression, LastReadReleasedDuringADowngradeSendsLeave) {
  for (const Kind answered : {Kind::granted, Kind::unknown, Kind::refused}) {
    Script script;
    const Owner owner = Owner::make();
    Caller& write = script.acquire(WRITE, 1s, 9s, owner);
    script.answer(Kind::granted);
    Caller& read = script.acquire(READ, 1s, 9s, owner);
    Caller& end_of_write = script.release(write);
    (void)script.sent();
    if (answered != Kind::granted) script.answer(answered);
    Caller& end_of_read = script.release(read);
    EXPECT_EQ(script.sent(), "leave 1");
    if (answered == Kind::granted) script.answer(Verb::downgrade, Kind::granted);
    script.answer(Verb::leave, Kind::granted);
    EXPECT_EQ(end_of_read.answer, Answer::granted);
    EXPECT_NE(end_of_write.answer, Answer::pending);
    EXPECT_TRUE(script.idle());
  }
}

// The renewal named the WRITE, but the store had a READ. The outcome was `gone`, so the READ was
// never released.
TEST(CoordinatorRegression, ExtendAfterAnUnknownDowngradeRepeatsTheDowngradeFirst) {
  Script script;
  const Owner owner = Owner::make();
  Caller& write = script.acquire(WRITE, 1s, 9s, owner);
  script.answer(Kind::granted);
  Caller& read = script.acquire(READ, 1s, 9s, owner);
  script.release(write);
  script.answer(Kind::unknown);
  (void)script.sent();
  Caller& extend = script.extend(read, 20s);
  EXPECT_EQ(script.sent(), "downgrade 1 9000");
  script.answer(Kind::granted);
  EXPECT_EQ(script.sent(), "renew 1 20000");
  script.answer(Kind::granted);
  EXPECT_EQ(extend.answer, Answer::granted);
  script.release(read);
}

// The release of the WRITE ended as unavailable without a reason.
TEST(CoordinatorRegression, UnknownDowngradeIsAnsweredByTheReleaseAfterIt) {
  for (const Kind release : {Kind::granted, Kind::unknown}) {
    Script script;
    const Owner owner = Owner::make();
    Caller& write = script.acquire(WRITE, 1s, 9s, owner);
    script.answer(Kind::granted);
    Caller& read = script.acquire(READ, 1s, 9s, owner);
    Caller& end_of_write = script.release(write);
    script.release(read);
    Outcome unknown = Script::of(Kind::unknown);
    unknown.reason = "why";
    script.answer(Verb::downgrade, unknown);
    EXPECT_EQ(end_of_write.answer, Answer::pending);
    Outcome outcome = Script::of(release);
    outcome.reason = "why";
    script.answer(Verb::leave, outcome);
    const bool sure = release == Kind::granted;
    EXPECT_EQ(end_of_write.answer, sure ? Answer::granted : Answer::unavailable);
    EXPECT_EQ(end_of_write.reason.view(), sure ? "" : "why");
    if (!sure) script.pass(1s);
    if (!sure) script.answer(Verb::leave, Kind::granted);
    EXPECT_TRUE(script.idle());
  }
}

// The extend was delayed until the next check and ended as unavailable although nothing had failed.
TEST(CoordinatorRegression, ExtendDuringADowngradeIsSentAfterIt) {
  Script script;
  const Owner owner = Owner::make();
  Caller& write = script.acquire(WRITE, 1s, 9s, owner);
  script.answer(Kind::granted);
  Caller& read = script.acquire(READ, 1s, 9s, owner);
  script.release(write);
  Caller& extend = script.extend(read, 20s);
  (void)script.sent();
  script.answer(Kind::granted);
  EXPECT_EQ(script.sent(), "renew 1 20000");
  script.answer(Kind::granted);
  EXPECT_EQ(extend.answer, Answer::granted);
}

// A thread of the owner was granted the WRITE although the store had only a READ.
TEST(CoordinatorRegression, WriteReenteredBeforeTheDowngradeStaysAWrite) {
  Script script;
  const Owner owner = Owner::make();
  Caller& write = script.acquire(WRITE, 1s, 9s, owner);
  script.answer(Kind::granted);
  script.acquire(READ, 1s, 9s, owner);
  Caller& again = script.acquire(WRITE, 1s, 30s, owner);
  Caller& end = script.release(write);
  EXPECT_EQ(script.sent(), "acquire 1 9000, renew 1 30000");
  script.answer(Kind::granted);
  EXPECT_EQ(again.answer, Answer::granted);
  EXPECT_EQ(end.answer, Answer::granted);
  EXPECT_EQ(script.sent(), "") << "a WRITE that is still held is not downgraded";
}

TEST(CoordinatorRegression, WriteReentryPendingAtTheDowngradeIsADeadlock) {
  Script script;
  const Owner owner = Owner::make();
  Caller& write = script.acquire(WRITE, 1s, 9s, owner);
  script.answer(Kind::granted);
  script.acquire(READ, 1s, 9s, owner);
  Caller& again = script.acquire(WRITE, 5s, 30s, owner);
  script.answer(Kind::unknown);
  (void)script.sent();
  script.release(write);
  EXPECT_EQ(script.sent(), "downgrade 1 9000");
  EXPECT_EQ(again.answer, Answer::would_deadlock);
  EXPECT_EQ(again.held_as, READ);
}

// Each extend postponed the next check, so frequent extends kept the watchdog from renewing.
TEST(CoordinatorRegression, WatchdogRenewsDespiteFrequentShortExtends) {
  Script script;
  Caller& held = script.acquire(REENTRANT, 1s, watchdog);
  script.answer(Kind::granted);
  for (int round = 0; round < 6; ++round) {
    script.pass(9s);
    script.extend(held, 100ms);
    script.answer(Kind::granted);
    ASSERT_FALSE(script.lost(held)) << "round " << round;
  }
  script.release(held);
}

// The attempt ran after its release, and the hold that it was granted stayed until the lease
// expired.
TEST(CoordinatorRegression, ReleaseThatOvertookItsAttemptIsRepeated) {
  Script script(unordered());
  Caller& call = script.acquire(REENTRANT, 5s, 30s);
  script.cancel(call);
  EXPECT_EQ(script.sent(), "acquire 1 30000, release 1");
  script.answer(Verb::acquire, Kind::granted);  // it ran last although its reply arrived first
  script.answer(Verb::release, Kind::gone);
  EXPECT_EQ(script.sent(), "release 1");
  script.answer(Kind::granted);
  EXPECT_TRUE(script.idle());
}

// The attempt ran after its leave, and its place in the FAIR queue blocked all others for 15 s.
TEST(CoordinatorRegression, LeaveThatOvertookItsAttemptIsRepeated) {
  for (const bool attempt_answered_first : {true, false}) {
    Script script(unordered());
    Caller& call = script.acquire(FAIR, 5s, 30s);
    script.cancel(call);
    if (attempt_answered_first) script.answer(Verb::acquire, Script::busy(10s));
    script.answer(Verb::leave, Kind::gone);
    if (!attempt_answered_first) script.answer(Verb::acquire, Script::busy(10s));
    EXPECT_EQ(script.sent(), "acquire 1 30000, leave 1, leave 1");
    script.answer(Kind::granted);
    EXPECT_TRUE(script.idle());
  }
}

// The attempt had no reply and may have run after its release. Nothing removed its hold then.
TEST(CoordinatorRegression, AttemptUnknownAfterItsReleaseIsReleasedUntilItsLeaseExpires) {
  Script script(unordered());
  Caller& call = script.acquire(REENTRANT, 5s, 3s);
  script.cancel(call);
  script.answer(Verb::release, Kind::gone);
  (void)script.sent();
  script.answer(Verb::acquire, Kind::unknown);
  EXPECT_EQ(script.sent(), "release 1");
  script.answer(Kind::gone);
  for (int second = 0; second < 3; ++second) {
    script.pass(1s);
    EXPECT_EQ(script.sent(), "release 1");
    script.answer(Kind::gone);
  }
  EXPECT_TRUE(script.idle());
}

// No thread drove the backend after the caller had left. If the release needed a second command,
// such as the script in full, that command was not sent, and a place in a FAIR queue blocked others
// for 15 s.
TEST(CoordinatorRegression, ReleaseWithoutACallerKeepsTheTimerThreadDriving) {
  Script script;
  Caller& call = script.acquire(REENTRANT, 5s, 30s);
  script.cancel(call);
  EXPECT_EQ(script.sent(), "acquire 1 30000, release 1");
  script.answer(Verb::acquire, Kind::granted);
  EXPECT_TRUE(script.timer_is_needed());
  script.pass(10s);
  EXPECT_TRUE(script.timer_is_needed());
  EXPECT_EQ(script.sent(), "") << "it drives but sends nothing more";
  script.answer(Verb::release, Kind::granted);
  EXPECT_FALSE(script.timer_is_needed());
  EXPECT_TRUE(script.idle());
}

// The leave was repeated only until the end of the lease. The place in the queue lasted longer and
// blocked the next waiter.
TEST(CoordinatorRegression, UnknownLeaveIsRepeatedUntilTheQueuePlaceExpires) {
  Script script;
  Caller& call = script.acquire(FAIR, 5s, 1s);
  script.answer(Verb::acquire, Script::busy(10s));
  script.cancel(call);
  (void)script.sent();
  for (int second = 1; second < 15; ++second) {
    script.answer(Verb::leave, Kind::unknown);
    script.pass(1s);
    ASSERT_EQ(script.sent(), "leave 1") << second;
  }
  script.answer(Verb::leave, Kind::gone);
}

}  // namespace
}  // namespace latchkey::sim
