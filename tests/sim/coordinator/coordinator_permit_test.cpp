// Permits of a semaphore: calls that do not block each other, and attempts that are not made in
// vain.
#include <chrono>

#include <gtest/gtest.h>

#include "permits.hpp"

namespace latchkey::sim {
namespace {

using namespace std::chrono_literals;
using Caller = Script::Caller;

TEST(CoordinatorPermit, AHoldOfThisProcessBlocksNoCall) {
  Permits script;
  script.hold(2);
  Caller& second = script.take();
  EXPECT_EQ(script.sent(), "acquire 2 30000");
  script.answer(granted(1));
  EXPECT_EQ(second.answer, Answer::granted);
}

TEST(CoordinatorPermit, OnlyTheFirstWaitingCallAsks) {
  Permits script;
  script.hold(0);
  script.wait_first();
  script.take();
  script.take();
  EXPECT_EQ(script.sent(), "");
}

TEST(CoordinatorPermit, APermitGoesToTheFirstWaitingCallWithoutTheBackendAndTheNextAsksNothing) {
  Permits script(with_cohorts());
  Caller& holder = script.hold(0);
  Caller& first = script.wait_first();
  Caller& second = script.take();
  Caller& third = script.take();
  script.pass(1ms);
  EXPECT_EQ(script.release(holder).answer, Answer::granted);
  EXPECT_EQ(first.answer, Answer::granted);
  script.release(first);
  EXPECT_EQ(second.answer, Answer::granted);
  EXPECT_EQ(third.answer, Answer::pending);
  EXPECT_EQ(script.sent(), "");
  // A release of another process is notified: the third has the claim of the first.
  script.notify(Notification::Kind::released);
  EXPECT_EQ(script.sent(), "acquire 2 30000");
  script.answer(granted(0));
  EXPECT_EQ(third.answer, Answer::granted);
}

// The subscription, and the record of the key, stayed until the next call.
TEST(CoordinatorPermit, APermitThatIsKeptForAWhileEndsTheSubscriptionOfThoseWhoWaited) {
  Permits script(with_cohorts());
  Caller& holder = script.hold(0);
  Caller& first = script.wait_first();
  script.release(holder);
  EXPECT_EQ(first.answer, Answer::granted);
  script.release(first, 5s);
  EXPECT_EQ(script.sent(), "unsubscribe");
  script.answer(Verb::unsubscribe, Kind::granted);
  script.pass(5s);
  EXPECT_EQ(script.sent(), "release 1");
  script.answer(Kind::granted);
  EXPECT_TRUE(script.idle());
}

/// One holds, and of those that wait the first has an attempt in flight: a release of another
/// process was notified.
class AttemptInFlight : public Permits {
 public:
  explicit AttemptInFlight(Lease lease_of_second = 30s)
      : Permits(with_cohorts()),
        holder(hold(0)),
        first(wait_first()),
        second(take(lease_of_second)),
        third(take()) {
    notify(Notification::Kind::released);
    EXPECT_EQ(sent(), "acquire 2 30000");
  }

