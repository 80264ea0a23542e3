// lock_delay: the backend keeps a hold for longer than its holder believes in it.
#include <chrono>

#include <gtest/gtest.h>

#include "sim/script.hpp"

namespace latchkey::sim {
namespace {

using namespace std::chrono_literals;
using enum LockType;
using Caller = Script::Caller;

TEST(CoordinatorDelay, EachRequestWithALeaseAsksForItAndTheHolderBelievesInTheLease) {
  Script script;
  Caller& held = script.acquire(REENTRANT, 1s, Lease(30s).lock_delay(5s));
  EXPECT_EQ(script.sent(), "acquire 1 35000");
  script.answer(Kind::granted);
  EXPECT_EQ(script.left(held), 29'700ms) << "the lease less its margin";
  script.pass(10s);
  EXPECT_EQ(script.sent(), "verify 1") << "at a third of the lease";
  script.answer(Kind::granted);
  Caller& extend = script.extend(held, 40s);
  EXPECT_EQ(script.sent(), "renew 1 45000");
  script.answer(Kind::granted);
  EXPECT_EQ(extend.answer, Answer::granted);
  EXPECT_EQ(script.left(held), 39'600ms);
  script.release(held);
}

TEST(CoordinatorDelay, TheWatchdogRenewsWithIt) {
  Script script;
  Caller& held = script.acquire(REENTRANT, 1s, watchdog.lock_delay(5s));
  EXPECT_EQ(script.sent(), "acquire 1 35000");
  script.answer(Kind::granted);
  script.pass(10s);
  EXPECT_EQ(script.sent(), "renew 1 35000");
  script.answer(Kind::granted);
  EXPECT_EQ(script.left(held), 29'700ms);
  script.release(held);
}

TEST(CoordinatorDelay, ARenewalThatFailedIsRepeatedForTheSameLease) {
  Script script;
  Caller& held = hold(script, watchdog.lock_delay(5s));
  script.pass(10s);
  script.answer(Kind::unknown);
  script.pass(1s);
  EXPECT_EQ(script.sent(), "renew 1 35000, renew 1 35000");
  script.answer(Kind::granted);
  script.release(held);
}

// Found by the simulator, seeds 1354062 and, with a limit, 4157647077: the delay began at the
// earlier deadline.
void re_enter_while_the_hold_is_renewed(Lease lease) {
  Script script(with_cohorts());
  Caller& first = hold(script, 10s);
  Caller& held = script.acquire(REENTRANT, 3s, lease, Owner::make());
  script.release(first);
  EXPECT_EQ(held.answer, Answer::granted);
  script.pass(50ms);
  Caller& inner = script.acquire(REENTRANT, 1s, Lease(1s).lock_delay(5s), held.owner);
  EXPECT_EQ(script.sent(), "renew 1 30000") << "the lease that the call asked for";
  script.answer(Kind::granted);
  EXPECT_EQ(script.sent(), "renew 1 35000") << "what is left of it, and the delay";
  script.answer(Kind::granted);
  EXPECT_EQ(inner.answer, Answer::granted);
  script.release(inner);
  script.release(held);
}
TEST(CoordinatorDelay, AReEntryWhileTheHoldIsRenewedGetsTheWholeDelayAfterThat) {
  re_enter_while_the_hold_is_renewed(30s);
  re_enter_while_the_hold_is_renewed(Lease(30s).held_at_most(1min));
}

TEST(CoordinatorDelay, ReleasesFreeTheLockAtOnce) {
  Script script(with_events(without_cohorts()));
  Caller& held = hold(script, Lease(30s).lock_delay(5s));
  Caller& release = script.release(held);
  EXPECT_EQ(script.sent(), "release 1");
  script.answer(Kind::granted);
  EXPECT_EQ(release.answer, Answer::granted);
  EXPECT_TRUE(script.idle());
}

TEST(CoordinatorDelay, AHolderThatEndsWithinItFreesTheLock) {
  Script script(with_events(without_cohorts()));
  Caller& held = hold(script, Lease(1s).lock_delay(5s));
  script.pass(990ms);
  EXPECT_TRUE(script.lost(held));
  EXPECT_EQ(script.events(), "lost");
  Caller& release = script.release(held);
  EXPECT_EQ(release.answer, Answer::lost);
  EXPECT_EQ(script.sent(), "verify 1, release 1");
  script.answer(Verb::verify, Kind::granted);
  script.answer(Kind::granted);
}

TEST(CoordinatorDelay, ACallOfThisProcessAsksTheBackendWhileItLasts) {
  Script script;
  Caller& held = hold(script, Lease(300ms).lock_delay(5s));
  script.pass(295ms);
  EXPECT_TRUE(script.lost(held));
  (void)script.sent();
  Caller& next = script.acquire(REENTRANT, 1s, 30s, Owner::make());
  EXPECT_EQ(script.sent(), "acquire 2 30000");
  script.answer(Verb::acquire, Script::busy(5s));
  EXPECT_EQ(next.answer, Answer::pending);
  script.cancel(next);
  while (script.open() > 0) script.answer(Kind::granted);
}

TEST(CoordinatorDelay, TheLastRenewalOfALimitedHoldEndsBothAfterTheLimit) {
  Script script;
  Caller& held = hold(script, watchdog.held_at_most(45s).lock_delay(5s));
  script.pass(10s);
  script.answer(Kind::granted);
  script.pass(10s);
  EXPECT_EQ(script.sent(), "renew 1 35000, renew 1 30253") << "25 s, its margin, and 5 s";
  script.answer(Kind::granted);
  EXPECT_EQ(script.left(held), 25s);
  script.pass(10s);
  EXPECT_EQ(script.sent(), "verify 1");
  script.answer(Kind::granted);
  script.release(held);
}

TEST(CoordinatorDelay, ABackendWithCoarseLeasesIsAskedForOneThatItOffers) {
  CoordinatorSettings settings = without_cohorts();
  settings.min_lease = 2s;
  settings.lease_granularity = 1s;
  Script script(settings);
  Caller& held = script.acquire(REENTRANT, 1s, Lease(2s).lock_delay(300ms));
  EXPECT_EQ(script.sent(), "acquire 1 3000");
  script.answer(Kind::granted);
  EXPECT_EQ(script.left(held), 1'980ms);
  script.release(held);
}

TEST(CoordinatorDelay, TheTimeForWhichAKeyIsKeptAfterTheMethodHasNone) {
  CoordinatorSettings settings = without_cohorts();
  settings.expires = true;
  Script script(settings);
  Caller& held = hold(script, Lease(30s).lock_delay(5s));
  script.release(held, 2s);
  EXPECT_EQ(script.sent(), "expire 1");
  script.answer(Kind::granted);
  script.pass(2s);
  EXPECT_EQ(script.sent(), "release 1");
  script.answer(Kind::granted);
}

// --- the backend's queues ---

// A release grants the lock for a few seconds and without a lock_delay.
TEST(CoordinatorDelay, AGrantByAReleaseIsConfirmedByOneMoreAttempt) {
  Script script(with_grants());
  Caller& call = script.acquire(REENTRANT, 10s, Lease(30s).lock_delay(5s));
  Outcome busy = Script::busy(20s);
  busy.place = 7;
  script.answer(busy);
  script.answer(Kind::granted);  // the subscription
  while (script.open() > 0) script.answer(busy);
  (void)script.sent();
  script.grant(1, 7);
  EXPECT_EQ(call.answer, Answer::pending);
  EXPECT_EQ(script.sent(), "acquire 1 35000");
  script.answer(Kind::granted);
  EXPECT_EQ(call.answer, Answer::granted);
  EXPECT_EQ(script.left(call), 29'700ms);
}

// --- several keys ---

TEST(CoordinatorDelay, AMemberOfABundleThatIsReEnteredGetsItByAnExtend) {
  Script script;
  Caller& outer = hold(script, 30s);
  Caller& inner = script.acquire_bundled(REENTRANT, Lease(30s).lock_delay(5s));
  EXPECT_EQ(inner.answer, Answer::granted) << "the batch cannot wait for a renewal";
  EXPECT_EQ(script.sent(), "");
  Caller& extend = script.extend(outer, 30s, true);
  EXPECT_EQ(script.sent(), "renew 1 35000");
  script.answer(Kind::granted);
  EXPECT_EQ(extend.answer, Answer::granted);
}

// --- close ---

TEST(CoordinatorDelay, ClosingLeavesAHoldToExpireAsItsHolderMayStillBeWorking) {
  Script script(with_events(without_cohorts()));
  Caller& held = hold(script, Lease(30s).lock_delay(5s));
  script.close();
  EXPECT_TRUE(script.lost(held));
  EXPECT_EQ(script.sent(), "");
  EXPECT_FALSE(script.unfinished()) << "close does not wait for it";
  EXPECT_EQ(script.release(held).answer, Answer::lost);
  EXPECT_EQ(script.sent(), "release 1") << "it has ended";
  script.answer(Kind::granted);
}

TEST(CoordinatorDelay, ClosingReleasesAHoldWithoutOne) {
  Script script;
  hold(script, 30s);
  script.close();
  EXPECT_EQ(script.sent(), "release 1");
  EXPECT_TRUE(script.unfinished());
  script.answer(Kind::granted);
  EXPECT_FALSE(script.unfinished());
}

}  // namespace
}  // namespace latchkey::sim
