// FAIR on a real server: scores, retry times, and the expiry of waiters that died.
#include "redis/scripts/fair_fixture.hpp"

namespace latchkey::tests {
namespace {

class FairTimes : public FairScripts {};

TEST_F(FairTimes, QueueKeysOfKilledWaitersExpireAnHourAfterTheLastScore) {
  acquire(1);
  acquire(2);
  acquire(3);
  constexpr milliseconds an_hour{3'600'000};
  expect_ttl(queue_key, an_hour + queue_wait);
  expect_ttl(scores_key, an_hour + queue_wait);
  // A Java waiter may have a later score. The next acquire extends the keys accordingly.
  redis({"RPUSH", queue_key, java_owner(1)});
  set_score(java_owner(1), 2 * an_hour.count());
  EXPECT_GT(pttl(queue_key), 0) << "RPUSH leaves the time to live alone";
  acquire(3);
  expect_ttl(queue_key, 3 * an_hour);
  expect_ttl(scores_key, 3 * an_hour);
}

TEST_F(FairTimes, QueueKeysThatOnlyJavaWaitersUseNeverExpire) {
  acquire(1);
  acquire(2);
  for (const int number : {1, 2}) {
    redis({"RPUSH", queue_key, java_owner(number)});
    set_score(java_owner(number), 300'000 * number);
  }
  acquire(3);
  acquire(2);
  release(1);
  EXPECT_EQ(acquire(2).kind, Kind::granted);
  EXPECT_GT(pttl(queue_key), 0) << "one of ours is left";
  EXPECT_EQ(leave(3), Kind::granted);
  EXPECT_EQ(queue(), (Names{java_owner(1), java_owner(2)}));
  EXPECT_EQ(pttl(queue_key), -1);
  EXPECT_EQ(pttl(scores_key), -1);
}

TEST_F(FairTimes, WithoutJavaWaitersEachScoreIsTheQueueWait) {
  acquire(1);
  for (const std::uint64_t number : {2U, 3U, 4U}) acquire(number);
  for (const std::uint64_t number : {2U, 3U, 4U}) expect_score(number, 15'000);
}

TEST_F(FairTimes, AScoreAfterJavaWaitersLeavesTimeForAllOfThem) {
  acquire(1);
  // Two of them as Redisson's script would have put them there: 30 s of lease, 300 s of wait each.
  redis({"RPUSH", queue_key, java_owner(8), java_owner(9)});
  set_score(java_owner(8), 330'000);
  set_score(java_owner(9), 630'000);
  acquire(2);
  expect_score(2, 15'000 + 630'000 + unseen);
  acquire(3);
  expect_score(3, 15'000 + 630'000 + unseen);
  acquire(2);
  expect_score(2, 15'000 + 630'000 + unseen);
}

TEST_F(FairTimes, AGrantDoesNotLowerTheOtherScores) {
  for (const std::uint64_t number : {1U, 2U, 3U, 4U}) acquire(number);
  release(1);
  const long long before = score(owner(4));
  EXPECT_EQ(acquire(2).kind, Kind::granted);
  EXPECT_EQ(queue(), owners({3, 4}));
  EXPECT_GT(score(owner(4)), before - 5'000);
  EXPECT_EQ(score(owner(2)), 0);
}

class FairCommands : public FairTimes {
 protected:
  /// The commands of one hand-off with so many waiters, those of scripts among them.
  template <class Do>
  long long commands_with(std::uint64_t waiters, Do&& hand_off) {
    redis({"FLUSHALL"});
    for (std::uint64_t number = 1; number <= waiters + 1; ++number) acquire(number);
    redis({"CONFIG", "RESETSTAT"});
    hand_off();
    const std::string stats = redis({"INFO", "commandstats"}).text();
    long long calls = 0;
    for (std::size_t at = 0; (at = stats.find("calls=", at)) != std::string::npos; ++at) {
      calls += std::stoll(stats.substr(at + 6));
    }
    return calls;
  }
};

TEST_F(FairCommands, AGrantTakesTheSameNumberForAnyQueueLength) {
  const auto take = [&] {
    release(1);
    EXPECT_EQ(acquire(2).kind, Kind::granted);
  };
  commands_with(1, take);  // from here on the server knows the scripts
  EXPECT_EQ(commands_with(3, take), commands_with(300, take));
}

TEST_F(FairCommands, AReleaseThatGrantsTakesTheSameNumberForAnyQueueLength) {
  Subscriber second = subscribe({channel_of(2)});
  const auto hand_off = [&] {
    release(1);
    EXPECT_TRUE(second.next().starts_with(channel_of(2) + " 2 "));
  };
  commands_with(1, hand_off);
  EXPECT_EQ(commands_with(3, hand_off), commands_with(1'000, hand_off));
}

TEST_F(FairTimes, RetryAfterIsBoundedByTheHolderAndTheWaitersAhead) {
  acquire(1);
  const auto first = acquire(2).retry_after.value_or(milliseconds(0));
  EXPECT_EQ(first, milliseconds(1'000)) << "it must hear of another holder's lease in time";
  EXPECT_EQ(acquire(3).retry_after, milliseconds(1'000));
  EXPECT_EQ(acquire(4).retry_after, milliseconds(2'000)) << "a place far behind costs little";
  client.renew("k", fair, id(1), milliseconds(500));
  release(1);
  const Outcome behind = acquire(3);
  EXPECT_EQ(behind.kind, Kind::busy);
  EXPECT_EQ(behind.holder, "");  // no holder: only the queue blocks it
  EXPECT_EQ(behind.retry_after, milliseconds(1'000));
}

TEST_F(FairTimes, TheFirstTwoWaitersRetryWhenAShortLeaseEnds) {
  client.acquire("k", fair, id(1), milliseconds(800));
  EXPECT_LE(acquire(2).retry_after.value_or(milliseconds(0)), milliseconds(800));
  EXPECT_LE(acquire(3).retry_after.value_or(milliseconds(0)), milliseconds(900));
}

TEST_F(FairTimes, TheNewHeadIsNotifiedOfAShortLease) {
  for (const std::uint64_t number : {1U, 2U, 3U, 4U}) acquire(number);
  Subscriber third = subscribe({channel_of(3)}), fourth = subscribe({channel_of(4)});
  release(1);
  EXPECT_EQ(client.acquire("k", fair, id(2), milliseconds(4'000), queue_wait).kind, Kind::granted);
  EXPECT_EQ(third.next(), channel_of(3) + " 0");
  EXPECT_EQ(leave(3), Kind::granted);
  EXPECT_EQ(fourth.next(), channel_of(4) + " 0");
  EXPECT_EQ(release(2), Kind::granted);
  EXPECT_TRUE(fourth.next().starts_with(channel_of(4) + " 4 "));
  acquire(5);
  Subscriber fifth = subscribe({channel_of(5)});
  EXPECT_EQ(acquire(4).kind, Kind::granted);
  EXPECT_TRUE(fifth.received_nothing_else()) << "a long lease is heard of by asking";
}

TEST_F(FairTimes, AnExpiredHeadIsSkippedAndTheNextIsNotified) {
  for (const std::uint64_t number : {1U, 2U, 3U, 4U}) acquire(number);
  release(1);
  set_score(owner(2), -1);
  Subscriber third = subscribe({channel_of(3)});
  EXPECT_EQ(acquire(4).kind, Kind::busy);
  EXPECT_EQ(third.next(), channel_of(3) + " 0");
  EXPECT_EQ(queue(), owners({3, 4}));
  EXPECT_EQ(acquire(3).kind, Kind::granted);
}

TEST_F(FairTimes, AWaiterThatDiedBlocksAFreeLockForFiveSeconds) {
  for (const std::uint64_t number : {1U, 2U, 3U}) acquire(number);
  release(1);
  expect_score(2, 5'000);  // from here on it is called, and has to come
  const Outcome outcome = acquire(3);
  EXPECT_EQ(outcome.kind, Kind::busy);
  set_score(owner(2), -1);
  EXPECT_EQ(acquire(3).kind, Kind::granted);
}

}  // namespace
}  // namespace latchkey::tests
