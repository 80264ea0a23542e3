// FAIR on a real server: waiters of Redisson and of latchkey that died, or do not listen.
// SPDX-License-Identifier: BSL-1.0
#include "redis/scripts/fair_fixture.hpp"

namespace latchkey::tests {
namespace {

class FairDeadWaiters : public FairScripts {};

// A Java waiter listens for as long as it waits.
TEST_F(FairDeadWaiters, AJavaWaiterThatDiedBlocksAFreeLockForFiveSeconds) {
  acquire(1);
  java_waits(9, 900'000);
  acquire(2);
  release(1);
  expect_score(java_owner(9), 5'000);
  EXPECT_EQ(acquire(2).kind, Kind::busy);
  set_score(java_owner(9), -1);
  EXPECT_EQ(acquire(2).kind, Kind::granted);
}

TEST_F(FairDeadWaiters, JavaWaitersThatDiedTogetherBlockAFreeLockForFiveSeconds) {
  acquire(1);
  for (const int number : {9, 8, 7}) java_waits(number, 900'000);
  acquire(2);
  java_waits(6, 900'000);
  const Subscriber alive = subscribe({java_channel(7)});
  release(1);
  expect_score(java_owner(9), 5'000);
  expect_score(java_owner(8), 900'000);
  EXPECT_EQ(acquire(2).kind, Kind::busy);
  EXPECT_EQ(queue().size(), 5U);
  redis({"ZINCRBY", scores_key, "-3000", java_owner(9)});  // so much time has passed
  EXPECT_EQ(acquire(2).kind, Kind::busy);
  EXPECT_EQ(queue(), (Names{java_owner(7), owner(2)}));
  expect_score(java_owner(7), 15'000);
}

TEST_F(FairDeadWaiters, WaitersOfAnotherJavaClientKeepTheirPlacesWhileTheyReconnect) {
  const std::string other = "7f3c1a90-0000-4d3c-9a55-2f0e6f1c9b7a:1";
  acquire(1);
  java_waits(9, 900'000);
  redis({"RPUSH", queue_key, other});
  set_score(other, 900'000);
  acquire(2);
  release(1);
  redis({"ZINCRBY", scores_key, "-3000", java_owner(9)});  // so much time has passed
  EXPECT_EQ(acquire(2).kind, Kind::busy);
  EXPECT_EQ(queue(), (Names{other, owner(2)}));
}

TEST_F(FairDeadWaiters, AJavaWaiterWithLittleTimeLeftKeepsItUntilItEnds) {
  acquire(1);
  java_waits(9, 2'000);
  java_waits(8, 900'000);
  acquire(2);
  release(1);
  EXPECT_EQ(acquire(2).kind, Kind::busy);
  EXPECT_EQ(queue(), (Names{java_owner(9), java_owner(8), owner(2)}));
}

// Their scores contain the waits of the Java waiters in front, and half an hour.
TEST_F(FairDeadWaiters, WaitersThatDiedBehindAJavaWaiterBlockAFreeLockForFifteenSeconds) {
  acquire(1);
  java_waits(9, 300'000);
  for (const std::uint64_t number : {2U, 3U, 4U, 5U}) acquire(number);
  pass(milliseconds(12'000));
  acquire(5);
  pass(milliseconds(4'000));
  EXPECT_EQ(acquire(5).kind, Kind::busy);
  EXPECT_GT(score(owner(2)), unseen);
  redis({"LREM", queue_key, "0", java_owner(9)});  // it gives up
  redis({"ZREM", scores_key, java_owner(9)});
  release(1);
  EXPECT_EQ(queue(), owners({5}));
  EXPECT_EQ(acquire(5).kind, Kind::granted);
}

TEST_F(FairDeadWaiters, AWaiterBehindAJavaWaiterThatAskedLatelyKeepsItsPlace) {
  acquire(1);
  java_waits(9, 300'000);
  for (const std::uint64_t number : {2U, 3U}) acquire(number);
  pass(milliseconds(8'000));
  redis({"LREM", queue_key, "0", java_owner(9)});
  redis({"ZREM", scores_key, java_owner(9)});
  release(1);
  EXPECT_EQ(acquire(3).kind, Kind::busy);
  EXPECT_EQ(queue(), owners({2, 3}));
}

TEST_F(FairDeadWaiters, AJavaWaiterThatReconnectsInTimeKeepsItsPlace) {
  acquire(1);
  for (const int number : {9, 8}) java_waits(number, 900'000);
  acquire(2);
  release(1);
  const Subscriber back = subscribe({java_channel(9)});
  redis({"ZINCRBY", scores_key, "-3000", java_owner(9)});
  EXPECT_EQ(acquire(2).kind, Kind::busy);
  EXPECT_EQ(queue(), (Names{java_owner(9), java_owner(8), owner(2)}));
}

TEST_F(FairDeadWaiters, AJavaWaiterThatDiesAfterItWasNotifiedBlocksAFreeLockForFiveSeconds) {
  acquire(1);
  java_waits(9, 900'000);
  {
    const Subscriber alive = subscribe({java_channel(9)});
    acquire(2);
    release(1);
    expect_score(java_owner(9), 15'000);
  }
  while (!redis({"PUBSUB", "CHANNELS"}).list().empty()) continue;
  EXPECT_EQ(acquire(2).kind, Kind::busy);
  expect_score(java_owner(9), 5'000);
}

// It may listen at another node.
TEST_F(FairDeadWaiters, AJavaWaiterInAClusterWithPublishHasFifteenSeconds) {
  ScriptClient in_cluster(server.client(), {.in_cluster = true});
  acquire(1);
  for (const int number : {9, 8}) java_waits(number, 900'000);
  in_cluster.acquire("k", fair, id(2), lease, queue_wait);
  in_cluster.send(Verb::release, "k", fair, id(1));
  expect_score(java_owner(9), 15'000);
  expect_score(java_owner(8), 900'000);
}

TEST_F(FairDeadWaiters, AJavaWaiterThatListensBlocksAFreeLockForFifteenSeconds) {
  const Subscriber hung = subscribe({java_channel(9)});
  for (const std::uint64_t number : {1U, 2U, 3U}) acquire(number);
  java_waits(9, 900'000);  // it may live for minutes without asking
  acquire(4);
  leave(2);
  leave(3);
  release(1);
  expect_score(java_owner(9), 15'000);
  EXPECT_EQ(acquire(4).kind, Kind::busy);
}

// Nobody looks for the score of an owner that has no place.
TEST_F(FairDeadWaiters, WithoutZremNoScoreIsLeftOfAWaiterThatHasNoPlace) {
  for (const std::uint64_t number : {1U, 2U, 3U}) acquire(number);
  {
    const Forbidden zrem(redis, "zrem");
    EXPECT_EQ(leave(3), Kind::refused);
    set_score(owner(2), -1);
    EXPECT_EQ(acquire(3).kind, Kind::refused);
    EXPECT_EQ(queue(), owners({2, 3}));
    const Subscriber alive = subscribe({channel_of(2)});
    EXPECT_EQ(release(1), Kind::granted);
    EXPECT_EQ(queue(), owners({2, 3})) << "it is not granted the lock, and keeps its place";
  }
  EXPECT_EQ(leave(3), Kind::granted);
  EXPECT_EQ(acquire(4).kind, Kind::granted) << "the first is dead";
  EXPECT_EQ(redis({"EXISTS", queue_key, scores_key}).integer(), 0);
}

TEST_F(FairDeadWaiters, AWaiterThatIsNotGrantedTheLockKeepsItsScoreAndItsEnd) {
  const Subscriber alive = subscribe({channel_of(2)});
  for (const std::uint64_t number : {1U, 2U}) acquire(number);
  {
    const Forbidden hset(redis, "hset");
    EXPECT_EQ(release(1), Kind::granted);
  }
  EXPECT_EQ(queue(), owners({2}));
  expect_score(2, 5'000);
  EXPECT_GT(redis({"PTTL", scores_key}).integer(), 0);
}

TEST_F(FairDeadWaiters, ALongScoreOfTheHeadIsCutWhenTheLockIsFree) {
  const Subscriber alive = subscribe({java_channel(9)});
  java_waits(9, 900'000);  // a release by Java does not change the score
  EXPECT_EQ(acquire(2).kind, Kind::busy);
  expect_score(java_owner(9), 15'000);
}

}  // namespace
}  // namespace latchkey::tests
