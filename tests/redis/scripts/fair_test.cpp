// FAIR on a real server: Redisson's list, scores and channels, and the order of grants.
#include "redis/scripts/fair_fixture.hpp"

namespace latchkey::tests {
namespace {

TEST_F(FairScripts, AcquiringAFreeLockCreatesNoQueue) {
  EXPECT_EQ(acquire(1).kind, Kind::granted);
  EXPECT_EQ(keys(), Names{"k"});
  EXPECT_EQ(hash("k"), (Fields{{owner(1), "1"}}));
  expect_ttl("k", lease);
  EXPECT_EQ(release(1), Kind::granted);
  EXPECT_EQ(keys(), Names{});
}

TEST_F(FairScripts, WaitersAreAddedToRedissonsList) {
  acquire(1);
  for (const std::uint64_t number : {2U, 3U, 4U}) {
    const Outcome outcome = acquire(number);
    EXPECT_EQ(outcome.kind, Kind::busy);
    EXPECT_EQ(outcome.holder, owner(1));
  }
  EXPECT_EQ(queue(), owners({2, 3, 4}));
  EXPECT_EQ(keys(), (Names{"k", std::string(queue_key), std::string(scores_key)}));
  EXPECT_EQ(redis({"ZCARD", scores_key}).integer(), 3);
}

TEST_F(FairScripts, WaitersAreServedInOrderOfArrival) {
  for (const std::uint64_t number : {1U, 2U, 3U, 4U}) acquire(number);
  for (const std::uint64_t number : {1U, 2U, 3U}) {
    EXPECT_EQ(release(number), Kind::granted);
    EXPECT_EQ(acquire(4).kind, number == 3 ? Kind::granted : Kind::busy);
    if (number != 3) {
      EXPECT_EQ(acquire(number + 1).kind, Kind::granted);
    }
  }
  EXPECT_EQ(keys(), Names{"k"});
}

TEST_F(FairScripts, ARepeatedAcquireByTheHolderCountsOnce) {
  acquire(1);
  EXPECT_EQ(client.acquire("k", fair, id(1), 2 * lease, queue_wait).kind, Kind::granted);
  expect_ttl("k", 2 * lease);
  EXPECT_EQ(acquire(1).kind, Kind::granted);
  expect_ttl("k", 2 * lease);
  EXPECT_EQ(keys(), Names{"k"});
  EXPECT_EQ(release(1), Kind::granted);
  EXPECT_EQ(keys(), Names{});
}

TEST_F(FairScripts, AWaitOfZeroNeitherTakesNorLosesAPlace) {
  acquire(1);
  EXPECT_EQ(acquire(2, milliseconds(0)).kind, Kind::busy);
  EXPECT_EQ(queue(), Names{});
  acquire(2);
  acquire(3);
  const long long before = score(owner(3));
  EXPECT_EQ(acquire(3, milliseconds(0)).kind, Kind::busy);
  EXPECT_EQ(queue(), owners({2, 3}));
  EXPECT_LE(score(owner(3)), before);
}

TEST_F(FairScripts, ReleaseGrantsToTheNextWaiterAndNotifiesItAlone) {
  for (const std::uint64_t number : {1U, 2U, 3U}) acquire(number);
  Subscriber second = subscribe({channel_of(2)}), third = subscribe({channel_of(3)});
  Subscriber plain = subscribe({"redisson_lock__channel:{k}"});
  const std::uint64_t asked = acquire(2).place;
  release(1);
  const std::string grant = second.next();
  EXPECT_TRUE(grant.starts_with(channel_of(2) + " 2 ") && grant.ends_with(" 0")) << grant;
  EXPECT_GE(std::stoull(grant.substr(channel_of(2).size() + 3)), asked);
  EXPECT_GT(asked, 0U);
  EXPECT_EQ(hash("k"), (Fields{{owner(2), "1"}}));
  EXPECT_LE(pttl("k"), 5'000);
  EXPECT_EQ(queue(), owners({3}));
  EXPECT_EQ(score(owner(2)), 0);
  EXPECT_TRUE(second.received_nothing_else());
  EXPECT_TRUE(third.received_nothing_else());
  EXPECT_TRUE(plain.received_nothing_else());
}

TEST_F(FairScripts, AWaiterThatDoesNotListenKeepsItsPlaceAndHasToTakeTheLock) {
  for (const std::uint64_t number : {1U, 2U, 3U}) acquire(number);
  Subscriber third = subscribe({channel_of(3)});
  release(1);
  EXPECT_TRUE(third.received_nothing_else());
  EXPECT_EQ(hash("k"), Fields{});
  EXPECT_EQ(queue(), owners({2, 3}));
  EXPECT_EQ(acquire(3).kind, Kind::busy);
  EXPECT_EQ(acquire(2).kind, Kind::granted);
}

TEST_F(FairScripts, AWaiterThatAsksForAShortLeaseIsNotifiedAndTakesTheLockItself) {
  acquire(1);
  client.acquire("k", fair, id(2), milliseconds(4'999), queue_wait);
  Subscriber second = subscribe({channel_of(2)});
  release(1);
  EXPECT_EQ(second.next(), channel_of(2) + " 0");
  EXPECT_EQ(hash("k"), Fields{});
}

TEST_F(FairScripts, AJavaWaiterIsNotifiedAndTakesTheLockItself) {
  acquire(1);
  redis({"RPUSH", queue_key, java_owner(9)});
  set_score(java_owner(9), 900'000);
  acquire(2);
  const std::string channel = "redisson_lock__channel:{k}:" + java_owner(9);
  Subscriber java = subscribe({channel}), second = subscribe({channel_of(2)});
  release(1);
  EXPECT_EQ(java.next(), channel + " 0");
  EXPECT_EQ(hash("k"), Fields{});
  EXPECT_TRUE(second.received_nothing_else());
}

TEST_F(FairScripts, ReleaseWithAnEmptyQueueNotifiesThePlainWaiters) {
  acquire(1);
  EXPECT_EQ(client.acquire("k", LockType::REENTRANT, id(2), lease).kind, Kind::busy);
  Subscriber plain = subscribe({"redisson_lock__channel:{k}"});
  release(1);
  EXPECT_EQ(plain.next(), "redisson_lock__channel:{k} 0");
}

TEST_F(FairScripts, LeaveGivesUpThePlaceAndGrantsToTheNextIfTheLockIsFree) {
  for (const std::uint64_t number : {1U, 2U, 3U, 4U}) acquire(number);
  Subscriber third = subscribe({channel_of(3)}), fourth = subscribe({channel_of(4)});
  EXPECT_EQ(leave(9), Kind::gone);
  release(1);
  EXPECT_EQ(leave(4), Kind::granted);  // it was not the head: no waiter is notified
  EXPECT_TRUE(third.received_nothing_else());
  EXPECT_EQ(leave(2), Kind::granted);
  EXPECT_TRUE(third.next().starts_with(channel_of(3) + " 3 "));
  EXPECT_TRUE(fourth.received_nothing_else());
  EXPECT_EQ(leave(2), Kind::gone);
  EXPECT_EQ(hash("k"), (Fields{{owner(3), "1"}}));
  EXPECT_EQ(leave(3), Kind::granted);
  EXPECT_EQ(keys(), Names{});
}

TEST_F(FairScripts, LeaveNotifiesNobodyWhileTheLockIsHeld) {
  for (const std::uint64_t number : {1U, 2U, 3U}) acquire(number);
  Subscriber third = subscribe({channel_of(3)});
  EXPECT_EQ(leave(2), Kind::granted);
  EXPECT_TRUE(third.received_nothing_else());
  EXPECT_EQ(hash("k"), (Fields{{owner(1), "1"}}));
}

TEST_F(FairScripts, LeaveByTheHolderReleases) {
  acquire(1);
  acquire(2);
  Subscriber second = subscribe({channel_of(2)});
  EXPECT_EQ(leave(1), Kind::granted);
  EXPECT_TRUE(second.next().starts_with(channel_of(2) + " 2 "));
  EXPECT_EQ(acquire(2).kind, Kind::granted);
}

TEST_F(FairScripts, ReleaseByANonHolderChangesNothing) {
  acquire(1);
  acquire(2);
  Subscriber second = subscribe({channel_of(2)});
  EXPECT_EQ(release(2), Kind::gone);
  EXPECT_EQ(release(7), Kind::gone);
  EXPECT_EQ(hash("k"), (Fields{{owner(1), "1"}}));
  EXPECT_EQ(queue(), owners({2}));
  EXPECT_TRUE(second.received_nothing_else());
}

TEST_F(FairScripts, RenewAndVerifyWorkAsForAPlainLock) {
  acquire(1);
  acquire(2);
  EXPECT_EQ(client.renew("k", fair, id(1), 2 * lease).kind, Kind::granted);
  expect_ttl("k", 2 * lease);
  EXPECT_EQ(client.send(Verb::verify, "k", fair, id(1)).kind, Kind::granted);
  EXPECT_EQ(client.renew("k", fair, id(2), lease).kind, Kind::gone);
  EXPECT_EQ(client.send(Verb::verify, "k", fair, id(2)).kind, Kind::gone);
}

TEST_F(FairScripts, AReadOrWriteBlocksAFairAcquire) {
  for (const LockType other : {LockType::READ, LockType::WRITE}) {
    redis({"FLUSHALL"});
    client.acquire("k", other, id(1), lease);
    EXPECT_EQ(acquire(2).kind, Kind::busy);
    EXPECT_EQ(acquire(1).kind, Kind::busy);
    client.send(Verb::release, "k", other, id(1));
    EXPECT_EQ(acquire(2).kind, Kind::granted);
  }
}

}  // namespace
}  // namespace latchkey::tests