  Caller &holder, &first, &second, &third;
};

TEST(CoordinatorPermit, AnAttemptInFlightIsPassedOnWithItsReply) {
  AttemptInFlight script;
  script.release(script.holder);
  EXPECT_EQ(script.first.answer, Answer::granted);
  EXPECT_EQ(script.sent(), "");
  script.answer(granted(0));
  EXPECT_EQ(script.second.answer, Answer::granted);
  EXPECT_EQ(script.third.answer, Answer::pending);
  EXPECT_EQ(script.sent(), "");
}

TEST(CoordinatorPermit, AnAttemptInFlightIsPassedOnMoreThanOnce) {
  AttemptInFlight script;
  script.release(script.holder);
  script.release(script.first);
  EXPECT_EQ(script.second.answer, Answer::granted);
  script.answer(Script::busy(20s));
  EXPECT_EQ(script.third.answer, Answer::pending);
  script.notify(Notification::Kind::released);
  EXPECT_EQ(script.sent(), "acquire 2 30000");
  script.answer(granted(0));
  EXPECT_EQ(script.third.answer, Answer::granted);
}

TEST(CoordinatorPermit, AnAttemptInFlightForAnotherLeaseIsNotPassedOn) {
  AttemptInFlight script(20s);
  script.release(script.holder);
  EXPECT_EQ(script.first.answer, Answer::pending);
  EXPECT_EQ(script.sent(), "release 1");
  script.answer(Verb::acquire, granted(0));
  EXPECT_EQ(script.first.answer, Answer::granted);
}

TEST(CoordinatorPermit, AnAttemptInFlightThatNobodyNeedsIsNotGivenUp) {
  AttemptInFlight script;
  script.cancel(script.third);
  script.cancel(script.second);
  script.release(script.holder);
  EXPECT_EQ(script.first.answer, Answer::pending);
  EXPECT_EQ(script.sent(), "release 1");
}

TEST(CoordinatorPermit, WhoGetsAnAttemptInFlightWithoutAReplyIsToldThatNobodyCanTell) {
  AttemptInFlight script;
  script.release(script.holder);
  script.answer(Verb::acquire, Kind::unknown);
  script.pass(4s);
  EXPECT_EQ(script.second.answer, Answer::unavailable);
}

TEST(CoordinatorPermit, AfterTheCohortAHandOffTakesTwoCommands) {
  Permits script(with_cohorts());
  Caller* holder = &script.hold(0);
  Caller* next = &script.wait_first();
  for (int hand_off = 0; hand_off < 5; ++hand_off) {
    Caller& last = script.take();
    script.pass(100ms);  // the cohort has ended
    const std::string number = hand_off == 0 ? "1" : std::to_string(hand_off + 1);
    script.release(*holder);
    EXPECT_EQ(script.sent(), "release " + number);
    script.answer(Verb::release, Kind::granted);
    script.notify(Notification::Kind::released);
    EXPECT_EQ(script.sent(), "acquire " + std::to_string(hand_off + 2) + " 30000");
    script.answer(granted(0));
    EXPECT_EQ(next->answer, Answer::granted);
    EXPECT_EQ(last.answer, Answer::pending);
    EXPECT_EQ(script.sent(), "") << "the next call asks although no permit is left";
    holder = next;
    next = &last;
  }
}

TEST(CoordinatorPermit, WhatIsLeftAfterAGrantIsAskedForAtOnce) {
  Permits script;
  Caller& holder = script.hold(0);
  Caller& first = script.wait_first();
  Caller& second = script.take();
  script.release(holder);
  script.answer(Verb::release, Kind::granted);
  script.notify(Notification::Kind::released);
  (void)script.sent();
  script.answer(granted(1));
  EXPECT_EQ(first.answer, Answer::granted);
  EXPECT_EQ(script.sent(), "acquire 3 30000");
  script.answer(granted(0));
  EXPECT_EQ(second.answer, Answer::granted);
}

// The grant says that nothing is left, and was made before the release.
TEST(CoordinatorPermit, AReleaseThatIsNotifiedDuringTheAttemptIsNotForgotten) {
  Permits script;
  Caller& holder = script.hold(0);
  script.wait_first();
  script.take();
  script.release(holder);
  script.answer(Verb::release, Kind::granted);
  script.notify(Notification::Kind::released);
  (void)script.sent();
  script.notify(Notification::Kind::released);
  script.answer(granted(0));
  EXPECT_EQ(script.sent(), "acquire 3 30000");
  script.answer(granted(0));
}

TEST(CoordinatorPermit, ACallThatWasToldThatNothingIsLeftAsksAgainWithoutANotice) {
  Permits script;
  Caller& holder = script.hold(0);
  script.wait_first();
  Caller& second = script.take();
  script.release(holder);
  script.answer(Verb::release, Kind::granted);
  script.notify(Notification::Kind::released);
  script.answer(granted(0));
  (void)script.sent();
  script.pass(1'000ms);
  EXPECT_EQ(script.sent(), "acquire 3 30000");
  script.answer(granted(0));
  EXPECT_EQ(second.answer, Answer::granted);
}

TEST(CoordinatorPermit, ACallThatWantsAnotherNumberTakesNothingOver) {
  Permits script(with_cohorts());
  Caller& holder = script.hold(0);
  const Permits::Caller& first = script.wait_first();
  EXPECT_EQ(first.answer, Answer::pending);
  holder.hold->set_permits({2, 3});  // as if it had asked for two
  script.release(holder);
  EXPECT_EQ(first.answer, Answer::pending);
  EXPECT_EQ(script.sent(), "release 1");
  script.answer(Verb::release, Kind::granted);
  script.notify(Notification::Kind::released);
  script.answer(granted(1));
}

TEST(CoordinatorPermit, ACallThatTakesAClaimOverForAnotherNumberAsksAtOnce) {
  Permits script(with_cohorts());
  Caller& holder = script.hold(1);
  script.wait_first();
  Caller& second = script.take();
  second.permits = {2, 3};
  script.release(holder);
  EXPECT_EQ(script.sent(), "acquire 2 30000");
  script.answer(granted(0));
  EXPECT_EQ(second.answer, Answer::granted);
}

// Found by the simulator, seed 1333046: a copy of the attempt took the other number.
TEST(CoordinatorPermit, ACallForAnotherNumberTakesNoClaimOverIfCopiesMayRun) {
  CoordinatorSettings settings = with_cohorts();
  settings.in_order = false;
  Permits script(settings);
  Caller& holder = script.hold(1);
  script.wait_first();
  Caller& second = script.take();
  second.permits = {2, 3};
  script.release(holder);
  EXPECT_EQ(script.sent(), "acquire 3 30000");
  while (script.open() > 0) script.answer(granted(0));
  EXPECT_EQ(second.answer, Answer::granted);
}

TEST(CoordinatorPermit, ACallThatGaveUpLeavesItsPlaceToTheNext) {
  Permits script;
  script.hold(0);
  Caller& first = script.wait_first();
  Caller& second = script.take();
  script.cancel(first);
  EXPECT_EQ(first.answer, Answer::cancelled);
  EXPECT_EQ(script.sent(), "");  // a moment ago nothing was left
  script.pass(2'500ms);
  EXPECT_EQ(script.sent(), "acquire 2 30000");
  script.answer(Script::busy(20s));
  EXPECT_EQ(second.answer, Answer::pending);
  script.pass(3s);
  while (script.open() > 0) script.answer(Script::busy(20s));
  EXPECT_EQ(second.answer, Answer::busy);
}

}  // namespace
}  // namespace latchkey::sim
