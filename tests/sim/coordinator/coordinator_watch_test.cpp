// Held keys that the backend watches: a change is followed by a check at once, and by one only.
#include <chrono>

#include <gtest/gtest.h>

#include "sim/script.hpp"

namespace latchkey::sim {
namespace {

using namespace std::chrono_literals;
using enum LockType;
using Caller = Script::Caller;
using Change = Notification::Kind;

/// Holds the key for a second: the check that asks to watch it has been answered.
Caller& hold_watched(Script& script, LockType type = REENTRANT, Lease lease = watchdog) {
  Caller& held = script.acquire(type, 1s, lease);
  script.answer(Kind::granted);
  script.pass(1s);
  script.answer(Kind::granted);
  static_cast<void>(script.sent());
  return held;
}

TEST(CoordinatorWatch, AHoldIsWatchedHalfASecondAfterItsGrant) {
  Script script(with_watches());
  script.acquire(REENTRANT, 1s, watchdog);
  script.answer(Kind::granted);
  script.pass(499ms);
  EXPECT_EQ(script.sent(), "acquire 1 30000");
  script.pass(1ms);
  EXPECT_EQ(script.sent(), "renew 1 30000 watching");
  script.answer(Kind::granted);
  script.pass(10s - 1ms);
  EXPECT_EQ(script.sent(), "");
  script.pass(1ms);
  EXPECT_EQ(script.sent(), "renew 1 30000 watching");
  script.answer(Kind::granted);
}

TEST(CoordinatorWatch, AShortHoldSendsNothingMore) {
  Script script(with_watches());
  Caller& held = script.acquire(REENTRANT, 1s, watchdog);
  script.answer(Kind::granted);
  script.pass(450ms);
  script.release(held);
  script.answer(Kind::granted);
  script.pass(1min);
  EXPECT_EQ(script.sent(), "acquire 1 30000, release 1");
}

TEST(CoordinatorWatch, NothingIsWatchedIfTheBackendDoesNotOfferIt) {
  Script script;
  script.acquire(REENTRANT, 1s, watchdog);
  script.answer(Kind::granted);
  script.pass(10s);
  EXPECT_EQ(script.sent(), "acquire 1 30000, renew 1 30000");
  script.answer(Kind::granted);
}

TEST(CoordinatorWatch, AHoldWithAFixedLeaseIsVerified) {
  Script script(with_watches());
  script.acquire(WRITE, 1s, 30s);
  script.answer(Kind::granted);
  script.pass(1s);
  EXPECT_EQ(script.sent(), "acquire 1 30000, verify 1 watching");
  script.answer(Kind::granted);
}

TEST(CoordinatorWatch, AChangeThatTookTheHoldAwayIsALossAtOnce) {
  Script script(with_watches());
  Caller& held = hold_watched(script);
  script.notify(Change::changed);
  EXPECT_EQ(script.sent(), "renew 1 30000");
  EXPECT_FALSE(script.lost(held)) << "the key may have been changed otherwise";
  script.answer(Kind::gone);
  EXPECT_TRUE(script.lost(held));
}

TEST(CoordinatorWatch, ChangesThatLeaveTheHoldCauseOneCheckUntilTheNextUsualOne) {
  Script script(with_watches());
  const Caller& held = hold_watched(script);
  script.notify(Change::changed);
  EXPECT_EQ(script.sent(), "renew 1 30000") << "it does not ask again";
  script.answer(Kind::granted);
  script.notify(Change::changed);
  script.notify_of_changed_keys();
  EXPECT_EQ(script.sent(), "");
  script.pass(999ms);
  EXPECT_EQ(script.sent(), "");
  script.pass(1ms);
  EXPECT_EQ(script.sent(), "renew 1 30000 watching") << "keys may be gone: a check each second";
  script.answer(Kind::granted);
  EXPECT_FALSE(script.lost(held));
}

TEST(CoordinatorWatch, AChangeWhileTheCheckIsUnderWayIsFollowedByAnother) {
  Script script(with_watches());
  Caller& held = script.acquire(REENTRANT, 1s, watchdog);
  script.answer(Kind::granted);
  script.pass(1s);
  EXPECT_EQ(script.sent(), "acquire 1 30000, renew 1 30000 watching");
  script.notify(Change::changed);
  EXPECT_EQ(script.sent(), "") << "the check that is under way may have run before the change";
  script.answer(Kind::granted);
  EXPECT_EQ(script.sent(), "renew 1 30000");
  script.answer(Kind::gone);
  EXPECT_TRUE(script.lost(held));
}

TEST(CoordinatorWatch, ACheckWithoutReplyAsksAgain) {
  Script script(with_watches());
  script.acquire(REENTRANT, 1s, watchdog);
  script.answer(Kind::granted);
  script.pass(1s);
  script.answer(Kind::unknown);
  script.pass(1s);
  EXPECT_EQ(script.sent(), "acquire 1 30000, renew 1 30000 watching, renew 1 30000 watching");
  script.answer(Kind::granted);
}

TEST(CoordinatorWatch, AReconnectionIsFollowedByACheckThatAsksAgain) {
  Script script(with_watches());
  hold_watched(script);
  script.notify(Change::link_up);
  EXPECT_EQ(script.sent(), "renew 1 30000 watching");
  script.answer(Kind::granted);
}

TEST(CoordinatorWatch, YoungHoldsAreCheckedIfAllKeysMayBeGone) {
  Script script(with_watches());
  Caller& held = script.acquire(REENTRANT, 1s, watchdog);
  script.answer(Kind::granted);
  script.pass(10ms);
  static_cast<void>(script.sent());
  script.notify(Change::changed);
  EXPECT_EQ(script.sent(), "") << "nobody has asked for this";
  script.notify_of_changed_keys();
  script.pass(0ms);
  EXPECT_EQ(script.sent(), "renew 1 30000");
  script.answer(Kind::gone);
  EXPECT_TRUE(script.lost(held));
}

TEST(CoordinatorWatch, ASemaphoreIsNotWatched) {
  Script script(with_watches());
  script.acquire(PERMIT, 1s, 30s);
  script.answer(Kind::granted);
  script.pass(10s);
  EXPECT_EQ(script.sent(), "acquire 1 30000, verify 1");
  script.answer(Kind::granted);
}

TEST(CoordinatorWatch, AWriteThatBecomesAReadIsStillWatched) {
  Script script(with_watches());
  const Owner owner = Owner::make();
  Caller& write = script.acquire(WRITE, 1s, 30s, owner);
  script.answer(Kind::granted);
  Caller& read = script.acquire(READ, 1s, 30s, owner);
  script.pass(1s);
  script.answer(Kind::granted);
  static_cast<void>(script.sent());
  script.release(write);
  EXPECT_EQ(script.sent(), "downgrade 1 30000 watching");
  script.notify(Change::changed);
  script.answer(Kind::granted);
  EXPECT_EQ(script.sent(), "verify 1");
  script.answer(Kind::gone);
  EXPECT_TRUE(script.lost(read));
}

}  // namespace
}  // namespace latchkey::sim
