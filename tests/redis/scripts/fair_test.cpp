// FAIR on a real server: Redisson's list, scores and channels, and who comes next.
#include "redis/scripts/fair_fixture.hpp"

namespace latchkey::tests {
namespace {

TEST_F(FairScripts, AFreeLockIsTakenAndNothingElseIsMade) {
  EXPECT_EQ(ask(1).kind, Kind::granted);
  EXPECT_EQ(keys(), Names{"k"});
  EXPECT_EQ(hash("k"), (Fields{{owner(1), "1"}}));
  expect_ttl("k", lease);
  EXPECT_EQ(release(1), Kind::granted);
  EXPECT_EQ(keys(), Names{});
}

TEST_F(FairScripts, WaitersStandInRedissonsList) {
  ask(1);
  for (const std::uint64_t number : {2U, 3U, 4U}) {
    const Outcome outcome = ask(number);
    EXPECT_EQ(outcome.kind, Kind::busy);
    EXPECT_EQ(outcome.holder, owner(1));
  }
  EXPECT_EQ(queue(), owners({2, 3, 4}));
  EXPECT_EQ(keys(), (Names{"k", std::string(queue_key), std::string(scores_key)}));
  EXPECT_EQ(redis({"ZCARD", scores_key}).integer(), 3);
}

TEST_F(FairScripts, TheyAreServedInTheOrderOfAsking) {
  for (const std::uint64_t number : {1U, 2U, 3U, 4U}) ask(number);
  for (const std::uint64_t number : {1U, 2U, 3U}) {
    EXPECT_EQ(release(number), Kind::granted);
    EXPECT_EQ(ask(4).kind, number == 3 ? Kind::granted : Kind::busy);
    if (number != 3) {
      EXPECT_EQ(ask(number + 1).kind, Kind::granted);
    }
  }
  EXPECT_EQ(keys(), Names{"k"});
}

TEST_F(FairScripts, AskedAgainTheHolderHoldsOnce) {
  ask(1);
  EXPECT_EQ(asker.acquire("k", fair, id(1), 2 * lease, queue_wait).kind, Kind::granted);
  expect_ttl("k", 2 * lease);
  EXPECT_EQ(ask(1).kind, Kind::granted);
  expect_ttl("k", 2 * lease);
  EXPECT_EQ(keys(), Names{"k"});
  EXPECT_EQ(release(1), Kind::granted);
  EXPECT_EQ(keys(), Names{});
}

TEST_F(FairScripts, AWaitOfZeroTakesNoPlaceAndLosesNone) {
  ask(1);
  EXPECT_EQ(ask(2, milliseconds(0)).kind, Kind::busy);
  EXPECT_EQ(queue(), Names{});
  ask(2);
  ask(3);
  const long long before = score(owner(3));
  EXPECT_EQ(ask(3, milliseconds(0)).kind, Kind::busy);
  EXPECT_EQ(queue(), owners({2, 3}));
  EXPECT_LE(score(owner(3)), before);
}

TEST_F(FairScripts, OnlyTheNextIsTold) {
  for (const std::uint64_t number : {1U, 2U, 3U}) ask(number);
  Ear second = ear({channel_of(2)}), third = ear({channel_of(3)});
  Ear plain = ear({"redisson_lock__channel:{k}"});
  release(1);
  EXPECT_EQ(second.next(), channel_of(2) + " 0");
  EXPECT_TRUE(second.quiet());
  EXPECT_TRUE(third.quiet());
  EXPECT_TRUE(plain.quiet());
}

TEST_F(FairScripts, WhereNobodyQueuesThePlainWaitersAreTold) {
  ask(1);
  EXPECT_EQ(asker.acquire("k", LockType::REENTRANT, id(2), lease).kind, Kind::busy);
  Ear plain = ear({"redisson_lock__channel:{k}"});
  release(1);
  EXPECT_EQ(plain.next(), "redisson_lock__channel:{k} 0");
}

TEST_F(FairScripts, LeaveGivesUpThePlaceAndCallsTheNextOfAFreeLock) {
  for (const std::uint64_t number : {1U, 2U, 3U, 4U}) ask(number);
  Ear third = ear({channel_of(3)}), fourth = ear({channel_of(4)});
  EXPECT_EQ(leave(9), Kind::gone);
  release(1);
  EXPECT_EQ(leave(4), Kind::granted);  // behind others: nobody's turn has come
  EXPECT_TRUE(third.quiet());
  EXPECT_EQ(leave(2), Kind::granted);
  EXPECT_EQ(third.next(), channel_of(3) + " 0");
  EXPECT_TRUE(fourth.quiet());
  EXPECT_EQ(leave(2), Kind::gone);
  EXPECT_EQ(queue(), owners({3}));
  EXPECT_EQ(leave(3), Kind::granted);
  EXPECT_EQ(keys(), Names{});
}

TEST_F(FairScripts, LeaveOfAHeldLockTellsNobody) {
  for (const std::uint64_t number : {1U, 2U, 3U}) ask(number);
  Ear third = ear({channel_of(3)});
  EXPECT_EQ(leave(2), Kind::granted);
  EXPECT_TRUE(third.quiet());
  EXPECT_EQ(hash("k"), (Fields{{owner(1), "1"}}));
}

TEST_F(FairScripts, LeaveOfAHolderIsARelease) {
  ask(1);
  ask(2);
  Ear second = ear({channel_of(2)});
  EXPECT_EQ(leave(1), Kind::granted);
  EXPECT_EQ(second.next(), channel_of(2) + " 0");
  EXPECT_EQ(ask(2).kind, Kind::granted);
}

TEST_F(FairScripts, ReleaseByAnotherChangesNothing) {
  ask(1);
  ask(2);
  Ear second = ear({channel_of(2)});
  EXPECT_EQ(release(2), Kind::gone);
  EXPECT_EQ(release(7), Kind::gone);
  EXPECT_EQ(hash("k"), (Fields{{owner(1), "1"}}));
  EXPECT_EQ(queue(), owners({2}));
  EXPECT_TRUE(second.quiet());
}

TEST_F(FairScripts, RenewAndVerifyAreThoseOfAnyPlainLock) {
  ask(1);
  ask(2);
  EXPECT_EQ(asker.renew("k", fair, id(1), 2 * lease).kind, Kind::granted);
  expect_ttl("k", 2 * lease);
  EXPECT_EQ(asker.tell(Verb::verify, "k", fair, id(1)).kind, Kind::granted);
  EXPECT_EQ(asker.renew("k", fair, id(2), lease).kind, Kind::gone);
  EXPECT_EQ(asker.tell(Verb::verify, "k", fair, id(2)).kind, Kind::gone);
}

TEST_F(FairScripts, AReadOrWriteIsInTheWay) {
  for (const LockType other : {LockType::READ, LockType::WRITE}) {
    redis({"FLUSHALL"});
    asker.acquire("k", other, id(1), lease);
    EXPECT_EQ(ask(2).kind, Kind::busy);
    EXPECT_EQ(ask(1).kind, Kind::busy);
    asker.tell(Verb::release, "k", other, id(1));
    EXPECT_EQ(ask(2).kind, Kind::granted);
  }
}

}  // namespace
}  // namespace latchkey::tests
