// held_at_most: the last renewal, the loss, and which local hold the limit is of.
// tidy: long-file because each way in which a limit meets a hold is one schedule
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

TEST(CoordinatorLimit, TheLastRenewalEndsTheHoldAtTheLimitAndNoneFollows) {
  Script script(with_events(without_cohorts()));
  Caller& held = hold(script, watchdog.held_at_most(45s));
  script.pass(10s);
  EXPECT_EQ(script.sent(), "renew 1 30000");
  script.answer(Kind::granted);
  script.pass(10s);
  EXPECT_EQ(script.sent(), "renew 1 25253") << "25 s and its margin";
  script.answer(Kind::granted);
  EXPECT_EQ(script.left(held), 25s);
  script.pass(10s);
  EXPECT_EQ(script.sent(), "verify 1");
  script.answer(Kind::granted);
  script.pass(10s);
  EXPECT_EQ(script.sent(), "verify 1");
  script.answer(Kind::granted);
  (void)script.events();
  script.pass(4'999ms);
  EXPECT_FALSE(script.lost(held));
  script.pass(1ms);
  EXPECT_TRUE(script.lost(held));
  EXPECT_EQ(script.events(), "lost by its limit");
  Caller& release = script.release(held);
  EXPECT_EQ(release.answer, Answer::lost);
  EXPECT_TRUE(release.held_too_long);
}

TEST(CoordinatorLimit, AHoldWhoseRenewalsFailIsNotLostByItsLimit) {
  Script script(with_events(without_cohorts()));
  Caller& held = hold(script, watchdog.held_at_most(45s));
  script.pass(10s);
  script.answer(Kind::unknown);
  script.pass(20s);
  EXPECT_TRUE(script.lost(held));
  EXPECT_EQ(script.events(), "lost");
  script.pass(20s);  // released long after the limit
  Caller& release = script.release(held);
  EXPECT_EQ(release.answer, Answer::lost);
  EXPECT_FALSE(release.held_too_long);
}

TEST(CoordinatorLimit, ALimitShorterThanTheLeaseShortensTheLeaseThatIsAskedFor) {
  Script script;
  Caller& held = script.acquire(REENTRANT, 1s, watchdog.held_at_most(3s));
  EXPECT_EQ(script.sent(), "acquire 1 3031");
  script.pass(20ms);
  script.answer(Kind::granted);
  EXPECT_EQ(script.left(held), 2'980ms) << "counted from the request";
  script.pass(1s);
  EXPECT_EQ(script.sent(), "renew 1 2041");
  script.answer(Kind::granted);
  EXPECT_EQ(script.left(held), 2s) << "counted from the grant";
  script.release(held);
}

TEST(CoordinatorLimit, ABackendWithCoarseLeasesIsAskedForOneThatItOffers) {
  CoordinatorSettings settings = without_cohorts();
  settings.min_lease = 2s;
  settings.lease_granularity = 1s;
  Script script(settings);
  Caller& held = script.acquire(REENTRANT, 1s, watchdog.held_at_most(1500ms));
  EXPECT_EQ(script.sent(), "acquire 1 2000");
  script.answer(Kind::granted);
  EXPECT_EQ(script.left(held), 1500ms);
  script.pass(1500ms);
  EXPECT_TRUE(script.lost(held));
}

TEST(CoordinatorLimit, AFixedLeaseEndsFirst) {
  Script script(with_events(without_cohorts()));
  Caller& held = hold(script, Lease(1s).held_at_most(1s));
  script.pass(990ms);
  EXPECT_TRUE(script.lost(held));
  EXPECT_EQ(script.events(), "lost");
}

TEST(CoordinatorLimit, AnExtendBeyondTheLimitIsRefusedAndChangesNothing) {
  Script script;
  Caller& held = hold(script, Lease(1s).held_at_most(10s));
  EXPECT_EQ(script.extend(held, 10'001ms).answer, Answer::too_long);
  EXPECT_EQ(script.sent(), "");
  EXPECT_EQ(script.left(held), 990ms);
  Caller& extend = script.extend(held, 10s);
  EXPECT_EQ(script.sent(), "renew 1 10000");
  script.answer(Kind::granted);
  EXPECT_EQ(extend.answer, Answer::granted);
  EXPECT_FALSE(script.lost(held));
  script.release(held);
}

TEST(CoordinatorLimit, AnExtendForSeveralKeysGoesAsFarAsTheLimit) {
  Script script;
  Caller& held = hold(script, Lease(1s).held_at_most(10s));
  Caller& extend = script.extend(held, 30s, true);
  EXPECT_EQ(script.sent(), "renew 1 10102");
  script.answer(Kind::granted);
  EXPECT_EQ(extend.answer, Answer::granted);
  EXPECT_EQ(script.left(held), 10s);
  script.release(held);
}

TEST(CoordinatorLimit, TheCallThatTakesAHoldOverHasALimitOfItsOwn) {
  Cohort script(REENTRANT, watchdog.held_at_most(40s), with_events(with_cohorts()));
  Caller& next = script.wait(REENTRANT, watchdog.held_at_most(40s));
  script.pass(3ms);
  script.release(script.holder());
  EXPECT_EQ(next.answer, Answer::granted);
  for (int renewals = 0; renewals < 3; ++renewals) {
    script.pass(10s);
    script.answer(Kind::granted);
  }
  script.pass(9'999ms);
  EXPECT_FALSE(script.lost(next));
  script.pass(1ms);
  EXPECT_TRUE(script.lost(next));
}

TEST(CoordinatorLimit, AHoldThatIsHandedOnIsRenewedForACallWithoutALimit) {
  Cohort script(REENTRANT, watchdog.held_at_most(40s));
  Caller& next = script.wait(REENTRANT, watchdog);
  script.release(script.holder());
  EXPECT_EQ(next.answer, Answer::granted);
  for (int renewals = 0; renewals < 9; ++renewals) {
    script.pass(10s);
    EXPECT_EQ(script.sent(), "renew 1 30000");
    script.answer(Kind::granted);
  }
  EXPECT_FALSE(script.lost(next));
}

TEST(CoordinatorLimit, ThatOfAReEntryEndsWithItAndTheOuterHoldGoesOn) {
  Script script;
  Caller& outer = hold(script, watchdog);
  Caller& inner = script.acquire(REENTRANT, 1s, watchdog.held_at_most(5s));
  EXPECT_EQ(inner.answer, Answer::granted);
  script.pass(4s);
  EXPECT_EQ(script.release(inner).answer, Answer::granted);
  script.pass(2s);
  EXPECT_FALSE(script.lost(outer));
  script.pass(4s);
  EXPECT_EQ(script.sent(), "renew 1 30000");
  script.answer(Kind::granted);
}

TEST(CoordinatorLimit, AReEntryThatIsHeldTooLongLosesTheHold) {
  Script script(with_events(without_cohorts()));
  Caller& outer = hold(script, watchdog);
  Caller& inner = script.acquire(REENTRANT, 1s, watchdog.held_at_most(5s));
  (void)script.events();
  script.pass(4'999ms);
  EXPECT_FALSE(script.lost(inner));
  script.pass(1ms);
  EXPECT_TRUE(script.lost(inner));
  EXPECT_TRUE(script.lost(outer)) << "they are one hold at the backend";
  EXPECT_EQ(script.events(), "lost by its limit");
  EXPECT_TRUE(script.release(inner).held_too_long);
  EXPECT_TRUE(script.release(outer).held_too_long);
}

TEST(CoordinatorLimit, AReEntryWithoutOneDoesNotProlongTheOuterHold) {
  Script script;
  Caller& outer = hold(script, watchdog.held_at_most(20s));
  script.pass(5s);
  Caller& inner = script.acquire(REENTRANT, 1s, watchdog);
  EXPECT_EQ(inner.answer, Answer::granted);
  script.pass(5s);
  script.answer(Kind::granted);
  script.pass(9'999ms);
  EXPECT_FALSE(script.lost(outer));
  script.pass(1ms);
  EXPECT_TRUE(script.lost(inner));
}

TEST(CoordinatorLimit, ALeaseThatItHasShortenedIsRenewedOnceItHasGone) {
  Script script;
  Caller& outer = hold(script, watchdog.held_at_most(12s));
  Caller& inner = script.acquire(REENTRANT, 1s, watchdog);
  script.pass(2s);
  script.release(outer);
  script.pass(50ms);
  EXPECT_EQ(script.sent(), "renew 1 30000");
  script.answer(Kind::granted);
  script.pass(15s);
  EXPECT_FALSE(script.lost(inner));
}

TEST(CoordinatorLimit, ARenewalThatItHasShortenedIsFollowedByAWholeOneOnceItHasGone) {
  Script script;
  Caller& outer = hold(script, watchdog.held_at_most(45s));
  script.acquire(REENTRANT, 1s, watchdog);
  script.pass(10s);
  script.answer(Kind::granted);
  script.pass(10s);
  EXPECT_EQ(script.sent(), "renew 1 30000, renew 1 25253");
  script.release(outer);
  script.answer(Kind::granted);
  EXPECT_EQ(script.sent(), "renew 1 30000");
}

// The renewal that it waits for cannot reach the lease that it asked for.
TEST(CoordinatorLimit, AReEntryIsGrantedTheTimeThatTheOuterHoldHasLeft) {
  Script script;
  Caller& outer = hold(script, Lease(2s).held_at_most(10s));
  Caller& inner = script.acquire(REENTRANT, 1s, 30s);
  EXPECT_EQ(script.sent(), "renew 1 10102");
  script.answer(Kind::granted);
  EXPECT_EQ(inner.answer, Answer::granted);
  EXPECT_EQ(script.left(outer), 10s);
}

TEST(CoordinatorLimit, AReaderThatIsHeldTooLongDoesNotEndTheOthers) {
  Readers script(watchdog, with_events(with_cohorts()));
  Caller& limited = script.join(watchdog.held_at_most(5s));
  (void)script.events();
  script.pass(5s);
  EXPECT_TRUE(script.lost(limited));
  EXPECT_FALSE(script.lost(script.first()));
  EXPECT_EQ(script.events(), "lost by its limit");
  script.release(script.first());
  EXPECT_EQ(script.sent(), "") << "the other has not been released";
  script.pass(10s);
  EXPECT_EQ(script.sent(), "verify 1") << "nobody is left to renew it for";
  script.answer(Kind::granted);
  EXPECT_TRUE(script.release(limited).held_too_long);
  script.expect_given_back();
}

TEST(CoordinatorLimit, AReaderWhoseLimitedCallHasEndedIsHeldOn) {
  Readers script(watchdog, with_cohorts());
  Caller& limited = script.join(watchdog.held_at_most(5s));
  Caller& inner = script.acquire(READ, 1s, watchdog, limited.owner);
  script.pass(1s);
  script.release(limited);
  script.pass(5s);
  EXPECT_FALSE(script.lost(inner));
  EXPECT_EQ(script.sent(), "");
  script.release(inner);
  script.release(script.first());
  script.expect_given_back();
}

TEST(CoordinatorLimit, AWriteWaitsForNoReaderThatIsHeldTooLong) {
  Readers script(watchdog, with_cohorts());
  Caller& limited = script.join(watchdog.held_at_most(5s));
  script.pass(3s);
  Caller& write = script.ask(WRITE, 30s);
  script.pass(2s);
  EXPECT_TRUE(script.lost(limited));
  EXPECT_EQ(script.sent(), "");
  script.release(script.first());
  EXPECT_EQ(script.sent(), "acquire 2 30000");
  script.answer(Kind::granted);
  EXPECT_EQ(write.answer, Answer::granted);
  script.release(limited);
}

TEST(CoordinatorLimit, AReaderThatIsHeldTooLongDoesNotEndWhatAnotherRetains) {
  CoordinatorSettings settings = with_cohorts();
  settings.expires = true;
  Readers script(30s, settings);
  Caller& other = script.join();
  Caller& inner = script.acquire(READ, 1s, watchdog.held_at_most(2s), script.first().owner);
  EXPECT_EQ(inner.answer, Answer::granted);
  EXPECT_EQ(script.release(other, 5s).answer, Answer::granted);
  script.pass(2s);
  EXPECT_TRUE(script.lost(script.first()));
  EXPECT_TRUE(script.release(inner).held_too_long);
  EXPECT_TRUE(script.release(script.first()).held_too_long);
  EXPECT_EQ(script.sent(), "verify 1");
  script.answer(Kind::granted);
  EXPECT_EQ(script.sent(), "expire 1");
  script.answer(Kind::granted);
  script.pass(2'999ms);
  EXPECT_EQ(script.sent(), "");
  script.pass(1ms);
  script.expect_given_back();
}

TEST(CoordinatorLimit, AReaderWithALongerLimitOrNoneHasAHoldOfItsOwn) {
  Readers script(watchdog.held_at_most(5s));
  Caller& same = script.join(watchdog.held_at_most(5s));
  EXPECT_EQ(same.answer, Answer::granted);
  EXPECT_EQ(script.ask(READ, watchdog).answer, Answer::pending);
  EXPECT_EQ(script.sent(), "acquire 2 30000");
  script.answer(Kind::granted);
  (void)script.sent();
}

TEST(CoordinatorLimit, TheReadInsideAWriteKeepsItsOwn) {
  Script script;
  Caller& write = hold(script, watchdog.held_at_most(5s), WRITE);
  Caller& read = script.acquire(READ, 1s, watchdog.held_at_most(20s));
  script.release(write);
  EXPECT_EQ(script.sent(), "downgrade 1 20000");
  script.answer(Kind::granted);
  script.pass(6s);
  EXPECT_FALSE(script.lost(read));
  script.pass(14s);
  EXPECT_TRUE(script.lost(read));
}

TEST(CoordinatorLimit, AMemberOfSeveralKeysCountsFromTheGrantOfAll) {
  MemberReport report;
  Script script;
  Caller& member = script.acquire_member(REENTRANT, watchdog.held_at_most(20s), report);
  script.answer(Kind::granted);
  EXPECT_EQ(member.limit_number(), 0);
  (void)script.sent();
  script.pass(5s);
  EXPECT_EQ(script.limit(member, 20s), HoldLimits::first);
  script.pass(5s);
  EXPECT_EQ(script.sent(), "renew 1 15152");
  script.answer(Kind::granted);
  script.pass(14'999ms);
  EXPECT_FALSE(script.lost(member));
  script.pass(1ms);
  EXPECT_TRUE(script.lost(member));
}

}  // namespace
}  // namespace latchkey::sim
