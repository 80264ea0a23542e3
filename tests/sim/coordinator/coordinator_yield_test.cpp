// Other processes that wait for a key go first.
#include <chrono>

#include <gtest/gtest.h>

#include "sim/in_line.hpp"

namespace latchkey::sim {
namespace {

using namespace std::chrono_literals;
using enum LockType;
using Caller = Script::Caller;

/// A release that notified so many subscribers.
Outcome notified(std::uint32_t subscribers) {
  Outcome outcome = Script::of(Kind::granted);
  outcome.notified = subscribers;
  return outcome;
}

/// One call holds for as long as a cohort lasts, another waits.
class TwoCalls : public Script {
 public:
  explicit TwoCalls(LockType type = REENTRANT, LockType next = REENTRANT)
      : Script(with_cohorts()), holder_(&acquire(type, 3s, 30s, Owner::make())) {
    answer(Kind::granted);
    waiter_ = &acquire(next, 3s, 30s, Owner::make());
    pass(5ms);
    (void)sent();
  }
  [[nodiscard]] Caller& holder() const { return *holder_; }
  [[nodiscard]] Caller& waiter() const { return *waiter_; }

 private:
  Caller* holder_;
  Caller* waiter_;
};

/// A call has released the key, which notified another process `round_trip` later.
class OthersWait : public Script {
 public:
  explicit OthersWait(milliseconds round_trip = 0ms,
                      const CoordinatorSettings& settings = with_cohorts())
      : Script(settings) {
    Caller& holder = acquire(REENTRANT, 3s, 30s, Owner::make());
    answer(Kind::granted);
    release(holder);
    pass(round_trip);
    answer(notified(1));
    (void)sent();
  }
};

TEST(CoordinatorYield, TheReplyToAReleaseSaysWhetherTheNextAttemptMayStart) {
  TwoCalls script;
  script.release(script.holder());
  EXPECT_EQ(script.sent(), "release 1");
  script.answer(notified(0));
  EXPECT_EQ(script.sent(), "acquire 2 30000");
  script.answer(Kind::granted);
  EXPECT_EQ(script.waiter().answer, Answer::granted);
}

TEST(CoordinatorYield, NextToNobodyAnAttemptFollowsTheReleaseAtOnceForFiveMilliseconds) {
  TwoCalls script(WRITE, REENTRANT);  // the types differ, so there is no cohort
  script.release(script.holder());
  script.answer(notified(0));
  script.answer(Kind::granted);
  Caller& third = script.acquire(WRITE, 3s, 30s, Owner::make());
  (void)script.sent();
  script.pass(4ms);
  script.release(script.waiter());
  EXPECT_EQ(script.sent(), "release 2, acquire 3 30000");
  script.answer(notified(0));
  script.answer(Kind::granted);
  Caller& fourth = script.acquire(REENTRANT, 3s, 30s, Owner::make());
  script.pass(5ms);
  (void)script.sent();
  script.release(third);
  EXPECT_EQ(script.sent(), "release 3");
  script.answer(notified(0));
  EXPECT_EQ(script.sent(), "acquire 4 30000");
  script.answer(Kind::granted);
  EXPECT_EQ(fourth.answer, Answer::granted);
}

TEST(CoordinatorYield, ProcessesThatWereNotifiedGoFirst) {
  TwoCalls script;
  script.release(script.holder());
  EXPECT_EQ(script.sent(), "release 1");
  script.answer(notified(1));
  EXPECT_EQ(script.sent(), "subscribe");
  script.answer(Kind::granted);
  EXPECT_EQ(script.sent(), "");
  script.notify(Notification::Kind::released);  // the other process has had its turn
  EXPECT_EQ(script.sent(), "acquire 2 30000");
  script.answer(Kind::granted);
  EXPECT_EQ(script.waiter().answer, Answer::granted);
  while (script.open() > 0) script.answer(Kind::granted);
}

// Found by the simulator, seed 136499.
TEST(CoordinatorYield, AReleaseBetweenBusyAndTheSubscriptionIsNotMissed) {
  TwoCalls script;
  script.release(script.holder());
  script.pass(100ms);  // a slow round trip: the yield lasts for 200 ms
  script.answer(notified(1));
  EXPECT_EQ(script.sent(), "release 1, subscribe");
  script.notify(Notification::Kind::link_up);
  EXPECT_EQ(script.sent(), "acquire 2 30000");
  script.answer(Verb::acquire, Kind::busy);
  script.answer(Verb::subscribe, Kind::granted);
  EXPECT_EQ(script.sent(), "acquire 2 30000");
  script.answer(Kind::granted);
  while (script.open() > 0) script.answer(Kind::granted);
}

TEST(CoordinatorYield, IfNobodyTakesTheKeyTheNextAttemptStartsAfterTwoRoundTrips) {
  TwoCalls script;
  script.release(script.holder());
  script.pass(3ms);
  script.answer(notified(1));
  script.answer(Kind::granted);  // the subscription
  (void)script.sent();
  script.pass(5ms);
  EXPECT_EQ(script.sent(), "");
  script.pass(1ms);
  EXPECT_EQ(script.sent(), "acquire 2 30000");
  script.answer(Kind::granted);
  while (script.open() > 0) script.answer(Kind::granted);
}

TEST(CoordinatorYield, ItsOwnSubscriptionIsNobodyElse) {
  Script script(with_cohorts());
  Caller& holder = script.acquire(REENTRANT, 3s, 30s, Owner::make());
  script.answer(Kind::busy);
  script.answer(Kind::granted);  // the subscription
  script.answer(Kind::granted);
  EXPECT_EQ(holder.answer, Answer::granted);
  EXPECT_EQ(script.sent(), "acquire 1 30000, subscribe, acquire 1 30000, unsubscribe");
  script.answer(Outcome{});  // nobody knows whether it is still subscribed
  script.release(holder);
  while (script.open() > 0) script.answer(notified(0));
  EXPECT_TRUE(script.idle());
}

TEST(CoordinatorYield, AFreshCallDoesNotPassThem) {
  OthersWait script;
  Caller& fresh = script.acquire(REENTRANT, 3s, 30s, Owner::make());
  EXPECT_EQ(script.sent(), "subscribe");
  script.answer(Kind::granted);
  script.pass(1ms);
  EXPECT_EQ(script.sent(), "acquire 2 30000");
  script.answer(Kind::granted);
  EXPECT_EQ(fresh.answer, Answer::granted);
  while (script.open() > 0) script.answer(Kind::granted);
}

// Found by the judge of turns: next to a process queue a client of another library starved.
TEST(CoordinatorYield, AFreshCallWaitsForTheReplyToTheReleaseAlthoughNobodyWaitedHere) {
  OthersWait script(0ms, with_grants());
  script.pass(2ms);
  Caller& holder = script.acquire(REENTRANT, 3s, 30s, Owner::make());
  script.answer(Kind::granted);
  script.release(holder);
  script.acquire(REENTRANT, 3s, 30s, Owner::make());
  EXPECT_EQ(script.sent(), "acquire 2 30000, release 2");
  script.answer(notified(1));
  EXPECT_EQ(script.sent(), "");
  script.pass(1ms);
  EXPECT_EQ(script.sent(), "acquire 3 30000");
  while (script.open() > 0) script.answer(Kind::granted);
}

// Redisson starved beside two processes that held the key for a millisecond each.
TEST(CoordinatorYield, TheFirstInLineLetsOthersGoFirstOnce) {
  InLine script;
  script.notify_first_in_line();
  script.notify(Notification::Kind::released);  // on the key's channel, of the same release
  EXPECT_EQ(script.sent(), "");
  script.pass(1ms);
  EXPECT_EQ(script.sent(), "acquire 1 30000");
  script.answer(busy_at(7));
  script.notify_first_in_line();
  EXPECT_EQ(script.sent(), "acquire 1 30000");
  while (script.open() > 0) script.answer(Kind::granted);
}

TEST(CoordinatorYield, TheFirstInLineDoesNotLetOthersGoFirstWhoHadTheKey) {
  InLine script;
  Outcome foreign = busy_at(7);
  foreign.holder_is_foreign = true;
  script.notify(Notification::Kind::link_up);  // it asks who has the key
  script.answer(foreign);
  (void)script.sent();
  script.notify_first_in_line();
  EXPECT_EQ(script.sent(), "acquire 1 30000");
  while (script.open() > 0) script.answer(Kind::granted);
}

TEST(CoordinatorYield, AnAttemptThatDoesNotWaitIsMadeAtOnce) {
  OthersWait script;
  script.acquire(REENTRANT, 0ms, 30s, Owner::make());
  EXPECT_EQ(script.sent(), "acquire 2 30000");
  script.answer(Kind::busy);
}

TEST(CoordinatorYield, AWaitThatEndsMeanwhileIsBusy) {
  OthersWait script(10ms);
  Caller& fresh = script.acquire(REENTRANT, 5ms, 30s, Owner::make());
  script.pass(5ms);
  EXPECT_EQ(fresh.answer, Answer::busy);
  while (script.open() > 0) script.answer(Kind::granted);
}

TEST(CoordinatorYield, TheKeyIsForgottenASecondLater) {
  OthersWait script;
  EXPECT_FALSE(script.idle());
  script.pass(1'001ms);
  EXPECT_TRUE(script.idle());
}

TEST(CoordinatorYield, AnUnansweredReleaseHoldsNobodyUp) {
  TwoCalls script;
  script.release(script.holder());
  EXPECT_EQ(script.sent(), "release 1");
  script.answer(Kind::unknown);
  EXPECT_EQ(script.sent(), "acquire 2 30000");
  while (script.open() > 0) script.answer(Kind::granted);
}

// Redisson got four times as many grants: none of two threads in turn had another one behind it.
TEST(CoordinatorYield, TwoFencedThreadsInTurnHandOverBesideAnotherLibrary) {
  Script script(with_cohorts());
  Caller& first = script.acquire(FENCED, 3s, 30s, Owner::make());
  Outcome foreign = Script::busy(30s);
  foreign.holder_is_foreign = true;
  script.answer(foreign);
  script.answer(Verb::subscribe, Kind::granted);
  script.answer(Script::of(Kind::granted, 10));
  Caller& second = script.acquire(FENCED, 3s, 30s, Owner::make());
  script.release(first);
  script.answer(Verb::release, Kind::granted);
  Caller& third = script.acquire(FENCED, 3s, 30s, Owner::make());
  script.answer(Verb::acquire, Script::of(Kind::granted, 100));
  script.release(second);
  EXPECT_EQ(third.answer, Answer::granted);
  EXPECT_EQ(third.hold->token, 38U);
  while (script.open() > 0) script.answer(Kind::granted);
}

}  // namespace
}  // namespace latchkey::sim
