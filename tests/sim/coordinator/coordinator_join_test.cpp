// READs of one process share one hold at the backend.
#include <algorithm>
#include <chrono>
#include <string>

#include <gtest/gtest.h>

#include "sim/readers.hpp"

namespace latchkey::sim {
namespace {

using namespace std::chrono_literals;
using enum LockType;
using Caller = Script::Caller;

TEST(CoordinatorJoin, TheLastReaderGivesTheHoldBack) {
  Readers script;
  Caller& second = script.join();
  Caller& third = script.join();
  EXPECT_EQ(script.release(script.first()).answer, Answer::granted);
  EXPECT_EQ(script.release(third).answer, Answer::granted);
  EXPECT_EQ(script.sent(), "");
  Caller& last = script.release(second);
  EXPECT_EQ(last.answer, Answer::pending);
  script.expect_given_back();
  EXPECT_EQ(last.answer, Answer::granted);
}

TEST(CoordinatorJoin, EachReaderIsReportedAsGrantedAndReleasedOnce) {
  CoordinatorSettings settings = with_cohorts();
  settings.events = CoordinatorSettings::Events::everything;
  Readers script(30s, settings);
  Caller& second = script.join();
  EXPECT_EQ(script.events(), "attempt, granted");
  script.release(script.first());
  EXPECT_EQ(script.events(), "released");
  script.release(second);
  script.answer(Kind::granted);
  EXPECT_EQ(script.events(), "released");
}

TEST(CoordinatorJoin, AHoldCanBeJoinedForFiveMillisecondsOrATenthOfItsLease) {
  for (const milliseconds lease : {30'000ms, 20ms}) {
    Readers script(lease);
    script.pass(std::min<milliseconds>(5ms, lease / 10) - 1ms);
    script.release(script.join(lease));
    script.pass(1ms);
    script.ask(READ, lease);
    EXPECT_EQ(script.sent(), "acquire 2 " + std::to_string(lease.count()));
    script.answer(Kind::granted);
  }
}

TEST(CoordinatorJoin, OneOfSeveralWaitingReadersRequestsForAll) {
  Script script(with_cohorts());
  Caller& first = script.acquire(READ, 3s, 30s, Owner::make());
  Caller& second = script.acquire(READ, 3s, 30s, Owner::make());
  Caller& writer = script.acquire(WRITE, 3s, 30s, Owner::make());
  Caller& behind = script.acquire(READ, 3s, 30s, Owner::make());
  EXPECT_EQ(script.sent(), "acquire 1 30000");
  script.answer(Kind::granted);
  EXPECT_EQ(first.answer, Answer::granted);
  EXPECT_EQ(second.answer, Answer::granted);
  EXPECT_EQ(writer.answer, Answer::pending);
  EXPECT_EQ(behind.answer, Answer::pending);
  script.release(first);
  EXPECT_EQ(script.sent(), "");
  script.release(second);
  EXPECT_EQ(script.sent(), "release 1, acquire 2 30000");
  script.answer(Kind::granted);
  script.answer(Kind::granted);
  EXPECT_EQ(writer.answer, Answer::granted);
  script.release(writer);
  while (script.open() > 0) script.answer(Kind::granted);
  EXPECT_EQ(behind.answer, Answer::granted);
}

TEST(CoordinatorJoin, TheNextReaderRequestsIfTheFirstGivesUp) {
  Script script(with_cohorts());
  Caller& first = script.acquire(READ, 3s, 30s, Owner::make());
  Caller& second = script.acquire(READ, 3s, 30s, Owner::make());
  script.answer(Kind::busy);
  script.answer(Verb::subscribe, Kind::granted);
  script.answer(Kind::busy);
  (void)script.sent();
  script.cancel(first);
  EXPECT_EQ(script.sent(), "acquire 2 30000");
  script.answer(Kind::granted);
  EXPECT_EQ(second.answer, Answer::granted);
  EXPECT_EQ(first.answer, Answer::cancelled);
  script.release(second);
  while (script.open() > 0) script.answer(Kind::granted);
}

TEST(CoordinatorJoin, ACallForOneAttemptMakesItsOwn) {
  Script script(with_cohorts());
  Caller& first = script.acquire(READ, 3s, 30s, Owner::make());
  Caller& second = script.acquire(READ, 0s, 30s, Owner::make());
  EXPECT_EQ(script.sent(), "acquire 1 30000, acquire 2 30000");
  EXPECT_EQ(second.answer, Answer::pending);
  script.answer(Kind::busy);
  EXPECT_EQ(first.answer, Answer::pending);
  script.answer(Verb::acquire, Kind::granted);
  EXPECT_EQ(second.answer, Answer::granted);
  EXPECT_EQ(first.answer, Answer::pending);
  script.answer(Verb::subscribe, Kind::granted);
  script.answer(Verb::acquire, Kind::granted);
  EXPECT_EQ(first.answer, Answer::granted);
  script.release(first);
  script.release(second);
  while (script.open() > 0) script.answer(Kind::granted);
}

TEST(CoordinatorJoin, AnOwnerThatHasReleasedMayWaitForAWrite) {
  Readers script;
  Caller& second = script.join();
  const Owner owner = script.first().owner;
  script.release(script.first());
  Caller& writer = script.acquire(WRITE, 3s, 30s, owner);
  EXPECT_EQ(writer.answer, Answer::pending);
  EXPECT_EQ(script.acquire(WRITE, 3s, 30s, second.owner).answer, Answer::would_deadlock);
  script.release(second);
  EXPECT_EQ(script.sent(), "release 1, acquire 2 30000");
  script.answer(Kind::granted);
  script.answer(Kind::granted);
  EXPECT_EQ(writer.answer, Answer::granted);
  script.release(writer);
  while (script.open() > 0) script.answer(Kind::granted);
}

TEST(CoordinatorJoin, HoldForOfOneKeepsTheKeyAfterTheLast) {
  Readers script;
  Caller& second = script.join();
  script.release(script.first(), 100ms);
  script.pass(10ms);
  script.release(second);
  EXPECT_EQ(script.sent(), "");
  script.pass(90ms);
  script.expect_given_back();
}

TEST(CoordinatorJoin, CloseIsALossForAll) {
  Readers script;
  Caller& second = script.join();
  script.close();
  EXPECT_EQ(script.sent(), "release 1");
  EXPECT_TRUE(script.lost(script.first()));
  EXPECT_TRUE(script.lost(second));
  script.answer(Kind::granted);
  EXPECT_EQ(script.release(second).answer, Answer::lost);
  EXPECT_EQ(script.release(script.first()).answer, Answer::lost);
  EXPECT_TRUE(script.idle());
}

// Found by the simulator: both waited for a renewal of the hold that was lost, and joined in turn.
TEST(CoordinatorJoin, CallsOfOneOwnerThatLostTheirHoldJoinOnce) {
  Script script(with_cohorts());
  const Owner owner = Owner::make();
  script.acquire(READ, 3s, 1s, owner);
  script.answer(Kind::granted);
  Caller& second = script.acquire(READ, 3s, 30s, owner);
  Caller& third = script.acquire(READ, 3s, 30s, owner);
  script.pass(988ms);
  Caller& other = script.acquire(READ, 3s, 30s, Owner::make());
  script.answer(Verb::acquire, Kind::granted);
  script.pass(2ms);
  EXPECT_EQ(second.answer, Answer::granted);
  EXPECT_EQ(third.answer, Answer::granted);
  EXPECT_EQ(second.hold, third.hold);
  EXPECT_NE(second.hold, other.hold);
  while (script.open() > 0) script.answer(Kind::granted);
}

// Found by the simulator: it re-entered the hold that was ending, again and again.
TEST(CoordinatorJoin, ARenewalThatItsOwnersReleaseEndsBecomesAnAcquireThatJoins) {
  Script script(with_cohorts());
  const Owner owner = Owner::make();
  Caller& first = script.acquire(READ, 3s, 10s, Owner::make());
  Caller& second = script.acquire(READ, 3s, 10s, owner);
  script.answer(Kind::granted);
  Caller& longer = script.acquire(READ, 3s, 30s, owner);
  EXPECT_EQ(longer.answer, Answer::pending);
  script.release(second);
  EXPECT_EQ(longer.answer, Answer::granted);
  EXPECT_NE(longer.hold, first.hold);
  while (script.open() > 0) script.answer(Kind::granted);
}

TEST(CoordinatorJoin, AReaderWhoseHoldWasAWriteIsNotJoined) {
  Script script(with_cohorts());
  const Owner owner = Owner::make();
  Caller& write = script.acquire(WRITE, 3s, 30s, owner);
  script.answer(Kind::granted);
  Caller& read = script.acquire(READ, 3s, 30s, owner);
  script.release(write);
  script.answer(Verb::downgrade, Kind::granted);
  (void)script.sent();
  Caller& other = script.acquire(READ, 3s, 30s, Owner::make());
  EXPECT_EQ(script.sent(), "acquire 2 30000");
  script.answer(Kind::granted);
  script.release(read);
  script.release(other);
  while (script.open() > 0) script.answer(Kind::granted);
}

}  // namespace
}  // namespace latchkey::sim
