// lock_delay of calls that share a hold: re-entries, hand-overs and READs.
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

TEST(CoordinatorSharedDelay, AReEntryThatAsksForNoMoreSendsNothing) {
  Script script;
  Caller& outer = hold(script, Lease(30s).lock_delay(5s));
  EXPECT_EQ(script.acquire(REENTRANT, 1s, Lease(30s).lock_delay(5s)).answer, Answer::granted);
  EXPECT_EQ(script.acquire(REENTRANT, 1s, 30s).answer, Answer::granted);
  EXPECT_EQ(script.sent(), "");
  EXPECT_FALSE(script.lost(outer));
}

TEST(CoordinatorSharedDelay, AReEntryThatAsksForMoreIsGrantedOnceTheBackendHasIt) {
  Script script;
  Caller& outer = hold(script, 30s);
  script.pass(1s);
  Caller& inner = script.acquire(REENTRANT, 1s, Lease(10s).lock_delay(5s));
  EXPECT_EQ(inner.answer, Answer::pending);
  EXPECT_EQ(script.sent(), "renew 1 33990") << "what was left of the lease, its margin, and 5 s";
  script.answer(Kind::granted);
  EXPECT_EQ(inner.answer, Answer::granted);
  EXPECT_EQ(script.left(outer), 28'700ms);
  script.release(inner);
  script.extend(outer, 40s);
  EXPECT_EQ(script.sent(), "renew 1 45000") << "for the rest of the hold";
  script.answer(Kind::granted);
}

TEST(CoordinatorSharedDelay, AReEntryUnderTheWatchdogThatAsksForMoreIsGrantedOnceTheBackendHasIt) {
  Script script;
  hold(script, watchdog.lock_delay(1s));
  Caller& inner = script.acquire(REENTRANT, 1s, watchdog.lock_delay(5s));
  EXPECT_EQ(inner.answer, Answer::pending);
  EXPECT_EQ(script.sent(), "renew 1 35000");
  script.answer(Kind::granted);
  EXPECT_EQ(inner.answer, Answer::granted);
}

TEST(CoordinatorSharedDelay, AReEntryWaitsForTheRenewalThatFollowsTheOneInFlight) {
  Script script;
  hold(script, watchdog);
  script.pass(10s);
  Caller& inner = script.acquire(REENTRANT, 1s, watchdog.lock_delay(5s));
  script.answer(Kind::granted);
  EXPECT_EQ(inner.answer, Answer::pending) << "the renewal in flight did not ask for it";
  EXPECT_EQ(script.sent(), "renew 1 30000, renew 1 35000");
  script.answer(Kind::granted);
  EXPECT_EQ(inner.answer, Answer::granted);
}

TEST(CoordinatorSharedDelay, AReEntryOfAHoldThatIsRenewedNoMoreBringsItToTheBackend) {
  Script script;
  Caller& outer = hold(script, watchdog.held_at_most(10s));
  script.pass(4s);
  EXPECT_EQ(script.sent(), "verify 1");
  script.answer(Kind::granted);
  EXPECT_EQ(script.left(outer), 6s) << "the limit";
  Caller& inner = script.acquire(REENTRANT, 1s, watchdog.lock_delay(5s));
  EXPECT_EQ(script.sent(), "renew 1 11061");
  EXPECT_EQ(inner.answer, Answer::pending);
  script.answer(Kind::granted);
  EXPECT_EQ(inner.answer, Answer::granted);
  EXPECT_EQ(script.left(outer), 6s);
}

// The deadline is later than the limit of a re-entry, which the timer has to see.
TEST(CoordinatorSharedDelay, ItBeginsAfterTheDeadlineAlsoIfALimitEndsTheHoldBefore) {
  Script script;
  Caller& outer = hold(script, 30s);
  script.acquire(REENTRANT, 1s, watchdog.held_at_most(3s));
  script.pass(900ms);
  Caller& inner = script.acquire(REENTRANT, 1s, Lease(1s).lock_delay(5s));
  EXPECT_EQ(script.left(outer), 28'800ms);
  EXPECT_EQ(script.sent(), "renew 1 34091") << "not for the 2.1 s that are left until the limit";
  script.answer(Kind::granted);
  EXPECT_EQ(inner.answer, Answer::granted);
}

TEST(CoordinatorSharedDelay, TheReadInsideAWriteKeepsIt) {
  Script script;
  Caller& write = hold(script, Lease(30s).lock_delay(5s), WRITE);
  Caller& read = script.acquire(READ, 1s, 30s);
  script.release(write);
  EXPECT_EQ(script.sent(), "downgrade 1 35000");
  script.answer(Kind::granted);
  EXPECT_EQ(script.left(read), 29'700ms);
}

TEST(CoordinatorSharedDelay, OnlyACallWithTheSameTakesAHoldOver) {
  Cohort script(REENTRANT, Lease(30s).lock_delay(5s));
  Caller& next = script.wait(REENTRANT, Lease(30s).lock_delay(5s));
  script.release(script.holder());
  EXPECT_EQ(next.answer, Answer::granted);
  EXPECT_EQ(script.sent(), "");
  script.extend(next, 40s);
  EXPECT_EQ(script.sent(), "renew 1 45000");
  script.answer(Kind::granted);
}

TEST(CoordinatorSharedDelay, ACallWithALongerOneAsksTheBackend) {
  Cohort script(REENTRANT, Lease(30s).lock_delay(5s));
  script.wait(REENTRANT, Lease(30s).lock_delay(6s));
  script.expect_released_at_the_backend();
}

TEST(CoordinatorSharedDelay, ACallWithNoneAsksTheBackend) {
  Cohort script(REENTRANT, Lease(30s).lock_delay(5s));
  script.wait(REENTRANT, 30s);
  script.expect_released_at_the_backend();
}

TEST(CoordinatorSharedDelay, AReaderJoinsAHoldWithALongerOne) {
  Readers script(Lease(30s).lock_delay(5s));
  Caller& other = script.join(Lease(30s).lock_delay(2s));
  EXPECT_EQ(other.answer, Answer::granted);
  EXPECT_EQ(script.sent(), "");
}

TEST(CoordinatorSharedDelay, AReaderWithALongerOneHasAHoldOfItsOwn) {
  Readers script(Lease(30s).lock_delay(5s));
  EXPECT_EQ(script.ask(READ, Lease(30s).lock_delay(6s)).answer, Answer::pending);
  EXPECT_EQ(script.sent(), "acquire 2 36000");
  script.answer(Kind::granted);
}

TEST(CoordinatorSharedDelay, AJoinedReaderThatReEntersWithALongerOneIsGrantedOnceTheBackendHasIt) {
  Readers script(30s);
  Caller& other = script.join(30s);
  Caller& inner = script.acquire(READ, 1s, Lease(30s).lock_delay(5s), other.owner);
  EXPECT_EQ(inner.answer, Answer::pending);
  EXPECT_EQ(script.sent(), "renew 1 35000");
  script.answer(Kind::granted);
  EXPECT_EQ(inner.answer, Answer::granted);
}

}  // namespace
}  // namespace latchkey::sim
