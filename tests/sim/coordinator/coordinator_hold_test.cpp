// The coordinator's flows among several local callers: queue, downgrade, hold_for, close.
#include <chrono>

#include <gtest/gtest.h>

#include "sim/script.hpp"

namespace latchkey::sim {
namespace {

using namespace std::chrono_literals;
using enum LockType;
using Caller = Script::Caller;

TEST(Coordinator, OneWaiterPerKeySendsRequests) {
  Script script;
  const Owner holder = Owner::make();
  Caller& held = script.acquire(REENTRANT, 1s, 30s, holder);
  script.answer(Kind::granted);
  Caller& first = script.acquire(REENTRANT, 5s, 30s, Owner::make());
  Caller& second = script.acquire(REENTRANT, 5s, 30s, Owner::make());
  EXPECT_EQ(script.sent(), "acquire 1 30000") << "local callers wait while a local hold lasts";
  script.release(held);
  EXPECT_EQ(script.sent(), "release 1, acquire 2 30000") << "after the release, in order";
  script.answer(Kind::granted);
  script.answer(Kind::granted);
  EXPECT_EQ(first.answer, Answer::granted);
  EXPECT_EQ(second.answer, Answer::pending);
}

TEST(Coordinator, QueueWaitsForALocalHoldOnlyUntilItsDeadline) {
  Script script;
  script.acquire(REENTRANT, 1s, 1s, Owner::make());
  script.answer(Kind::granted);
  script.acquire(REENTRANT, 5s, 30s, Owner::make());
  (void)script.sent();
  script.pass(400ms);
  script.answer(Verb::verify, Kind::granted);
  script.pass(400ms);
  script.answer(Verb::verify, Kind::granted);
  (void)script.sent();
  script.pass(189ms);
  EXPECT_EQ(script.sent(), "");
  script.pass(1ms);
  EXPECT_EQ(script.sent(), "acquire 2 30000");
}

TEST(Coordinator, AdjacentReadsAcquireTogetherAndAWriteWaits) {
  Script script;
  Caller& write = script.acquire(WRITE, 1s, 30s, Owner::make());
  script.answer(Kind::granted);
  script.acquire(READ, 5s, 30s, Owner::make());
  script.acquire(READ, 5s, 30s, Owner::make());
  script.acquire(WRITE, 5s, 30s, Owner::make());
  script.acquire(READ, 5s, 30s, Owner::make());
  (void)script.sent();
  script.release(write);
  EXPECT_EQ(script.sent(), "release 1, acquire 2 30000, acquire 3 30000");
}

TEST(Coordinator, EachFairWaiterQueuesAndSubscribesByItself) {
  Script script;
  Caller& first = script.acquire(FAIR, 5s, 30s, Owner::make());
  Caller& second = script.acquire(FAIR, 5s, 30s, Owner::make());
  EXPECT_EQ(script.sent(), "acquire 1 30000, acquire 2 30000");
  script.answer(Script::busy(20s));
  script.answer(Script::busy(20s));
  EXPECT_EQ(script.sent(), "subscribe 1, subscribe 2");
  script.notify(Notification::Kind::released, 2);
  script.answer(Verb::subscribe, Kind::granted);
  EXPECT_EQ(script.sent(), "acquire 2 30000, acquire 1 30000");
  script.cancel(first);
  EXPECT_EQ(script.sent(), "leave 1");
  EXPECT_EQ(second.answer, Answer::pending);
}

TEST(Coordinator, ReleaseOfAWriteWithReadsInsideIsADowngrade) {
  Script script;
  const Owner owner = Owner::make();
  Caller& write = script.acquire(WRITE, 1s, 30s, owner);
  script.answer(Kind::granted);
  Caller& read = script.acquire(READ, 1s, 30s, owner);
  (void)script.sent();
  Caller& end = script.release(write);
  EXPECT_EQ(script.sent(), "downgrade 1 30000");
  EXPECT_EQ(end.answer, Answer::pending);
  script.answer(Kind::granted);
  EXPECT_EQ(end.answer, Answer::granted);
  EXPECT_EQ(script.acquire(WRITE, 1s, 30s, owner).answer, Answer::would_deadlock);
  Caller& other = script.acquire(READ, 1s, 30s, Owner::make());
  EXPECT_EQ(script.sent(), "acquire 2 30000") << "other readers may acquire now";
  script.answer(Kind::granted);
  EXPECT_EQ(other.answer, Answer::granted);
  script.release(read);
  EXPECT_EQ(script.sent(), "release 1");
}

// Found by the simulator, seed 1323347: a copy of the first attempt would take the lock once more.
TEST(Coordinator, AHoldThatIsGoneIsReleasedIfAnAttemptWasNotAnswered) {
  CoordinatorSettings settings;
  settings.in_order = false;
  Script script(settings);
  Caller& held = script.acquire(REENTRANT, 3s, 2s);
  script.answer(Kind::unknown);
  script.pass(500ms);
  script.answer(Kind::granted);
  static_cast<void>(script.sent());
  script.pass(1s);
  script.answer(Kind::gone);
  EXPECT_TRUE(script.lost(held));
  static_cast<void>(script.sent());
  EXPECT_EQ(script.release(held).answer, Answer::lost);
  EXPECT_EQ(script.sent(), "release 1");
  script.answer(Kind::gone);
  EXPECT_EQ(script.sent(), "");
  script.pass(10s);
}

// Found by the simulator, seed 670263: a late copy of the acquire took the WRITE once more after
// the READ's lease had ended, and nothing released it.
TEST(Coordinator, ReadThatIsGoneAndWasAWriteIsReleasedIfRequestsOvertakeEachOther) {
  for (const bool in_order : {true, false}) {
    CoordinatorSettings settings;
    settings.in_order = in_order;
    Script script(settings);
    const Owner owner = Owner::make();
    Caller& write = script.acquire(WRITE, 1s, 30s, owner);
    script.answer(Kind::granted);
    Caller& read = script.acquire(READ, 1s, 30s, owner);
    script.release(write);
    script.answer(Kind::granted);
    (void)script.sent();
    script.pass(10s);
    EXPECT_EQ(script.sent(), "verify 1");
    script.answer(Kind::gone);
    EXPECT_TRUE(script.lost(read));
    script.release(read);
    EXPECT_EQ(script.sent(), in_order ? "" : "leave 1");
    if (!in_order) script.answer(Kind::granted);
    EXPECT_TRUE(script.idle());
  }
}

TEST(Coordinator, HoldForReleasesTheKeyWhenItsTimeIsOver) {
  Script script;
  Caller& held = script.acquire(REENTRANT, 1s, 30s);
  script.answer(Kind::granted);
  Caller& next = script.acquire(REENTRANT, 5s, 30s, Owner::make());
  (void)script.sent();
  EXPECT_EQ(script.release(held, 2s).answer, Answer::granted);
  script.pass(1'999ms);
  EXPECT_EQ(script.sent(), "");
  script.pass(1ms);
  EXPECT_EQ(script.sent(), "release 1, acquire 2 30000");
  EXPECT_EQ(next.answer, Answer::pending);
}

/// Returns how the end of a hold is reported that was kept for `kept`. Its `expire` was answered by
/// `told`, and its release at the end meets an outage.
std::string end_of_a_kept_hold(milliseconds kept, Kind told) {
  CoordinatorSettings settings;
  settings.events = CoordinatorSettings::Events::everything;
  settings.expires = true;
  Script script(settings);
  Caller& held = script.acquire(REENTRANT, 1s, 30s);
  script.answer(Kind::granted);
  (void)script.events();
  script.release(held, kept);
  script.answer(Verb::expire, told);
  script.pass(kept);
  script.answer(Verb::release, Kind::unknown);
  std::string reported = script.events();
  script.pass(1s);
  // It is repeated until the lease is over.
  if (script.open() > 0) script.answer(Verb::release, Kind::gone);
  EXPECT_EQ(script.events(), "") << "one end is reported once";
  return reported;
}

// The mark of a OncePer whose end fell into an outage was an error, and counted as unconfirmed.
TEST(Coordinator, AKeptHoldThatEndsByItselfDuringAnOutageIsReleased) {
  EXPECT_EQ(end_of_a_kept_hold(2s, Kind::granted), "released");
  EXPECT_EQ(end_of_a_kept_hold(40s, Kind::unknown), "released") << "its lease is over";
  EXPECT_EQ(end_of_a_kept_hold(2s, Kind::unknown), "release_unconfirmed")
      << "the backend may keep it for the whole lease";
}

TEST(Coordinator, HoldOfAnEndedThreadIsReleasedWhenItsLeaseExpires) {
  CoordinatorSettings settings;
  settings.events = CoordinatorSettings::Events::losses;
  Script script(settings);
  const Owner owner = Owner::make();
  script.lock(REENTRANT, forever, owner);
  script.answer(Kind::granted);
  (void)script.sent();
  script.end_owner(owner);
  EXPECT_EQ(script.events(), "abandoned");
  script.pass(29'699ms);
  EXPECT_EQ(script.sent(), "") << "the watchdog stops";
  script.pass(1ms);
  EXPECT_EQ(script.sent(), "release 1");
}

TEST(Coordinator, WaiterOfTheGrantedOwnerIsGrantedAtOnce) {
  Script script;
  const Owner owner = Owner::make();
  script.acquire(REENTRANT, 5s, 30s, owner);
  Caller& second = script.acquire(REENTRANT, 5s, 30s, owner);
  script.answer(Kind::granted);
  EXPECT_EQ(second.answer, Answer::granted);
  EXPECT_EQ(script.sent(), "acquire 1 30000");
}

TEST(Coordinator, FairWaiterOfTheGrantedOwnerIsGrantedAndLeavesTheQueue) {
  Script script;
  const Owner owner = Owner::make();
  script.acquire(FAIR, 5s, 30s, owner);
  Caller& second = script.acquire(FAIR, 5s, 30s, owner);
  (void)script.sent();
  script.answer(Kind::granted);
  EXPECT_EQ(second.answer, Answer::granted);
  EXPECT_EQ(script.sent(), "leave 2");
}

TEST(Coordinator, CloseEndsWaitsAndHolds) {
  Script script;
  Caller& held = script.acquire(REENTRANT, 1s, 30s);
  script.answer(Kind::granted);
  Caller& waiting = script.acquire(REENTRANT, forever, 30s, Owner::make());
  (void)script.sent();
  script.close();
  EXPECT_EQ(waiting.answer, Answer::closed);
  EXPECT_TRUE(script.lost(held));
  EXPECT_EQ(script.sent(), "release 1");
  EXPECT_EQ(script.acquire(REENTRANT, 1s, 30s).answer, Answer::closed);
  script.answer(Kind::granted);
  EXPECT_EQ(script.release(held).answer, Answer::lost);
  EXPECT_EQ(script.sent(), "");
  EXPECT_TRUE(script.idle());
}

TEST(Coordinator, ReconnectionVerifiesHoldsAndRepeatsAttempts) {
  Script script;
  Caller& held = script.acquire(READ, 1s, 30s, Owner::make());
  script.answer(Kind::granted);
  script.acquire(READ, 5s, 30s, Owner::make());
  script.answer(Script::busy(20s));
  script.answer(Kind::granted);
  script.answer(Script::busy(20s));
  (void)script.sent();
  script.notify(Notification::Kind::link_up);
  EXPECT_EQ(script.sent(), "verify 1, acquire 2 30000");
  script.answer(Kind::gone);
  EXPECT_TRUE(script.lost(held));
}

TEST(Coordinator, ExtendMovesTheDeadlineForwardOnly) {
  Script script;
  Caller& held = script.acquire(REENTRANT, 1s, 3s);
  script.answer(Kind::granted);
  (void)script.sent();
  Caller& extend = script.extend(held, 60s);
  EXPECT_EQ(script.sent(), "renew 1 60000");
  EXPECT_LT(script.left(held), 3s);
  script.pass(10ms);
  script.answer(Kind::granted);
  EXPECT_EQ(extend.answer, Answer::granted);
  EXPECT_EQ(script.left(held), 60s - 600ms - 10ms);
  Caller& shorter = script.extend(held, 1s);
  script.answer(Kind::granted);
  EXPECT_EQ(shorter.answer, Answer::granted);
  EXPECT_EQ(script.left(held), 60s - 600ms - 10ms) << "an extend never shortens the lease";
}

TEST(Coordinator, FencedHoldHasTheTokenOfTheBackend) {
  Script script;
  Caller& held = script.acquire(FENCED, 1s, 3s);
  script.answer(Script::of(Kind::granted, 77));
  EXPECT_EQ(held.hold->token, 77U);
}

// Two thirds of the watchdog's lease remain, so nothing is renewed for it.
TEST(Coordinator, WhatIsLeftIsCheckedByItsOwnLease) {
  Script script;
  Caller& held = script.acquire(REENTRANT, 1s, 24s);
  script.answer(Kind::granted);
  script.extend(held, 24s);
  Caller& inside = script.acquire(REENTRANT, 1s, watchdog);
  EXPECT_EQ(script.sent(), "acquire 1 24000, renew 1 24000");
  script.answer(Kind::granted);
  script.release(inside);
  script.pass(8s);
  EXPECT_EQ(script.sent(), "verify 1");
  script.answer(Kind::granted);
  script.release(held);
  script.answer(Kind::granted);
}

}  // namespace
}  // namespace latchkey::sim
