// Scripted runs of holds that are kept idle at a backend whose requests may overtake one another:
// an `expire` that is late must not end the lease of a call that has taken the hold.
#include <chrono>

#include <gtest/gtest.h>

#include "sim/idle/idle_fixture.hpp"

namespace latchkey::inline v1::sim {
namespace {

using namespace std::chrono_literals;
using enum LockType;
using Caller = Script::Caller;
using Change = Notification::Kind;

class CoordinatorIdleUnordered : public IdleTest {
 protected:
  CoordinatorIdleUnordered() : IdleTest(settings()) {}

  static CoordinatorSettings settings() {
    CoordinatorSettings its = with_idle_holds();
    its.in_order = false;
    return its;
  }
  /// The only hold of the process has ended. The release waits.
  Caller& release_first(LockType type = REENTRANT) {
    Caller& held = take(type);
    script.answer(Kind::granted);
    Caller& release = script.release(held);
    EXPECT_EQ(release.answer, Answer::pending);
    EXPECT_EQ(script.sent(), "acquire 1 30000, expire 1 900");
    EXPECT_EQ(script.events(), "attempt, granted");
    return release;
  }
  /// An idle READ that others have changed. Its renewal is under way.
  Caller& take_a_changed_read() {
    release_first(READ);
    script.answer(Kind::granted);
    script.notify(Change::changed);
    EXPECT_EQ(script.sent(), "");
    Caller& next = take(READ);
    EXPECT_EQ(next.answer, Answer::granted);
    EXPECT_EQ(script.sent(), "renew 1 900");
    return next;
  }
};

TEST_F(CoordinatorIdleUnordered, TheReleaseWaitsForTheReplyAndCallsTakeItAfterwards) {
  Caller& release = release_first();
  script.answer(Kind::granted);
  EXPECT_EQ(release.answer, Answer::granted);
  EXPECT_EQ(script.events(), "released");
  for (int round = 0; round < 3; ++round) {
    Caller& next = take();
    ASSERT_EQ(next.answer, Answer::granted);
    EXPECT_EQ(script.release(next).answer, Answer::granted);
  }
  EXPECT_EQ(script.sent(), "");
  script.pass(100ms);
  end_release();
}

TEST_F(CoordinatorIdleUnordered, ACallThatComesBeforeTheReplyWaitsForIt) {
  Caller& release = release_first();
  Caller& first = take();
  Caller& second = take();
  EXPECT_EQ(first.answer, Answer::pending);
  EXPECT_EQ(script.sent(), "");
  script.answer(Kind::granted);
  EXPECT_EQ(release.answer, Answer::granted);
  EXPECT_EQ(first.answer, Answer::granted);
  EXPECT_EQ(second.answer, Answer::pending);
  script.release(first);
  EXPECT_EQ(second.answer, Answer::granted);
  script.release(second);
  EXPECT_EQ(script.sent(), "");
  script.pass(100ms);
  end_release();
}

TEST_F(CoordinatorIdleUnordered, ACallOfTheSameOwnerReentersWithOneRenewal) {
  release_first();
  const Owner owner = Owner::make();
  Caller& first = script.acquire(REENTRANT, 1s, 30s, owner);
  Caller& inner = script.acquire(REENTRANT, 1s, 30s, owner);
  script.answer(Kind::granted);
  EXPECT_EQ(first.answer, Answer::granted);
  EXPECT_EQ(script.sent(), "renew 1 30000");
  script.answer(Kind::granted);
  EXPECT_EQ(inner.answer, Answer::granted);
}

TEST_F(CoordinatorIdleUnordered, ReadsThatComeBeforeTheReplyShareIt) {
  release_first(READ);
  Caller& first = take(READ);
  Caller& second = take(READ);
  EXPECT_EQ(script.sent(), "acquire 2 30000") << "a READ waits for no READ";
  while (script.open() > 0) script.answer(Kind::granted);
  EXPECT_EQ(first.answer, Answer::granted);
  EXPECT_EQ(second.answer, Answer::granted);
}

TEST_F(CoordinatorIdleUnordered, WithoutAReplyItIsReleasedBeforeAnybodyElseHasIt) {
  Caller& release = release_first();
  Caller& next = take();
  script.answer(Kind::unknown);
  EXPECT_EQ(script.sent(), "release 1");
  EXPECT_EQ(release.answer, Answer::pending);
  EXPECT_EQ(next.answer, Answer::pending);
  script.answer(Kind::granted);
  EXPECT_EQ(release.answer, Answer::granted);
  EXPECT_EQ(script.sent(), "acquire 2 30000");
  EXPECT_EQ(script.events(), "attempt, waiting, released");
  script.answer(Kind::granted);
  EXPECT_EQ(next.answer, Answer::granted);
}

TEST_F(CoordinatorIdleUnordered, AReplyThatNamesAWaiterEndsIt) {
  Caller& release = release_first();
  Outcome wanted = Script::of(Kind::granted);
  wanted.wanted = true;
  script.answer(wanted);
  EXPECT_EQ(release.answer, Answer::granted);
  end_release();
  EXPECT_EQ(script.events(), "released, recalled");
}

// Whether the `expire` ran is not known.
TEST_F(CoordinatorIdleUnordered, WhatIsGoneOnceItsShortLeaseIsOverWasReleased) {
  for (const auto wait : {0ms, 900ms}) {
    Script each(with_events(settings()));
    Caller& held = each.acquire(REENTRANT, 1s, 30s);
    each.answer(Kind::granted);
    Caller& release = each.release(held);
    each.pass(100ms);
    EXPECT_EQ(each.sent(), "acquire 1 30000, expire 1 900, release 1");
    each.pass(wait);
    static_cast<void>(each.events());
    each.answer(Verb::release, Kind::gone);
    EXPECT_EQ(release.answer, wait == 0ms ? Answer::lost : Answer::granted);
    EXPECT_EQ(each.events(), wait == 0ms ? "lost" : "released");
    each.answer(Verb::expire, Kind::gone);
  }
}

// A backend ends a request command_timeout after it was sent.
TEST_F(CoordinatorIdleUnordered, TheReleaseThatFollowsTheExpireHasNoTimeOfItsOwn) {
  release_first();
  script.pass(100ms);
  EXPECT_EQ(script.sent(), "release 1");
  EXPECT_EQ(script.last_request_age(), 100ms);
  script.answer(Verb::release, Kind::granted);
  script.answer(Verb::expire, Kind::gone);
}

// It takes a place in the queue, which the server does not tell to the process that has taken it.
TEST_F(CoordinatorIdleUnordered, AFairCallThatComesBeforeTheReplyEndsIt) {
  release_first();
  Caller& fair = take(FAIR);
  EXPECT_EQ(script.sent(), "acquire 2 30000");
  script.answer(Verb::expire, Kind::granted);
  EXPECT_EQ(script.sent(), "release 1");
  script.answer(Verb::release, Kind::granted);
  script.answer(Verb::acquire, Kind::granted);
  EXPECT_EQ(fair.answer, Answer::granted);
}

TEST_F(CoordinatorIdleUnordered, ACallThatWaitsForABackendThatDoesNotAnswerIsUnavailable) {
  CoordinatorSettings silent = settings();
  silent.cache = 10s;
  Script patient(silent);
  Caller& held = patient.acquire(REENTRANT, 1s, 30s);
  patient.answer(Kind::granted);
  patient.release(held);
  Caller& next = patient.acquire(REENTRANT, 6s, 30s, Owner::make());
  patient.pass(6s);
  EXPECT_EQ(next.answer, Answer::unavailable);
  while (patient.open() > 0) patient.answer(Kind::granted);
}

TEST_F(CoordinatorIdleUnordered, ALossIsToldToTheRelease) {
  Caller& release = release_first();
  Caller& next = take();
  script.answer(Kind::gone);
  EXPECT_EQ(release.answer, Answer::lost);
  EXPECT_EQ(script.events(), "attempt, waiting, lost");
  EXPECT_EQ(script.sent(), "acquire 2 30000");
  script.answer(Kind::granted);
  EXPECT_EQ(next.answer, Answer::granted);
}

TEST_F(CoordinatorIdleUnordered, ARecallOrALostConnectionEndsItBeforeTheReply) {
  for (const Change change : {Change::wanted, Change::link_down, Change::changed}) {
    Script each(with_events(settings()));
    Caller& held = each.acquire(REENTRANT, 1s, 30s);
    each.answer(Kind::granted);
    Caller& release = each.release(held);
    EXPECT_EQ(each.sent(), "acquire 1 30000, expire 1 900");
    each.notify(change);
    EXPECT_EQ(each.sent(), "release 1");
    each.answer(Verb::release, Kind::granted);
    EXPECT_EQ(release.answer, Answer::granted);
    each.answer(Verb::expire, Kind::gone);
  }
}

TEST_F(CoordinatorIdleUnordered, ClosingAnswersTheRelease) {
  Caller& release = release_first();
  script.close();
  EXPECT_EQ(script.sent(), "release 1");
  script.answer(Verb::release, Kind::granted);
  EXPECT_EQ(release.answer, Answer::granted);
  script.answer(Verb::expire, Kind::gone);
  EXPECT_FALSE(script.unfinished());
}

// A renewal that is late shortens no lease.
TEST_F(CoordinatorIdleUnordered, AReadThatOthersChangedIsTakenAndRenewed) {
  Caller& next = take_a_changed_read();
  EXPECT_EQ(script.release(next).answer, Answer::granted) << "it does not wait for the reply";
  while (script.open() > 0) script.answer(Kind::granted);
}

// The node had not all keys of the renewal while the slot moved.
TEST_F(CoordinatorIdleUnordered, ARenewalThatFailsIsRepeatedBeforeTheShortLeaseEnds) {
  Caller& next = take_a_changed_read();
  script.answer(Kind::unknown);
  script.pass(300ms);
  EXPECT_EQ(script.sent(), "renew 1 30000");
  script.answer(Kind::granted);
  EXPECT_GT(script.left(next), 29s);
}

TEST_F(CoordinatorIdleUnordered, ACallTakesItWhileItsLeaseIsRenewed) {
  CoordinatorSettings longer = settings();
  longer.cache = 1s;
  Script patient(longer);
  become_idle_in(patient);
  patient.pass(191ms);
  EXPECT_EQ(patient.sent(), "acquire 1 30000, expire 1 900, renew 1 900");
  Caller& next = take_in(patient);
  EXPECT_EQ(next.answer, Answer::granted);
  EXPECT_EQ(patient.release(next).answer, Answer::granted);
  patient.answer(Kind::granted);
  patient.notify(Change::wanted);
  EXPECT_EQ(patient.sent(), "release 1");
  patient.answer(Kind::granted);
}

}  // namespace
}  // namespace latchkey::inline v1::sim
