// Cohort hand-off: calls of one process take a hold over from one another.
#include <chrono>
#include <vector>

#include <gtest/gtest.h>

#include "sim/cohort.hpp"

namespace latchkey::sim {
namespace {

using namespace std::chrono_literals;
using enum LockType;
using Caller = Script::Caller;

TEST(CoordinatorHandOff, TheNextCallTakesOverWithoutTheBackend) {
  for (const LockType type : {REENTRANT, WRITE}) {
    Cohort script(type);
    Caller& second = script.wait(type);
    Caller& third = script.wait(type);
    script.pass(1ms);
    EXPECT_EQ(script.release(script.holder()).answer, Answer::granted);
    EXPECT_EQ(second.answer, Answer::granted);
    EXPECT_EQ(third.answer, Answer::pending);
    EXPECT_EQ(script.release(second).answer, Answer::granted);
    EXPECT_EQ(third.answer, Answer::granted);
    EXPECT_EQ(script.sent(), "");
    EXPECT_EQ(script.left(third), 30s - 300ms - 1ms);
    script.release(third);
    EXPECT_EQ(script.sent(), "release 1");
    script.answer(Kind::granted);
    EXPECT_TRUE(script.idle());
  }
}

TEST(CoordinatorHandOff, ACohortEndsAfterFiveMilliseconds) {
  Cohort script(REENTRANT);
  Caller& second = script.wait(REENTRANT);
  Caller& third = script.wait(REENTRANT);
  script.pass(4ms);
  script.release(script.holder());
  EXPECT_EQ(second.answer, Answer::granted);
  script.pass(1ms);
  script.release(second);
  EXPECT_EQ(third.answer, Answer::pending);
  EXPECT_EQ(script.sent(), "release 1");
  script.answer(Kind::granted);
  EXPECT_EQ(script.sent(), "acquire 2 30000");
  script.answer(Kind::granted);
}

TEST(CoordinatorHandOff, ACohortEndsAfterATenthOfTheLease) {
  Cohort script(REENTRANT, 30ms);
  script.wait(REENTRANT, 30ms);
  script.pass(3ms);
  script.expect_released_at_the_backend();
}

TEST(CoordinatorHandOff, ACohortEndsAfterAThousandHandOffs) {
  Cohort script(REENTRANT);
  Caller* holder = &script.holder();
  for (int hand_off = 0; hand_off < 1'000; ++hand_off) {
    Caller& next = script.wait(REENTRANT);
    script.release(*holder);
    ASSERT_EQ(next.answer, Answer::granted);
    holder = &next;
  }
  script.wait(REENTRANT);
  script.release(*holder);
  EXPECT_EQ(script.sent(), "release 1");
  script.answer(Kind::granted);
  script.answer(Kind::granted);
}

// Redisson's threads ask the server for each call, so a long cohort would starve them.
TEST(CoordinatorHandOff, ACohortHasTwoCallsIfRedissonHeldTheKeyInTheLastSecond) {
  for (const milliseconds since : {0ms, 1'001ms}) {
    Script script(with_cohorts());
    Caller& first = script.acquire(REENTRANT, 3s, 30s, Owner::make());
    Outcome held_by_redisson = Script::busy(30s);
    held_by_redisson.holder_is_foreign = true;
    script.answer(held_by_redisson);
    script.answer(Verb::subscribe, Kind::granted);
    script.pass(since);
    script.notify(Notification::Kind::released);
    script.answer(Verb::acquire, Kind::granted);
    EXPECT_EQ(first.answer, Answer::granted);
    Caller& second = script.acquire(REENTRANT, 3s, 30s, Owner::make());
    script.release(first);
    EXPECT_EQ(second.answer, Answer::granted);
    Caller& third = script.acquire(REENTRANT, 3s, 30s, Owner::make());
    script.release(second);
    EXPECT_EQ(third.answer, since > 1s ? Answer::granted : Answer::pending);
    while (script.open() > 0) script.answer(Kind::granted);
  }
}

TEST(CoordinatorHandOff, FairAndReadHoldsAreReleased) {
  Script fair(with_cohorts());
  Caller& first = fair.acquire(FAIR, 3s, 30s, Owner::make());
  fair.answer(Kind::granted);
  fair.acquire(FAIR, 3s, 30s, Owner::make());
  fair.answer(Kind::busy);
  (void)fair.sent();
  fair.release(first);
  EXPECT_EQ(fair.sent(), "release 1");
  while (fair.open() > 0) fair.answer(Kind::granted);

  Cohort read(READ);
  read.expect_released_at_the_backend();
}

TEST(CoordinatorHandOff, ACallOfAnotherTypeTakesNothingOver) {
  for (const LockType other : {READ, REENTRANT, FENCED}) {
    Cohort script(WRITE);
    script.wait(other);
    script.expect_released_at_the_backend();
  }
}

TEST(CoordinatorHandOff, ALostHoldIsNotHandedOn) {
  Cohort script(REENTRANT, 1s);
  Caller& next = script.wait(REENTRANT, 1s);
  script.notify(Notification::Kind::gone, 1);
  EXPECT_TRUE(script.lost(script.holder()));
  EXPECT_EQ(script.release(script.holder()).answer, Answer::lost);
  EXPECT_EQ(next.answer, Answer::pending);
  while (script.open() > 0) script.answer(Kind::granted);
}

TEST(CoordinatorHandOff, AHoldThatIsBeingCheckedIsNotHandedOn) {
  Cohort script(REENTRANT, watchdog);
  script.pass(10s);
  EXPECT_EQ(script.sent(), "renew 1 30000");
  script.wait(REENTRANT, watchdog);
  script.release(script.holder());
  EXPECT_EQ(script.sent(), "release 1");
  while (script.open() > 0) script.answer(Kind::granted);
}

TEST(CoordinatorHandOff, ALossAfterwardsIsTheNextCalls) {
  Cohort script(REENTRANT);
  Caller& next = script.wait(REENTRANT);
  script.release(script.holder());
  script.notify(Notification::Kind::gone, 1);
  EXPECT_TRUE(script.lost(next));
  EXPECT_EQ(script.release(next).answer, Answer::lost);
}

TEST(CoordinatorHandOff, AKeyThatIsKeptForAWhileIsNotHandedOn) {
  Cohort script(REENTRANT);
  Caller& next = script.wait(REENTRANT);
  script.release(script.holder(), 100ms);
  EXPECT_EQ(next.answer, Answer::pending);
  script.pass(100ms);
  EXPECT_EQ(script.sent(), "release 1, acquire 2 30000");
  while (script.open() > 0) script.answer(Kind::granted);
}

TEST(CoordinatorHandOff, WaitingCallsOfOneOwnerTakeOverTogether) {
  Cohort script(REENTRANT);
  const Owner owner = Owner::make();
  Caller& one = script.acquire(REENTRANT, 3s, 30s, owner);
  Caller& two = script.acquire(REENTRANT, 3s, 30s, owner);
  script.release(script.holder());
  EXPECT_EQ(one.answer, Answer::granted);
  EXPECT_EQ(two.answer, Answer::granted);
  EXPECT_EQ(script.release(one).answer, Answer::granted);
  EXPECT_EQ(script.sent(), "");
}

TEST(CoordinatorHandOff, EachFencedCallHasATokenOfItsOwn) {
  Script script(with_cohorts());
  Caller& first = script.acquire(FENCED, 3s, 30s, Owner::make());
  script.answer(Script::of(Kind::granted, 10));  // nobody waited when it was requested
  EXPECT_EQ(first.hold->token, 10U);
  std::vector<Caller*> waiters;
  for (int waiter = 0; waiter < 70; ++waiter) {
    waiters.push_back(&script.acquire(FENCED, 3s, 30s, Owner::make()));
  }
  (void)script.sent();
  script.release(first);
  EXPECT_EQ(script.sent(), "release 1");
  script.answer(Kind::granted);
  EXPECT_EQ(script.sent(), "acquire 2 30000");
  script.answer(Script::of(Kind::granted, 100));
  std::uint64_t token = 100 - 64;
  for (int waiter = 0; waiter < 64; ++waiter) {
    Caller& each = *waiters.at(static_cast<std::size_t>(waiter));
    ASSERT_EQ(each.answer, Answer::granted);
    EXPECT_EQ(each.hold->token, ++token);
    script.release(each);
  }
  EXPECT_EQ(token, 100U);
  EXPECT_EQ(script.sent(), "release 2, acquire 3 30000");
  while (script.open() > 0) script.answer(Script::of(Kind::granted, 200));
}

TEST(CoordinatorHandOff, IsReportedAsReleaseAndGrant) {
  CoordinatorSettings settings = with_cohorts();
  settings.events = CoordinatorSettings::Events::everything;
  Cohort script(REENTRANT, 30s, settings);
  script.wait(REENTRANT);
  (void)script.events();
  script.release(script.holder());
  EXPECT_EQ(script.events(), "released, granted");
}

}  // namespace
}  // namespace latchkey::sim
