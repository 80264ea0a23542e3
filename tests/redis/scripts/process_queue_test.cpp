// The queue of processes that wait for a lock of one holder, on a real server.
#include "redis/scripts/process_queue_fixture.hpp"

namespace latchkey::tests {
namespace {

using enum LockType;

TEST_F(ProcessQueueScripts, AReleaseGrantsToTheProcessThatWaitsTheLongestAndTellsItAlone) {
  for (const LockType type : {REENTRANT, WRITE}) {
    redis({"FLUSHALL"});
    Subscriber second = subscribe({channel(2)}), third = subscribe({channel(3)});
    ASSERT_EQ(wait(1, type).kind, Kind::granted);
    const std::uint64_t place = wait(2, type).place;
    const std::uint64_t behind = wait(3, type).place;
    ASSERT_GT(place, 0U);
    ASSERT_GT(behind, place);
    const Outcome released = release(1, type);
    EXPECT_EQ(released.kind, Kind::granted);
    EXPECT_EQ(released.notified, 0U);
    EXPECT_EQ(second.next(), grant(2, place));
    EXPECT_TRUE(third.received_nothing_else());
    EXPECT_TRUE(holds(2, type));
    EXPECT_EQ(release(2, type).kind, Kind::granted);
    EXPECT_TRUE(holds(3, type));
    EXPECT_EQ(release(3, type).kind, Kind::granted);
    EXPECT_EQ(keys(), Names{});
  }
}

TEST_F(ProcessQueueScripts, AFencedGrantReservesTokens) {
  Subscriber second = subscribe({channel(2)});
  const std::uint64_t first = wait(1, FENCED).token;
  const std::uint64_t place = wait(2, FENCED, lease, 64).place;
  release(1, FENCED);
  const std::string message = second.next();
  const std::uint64_t token = wait(2, FENCED, lease, 64).token;
  EXPECT_EQ(message, grant(2, place, token));
  EXPECT_GE(token, first + 64);
}

TEST_F(ProcessQueueScripts, AGrantLastsForThreeSecondsOrTheLeaseIfThatIsLess) {
  Subscriber listener = subscribe({channel(2), channel(3)});
  wait(1);
  wait(2);
  wait(3, REENTRANT, milliseconds(1'000));
  release(1);
  EXPECT_LE(pttl("k"), 3'000);
  release(2);
  EXPECT_LE(pttl("k"), 1'000);
}

TEST_F(ProcessQueueScripts, ALeaverGrantsTheFreeLockToTheNext) {
  Subscriber second = subscribe({channel(2)}), third = subscribe({channel(3)});
  Subscriber java = subscribe({"redisson_lock__channel:{k}"});
  wait(1);
  wait(2);
  const std::uint64_t place = wait(3).place;
  release(1);  // somebody else listens: the second is told, and gives up
  EXPECT_EQ(second.next(), channel(2) + " 0");
  EXPECT_EQ(leave(2).kind, Kind::granted);
  EXPECT_EQ(third.next(), grant(3, place));
}

TEST_F(ProcessQueueScripts, AProcessThatDoesNotListenIsSkipped) {
  Subscriber third = subscribe({channel(3)});
  wait(1);
  wait(2);
  wait(3);
  release(1);
  EXPECT_FALSE(holds(2));
  EXPECT_TRUE(holds(3));
  release(3);
  EXPECT_EQ(keys(), Names{}) << "nobody is left in the queue";
}

TEST_F(ProcessQueueScripts, IfOthersListenTheLockStaysFreeAndTheFirstIsTold) {
  for (const LockType type : {REENTRANT, WRITE}) {
    redis({"FLUSHALL"});
    Subscriber java =
        subscribe({type == WRITE ? "redisson_rwlock:{k}" : "redisson_lock__channel:{k}"});
    Subscriber second = subscribe({channel(2)});
    wait(1, type);
    wait(2, type);
    EXPECT_EQ(release(1, type).notified, 1U);
    EXPECT_EQ(second.next(), channel(2) + " 0");
    EXPECT_EQ(redis({"EXISTS", "k"}).integer(), 0);
    EXPECT_EQ(wait(2, type).kind, Kind::granted);
    EXPECT_EQ(keys(), Names{"k"}) << "its place is given up";
  }
}

TEST_F(ProcessQueueScripts, AnAttemptThatFindsTheLockFreeGrantsItToTheFirst) {
  Subscriber second = subscribe({channel(2)});
  wait(1);
  const std::uint64_t place = wait(2).place;
  redis({"DEL", "k"});
  EXPECT_EQ(wait(3).kind, Kind::busy);
  EXPECT_EQ(second.next(), grant(2, place));
  EXPECT_TRUE(holds(2));
}

TEST_F(ProcessQueueScripts, AWaiterKeepsItsPlaceAndTheQueueEndsThreeSecondsAfterTheLastAttempt) {
  wait(1);
  const std::uint64_t place = wait(2).place;
  wait(3);
  EXPECT_EQ(wait(2).place, place);
  EXPECT_EQ(redis({"ZCARD", queue}).integer(), 2);
  expect_ttl(queue, milliseconds(3'000));
  expect_ttl(places, milliseconds(3'000));
}

TEST_F(ProcessQueueScripts, AWaiterThatLeavesPassesOnWhatItWasGranted) {
  Subscriber listener = subscribe({channel(2), channel(3)});
  for (const LockType type : {REENTRANT, FENCED, WRITE}) {
    redis({"FLUSHALL"});
    wait(1, type);
    wait(2, type);
    wait(3, type);
    EXPECT_EQ(leave(3, type).kind, Kind::granted);
    EXPECT_EQ(leave(3, type).kind, Kind::gone);
    wait(3, type);
    release(1, type);
    EXPECT_TRUE(holds(2, type));
    EXPECT_EQ(leave(2, type).kind, Kind::granted);
    EXPECT_TRUE(holds(3, type));
  }
}

TEST_F(ProcessQueueScripts, ALateCopyOfTheReleasersAttemptGetsNothing) {
  Subscriber first = subscribe({channel(1)});
  wait(1);
  redis({"ZADD", queue, "99", process(1).text()});
  redis({"HSET", places, process(1).text(), std::to_string(now_ms() + 2'000) + " 60000 0"});
  release(1);
  EXPECT_EQ(keys(), Names{});
}

TEST_F(ProcessQueueScripts, TheLastReaderGrantsToAWrite) {
  Subscriber second = subscribe({channel(2)});
  client.acquire("k", READ, process(1), lease);
  const std::uint64_t place = wait(2, WRITE).place;
  client.send(Verb::release, "k", READ, process(1));
  EXPECT_EQ(second.next(), grant(2, place));
  EXPECT_TRUE(holds(2, WRITE));
}

TEST_F(ProcessQueueScripts, AForcedReleaseGrantsToTheFirst) {
  for (const LockType type : {REENTRANT, WRITE}) {
    redis({"FLUSHALL"});
    Subscriber second = subscribe({channel(2)});
    wait(1, type);
    wait(2, type);
    client.send(Verb::force_release, "k");
    EXPECT_TRUE(holds(2, type));
  }
}

TEST_F(ProcessQueueScripts, ALockAndItsNameInBracesHaveQueuesOfTheirOwn) {
  Subscriber second = subscribe({channel(2)});
  wait(1);
  wait(2);
  client.acquire("{k}", REENTRANT, id(7), lease);
  client.send(Verb::release, "{k}", REENTRANT, id(7));
  EXPECT_TRUE(second.received_nothing_else());
  EXPECT_EQ(keys(), (Names{"k", std::string(queue), std::string(places)}));
}

TEST_F(ProcessQueueScripts, InspectCountsTheProcessesInTheQueue) {
  wait(1);
  wait(2);
  wait(3);
  EXPECT_EQ(client.inspect("k").subscribers, 2U);
}

}  // namespace
}  // namespace latchkey::tests
