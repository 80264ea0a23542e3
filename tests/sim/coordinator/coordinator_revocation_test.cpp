// Revocations: who listens for how long, who is asked, and who gets the key then.
#include <chrono>

#include <gtest/gtest.h>

#include "sim/cohort.hpp"
#include "sim/readers.hpp"
#include "sim/script.hpp"

namespace latchkey::sim {
namespace {

using namespace std::chrono_literals;
using enum LockType;
using Caller = Script::Caller;
using Note = Notification::Kind;

/// A call that holds.
Caller& hold(Script& script, LockType type = REENTRANT, Owner owner = Owner::this_thread()) {
  Caller& held = script.acquire(type, 1s, 30s, owner);
  script.answer(Verb::acquire, Kind::granted);
  (void)script.sent();
  return held;
}

TEST(CoordinatorRevocation, AHolderSubscribesWithItsFirstQuestionAndUntilItReleases) {
  Script script;
  Caller& held = hold(script);
  EXPECT_FALSE(script.revoked(held));
  EXPECT_EQ(script.sent(), "subscribe");
  EXPECT_FALSE(script.revoked(held));
  EXPECT_EQ(script.sent(), "") << "it has subscribed";
  script.answer(Kind::granted);
  script.release(held);
  EXPECT_EQ(script.sent(), "release 1, unsubscribe");
  script.answer(Kind::granted);
  EXPECT_FALSE(script.idle());
  script.answer(Kind::granted);
  EXPECT_TRUE(script.idle());
}

TEST(CoordinatorRevocation, AHolderThatNeverAsksSubscribesToNothing) {
  Script script;
  Caller& held = hold(script);
  script.notify(Note::revoked);
  script.release(held);
  EXPECT_EQ(script.sent(), "release 1");
  script.answer(Kind::granted);
}

TEST(CoordinatorRevocation, TheSubscriptionEndsIfItsReplyIsLaterThanTheRelease) {
  Script script;
  Caller& held = hold(script);
  EXPECT_FALSE(script.revoked(held));
  script.release(held);
  EXPECT_EQ(script.sent(), "subscribe, release 1");
  script.answer(Kind::granted);
  EXPECT_EQ(script.sent(), "unsubscribe");
  script.answer(Kind::granted);
  script.answer(Kind::granted);
  EXPECT_TRUE(script.idle());
}

TEST(CoordinatorRevocation, AHolderThatAsksWhileTheSubscriptionEndsSubscribesAnew) {
  Script script;
  Caller& first = hold(script);
  EXPECT_FALSE(script.revoked(first));
  script.answer(Kind::granted);
  script.release(first);
  EXPECT_EQ(script.sent(), "subscribe, release 1, unsubscribe");
  script.answer(Verb::release, Kind::granted);
  Caller& second = hold(script);
  EXPECT_FALSE(script.revoked(second));
  EXPECT_EQ(script.sent(), "");
  script.answer(Verb::unsubscribe, Kind::granted);
  EXPECT_EQ(script.sent(), "subscribe");
  script.answer(Kind::granted);
  script.notify(Note::revoked);
  EXPECT_TRUE(script.revoked(second));
  script.release(second);
  script.answer(Kind::granted);
  script.answer(Kind::granted);
  EXPECT_TRUE(script.idle());
}

TEST(CoordinatorRevocation, IsReportedOnceAndEndsNothing) {
  Script script(with_events(without_cohorts()));
  Caller& held = hold(script);
  EXPECT_FALSE(script.revoked(held));
  script.answer(Kind::granted);
  (void)script.events();
  script.notify(Note::revoked);
  script.notify(Note::revoked);
  EXPECT_EQ(script.events(), "revoked");
  EXPECT_TRUE(script.revoked(held));
  EXPECT_FALSE(script.lost(held));
  Caller& again = script.acquire(REENTRANT, 1s, 30s);
  ASSERT_TRUE(again.granted);
  EXPECT_TRUE(script.revoked(again)) << "a re-entry has the hold that was revoked";
  script.release(again);
  Caller& release = script.release(held);
  script.answer(Verb::release, Kind::granted);
  EXPECT_EQ(release.answer, Answer::granted);
  script.answer(Kind::granted);
}

TEST(CoordinatorRevocation, ARefusedSubscriptionIsNotRepeated) {
  Script script;
  Caller& held = hold(script);
  EXPECT_FALSE(script.revoked(held));
  script.answer(Kind::refused);
  EXPECT_FALSE(script.revoked(held));
  EXPECT_EQ(script.sent(), "subscribe");
  script.release(held);
  EXPECT_EQ(script.sent(), "release 1");
  script.answer(Kind::granted);
  EXPECT_TRUE(script.idle());
}

// Without a reply the backend may have subscribed, or does so with the next connection.
TEST(CoordinatorRevocation, ASubscriptionWithoutAReplyIsEndedAsAnyOther) {
  Script script;
  Caller& held = hold(script);
  EXPECT_FALSE(script.revoked(held));
  script.answer(Kind::unknown);
  script.notify(Note::revoked);
  EXPECT_TRUE(script.revoked(held));
  script.release(held);
  EXPECT_EQ(script.sent(), "subscribe, release 1, unsubscribe");
  script.answer(Kind::granted);
  script.answer(Kind::granted);
  EXPECT_TRUE(script.idle());
}

TEST(CoordinatorRevocation, ALockByTheSameOwnerThatStaysLongerEndsTheSubscription) {
  Script script;
  Caller& held = hold(script);
  EXPECT_FALSE(script.revoked(held));
  script.answer(Kind::granted);
  Caller& locked = script.lock(REENTRANT, 1s);
  ASSERT_TRUE(locked.granted);
  script.release(held);
  EXPECT_EQ(script.sent(), "subscribe");
  script.unlock(locked);
  EXPECT_EQ(script.sent(), "release 1, unsubscribe");
  script.answer(Kind::granted);
  script.answer(Kind::granted);
  EXPECT_TRUE(script.idle());
}

TEST(CoordinatorRevocation, ASubscriptionThatWasNeverSentIsMadeWhenTheServerIsBack) {
  Script script;
  Caller& held = hold(script);
  EXPECT_FALSE(script.revoked(held));
  Outcome not_sent = Script::of(Kind::unknown);
  not_sent.never_ran = true;
  script.answer(not_sent);
  script.notify(Note::link_up);
  EXPECT_EQ(script.sent(), "subscribe, subscribe, verify 1");
  script.answer(Kind::granted);
  script.answer(Kind::granted);
  script.notify(Note::revoked);
  EXPECT_TRUE(script.revoked(held));
  script.release(held);
  script.answer(Kind::granted);
  script.answer(Kind::granted);
}

TEST(CoordinatorRevocation, ALostHoldIsNotRevoked) {
  Script script(with_events(without_cohorts()));
  Caller& held = script.acquire(REENTRANT, 1s, 10s);
  script.answer(Kind::granted);
  EXPECT_FALSE(script.revoked(held));
  script.answer(Verb::subscribe, Kind::granted);
  script.notify(Note::gone, 1);
  (void)script.events();
  script.notify(Note::revoked);
  EXPECT_EQ(script.events(), "");
  EXPECT_FALSE(script.revoked(held));
  script.release(held);
  script.answer(Kind::granted);
}

TEST(CoordinatorRevocation, TheKeyOfARevokedHoldIsNotHandedOnWithinTheProcess) {
  for (const bool revoked : {false, true}) {
    Script script(with_cohorts());
    Caller& held = hold(script);
    EXPECT_FALSE(script.revoked(held));
    script.answer(Kind::granted);
    Caller& next = script.acquire(REENTRANT, 1s, 30s, Owner::make());
    if (revoked) script.notify(Note::revoked);
    (void)script.sent();
    script.release(held);
    if (!revoked) {
      EXPECT_TRUE(next.granted);
      EXPECT_FALSE(script.revoked(next)) << "what the holder before asked for is not its own";
      continue;
    }
    EXPECT_FALSE(next.granted);
    EXPECT_EQ(script.sent(), "release 1, unsubscribe");
    script.answer(Verb::release, Kind::granted);
    EXPECT_EQ(script.sent(), "acquire 2 30000") << "nobody else waits";
    script.answer(Verb::acquire, Kind::granted);
    script.answer(Verb::unsubscribe, Kind::granted);
    EXPECT_TRUE(next.granted);
    EXPECT_FALSE(script.revoked(next));
  }
}

TEST(CoordinatorRevocation, EachOfTheReadsThatShareAHoldIsAskedAndNoneJoinsAnyMore) {
  Script script(with_events(with_cohorts()));
  Caller& first = hold(script, READ, Owner::make());
  Caller& second = script.acquire(READ, 1s, 30s, Owner::make());
  ASSERT_TRUE(second.granted);
  EXPECT_EQ(script.sent(), "") << "it has joined";
  EXPECT_FALSE(script.revoked(second));
  script.answer(Kind::granted);
  (void)script.events();
  script.notify(Note::revoked);
  EXPECT_EQ(script.events(), "revoked, revoked");
  EXPECT_TRUE(second.hold->revoked.load());
  EXPECT_TRUE(first.hold->revoked.load());
  (void)script.sent();
  Caller& third = script.acquire(READ, 1s, 30s, Owner::make());
  EXPECT_EQ(script.sent(), "acquire 2 30000");
  script.answer(Verb::acquire, Kind::granted);
  EXPECT_TRUE(third.granted);
  EXPECT_FALSE(script.revoked(third));
}

}  // namespace
}  // namespace latchkey::sim
