// The scripts of semaphores, against a real server.
#include <string>
#include <vector>

#include "redis/protocol/owner_format.hpp"
#include "redis/scripts/permits_fixture.hpp"

namespace latchkey::tests {
namespace {

using detail::redis::PermitId;
using Answer = detail::redis::CheckAnswers::Answer;

TEST_F(PermitsTest, TheFirstAcquireMakesTheSemaphoreInRedissonsLayout) {
  const Outcome first = acquire(1);
  EXPECT_EQ(first.kind, Kind::granted);
  EXPECT_EQ(first.permits_left, 2U);
  EXPECT_EQ(keys(), (Names{"k", "{k}:timeout"}));
  EXPECT_EQ(available(), "2");
  EXPECT_EQ(redis({"TYPE", taken}).text(), "zset");
  const auto entries = redis({"ZRANGE", taken, "0", "-1", "WITHSCORES"}).list();
  ASSERT_EQ(entries.size(), 2U);
  EXPECT_EQ(entries[0].size(), 16U);
  const long long left = std::stoll(entries[1]) - now_ms();
  EXPECT_LE(left, lease.count());
  EXPECT_GT(left, lease.count() - 5'000);
}

TEST_F(PermitsTest, NoMoreAreGrantedThanThereAre) {
  for (std::uint64_t number = 1; number <= 3; ++number) {
    EXPECT_EQ(acquire(number).kind, Kind::granted);
  }
  const Outcome fourth = acquire(4);
  EXPECT_EQ(fourth.kind, Kind::busy);
  ASSERT_TRUE(fourth.retry_after.has_value());
  EXPECT_LE(*fourth.retry_after, lease);
  EXPECT_EQ(available(), "0");
  EXPECT_EQ(send(Verb::release, 2), Kind::granted);
  EXPECT_EQ(acquire(4).kind, Kind::granted);
}

TEST_F(PermitsTest, AnAcquireOfSeveralTakesAllOrNone) {
  EXPECT_EQ(acquire(1, 2).permits_left, 1U);
  EXPECT_EQ(members(), 2);
  EXPECT_EQ(acquire(2, 2).kind, Kind::busy);
  EXPECT_EQ(available(), "1");
  EXPECT_EQ(send(Verb::release, 1, 2), Kind::granted);
  EXPECT_EQ(acquire(2, 2).kind, Kind::granted);
}

TEST_F(PermitsTest, ARepeatedAcquireTakesNothingMore) {
  EXPECT_EQ(acquire(1, 2, milliseconds(1'000)).kind, Kind::granted);
  const Outcome again = acquire(1, 2);
  EXPECT_EQ(again.kind, Kind::granted);
  EXPECT_EQ(again.permits_left, 1U);
  EXPECT_EQ(available(), "1");
  pass(milliseconds(30'000));
  EXPECT_EQ(send(Verb::verify, 1, 2), Kind::granted);
}

TEST_F(PermitsTest, MoreThanTheSemaphoreHasIsRefusedWithBothNumbers) {
  EXPECT_EQ(acquire(1).kind, Kind::granted);
  const Outcome outcome = acquire(2, 5);
  EXPECT_EQ(outcome.kind, Kind::refused);
  EXPECT_EQ(outcome.reason,
            "the semaphore has 3 permits, fewer than the 5 that one acquire asks for");
}

// The script of a release stopped between the two keys, and the permit was gone for ever.
TEST_F(PermitsTest, AForbiddenCommandLosesNoPermitAndGrantsNoneTwice) {
  std::uint64_t number = 0;
  for (const std::string command : {"EXISTS", "INCRBY", "ZREM", "ZADD", "ZSCORE", "ZCARD", "GET",
                                    "TIME", "PTTL", "PUBLISH", "PUBSUB"}) {
    SCOPED_TRACE(command);
    const std::uint64_t held = ++number, other = ++number;
    ASSERT_EQ(acquire(held).kind, Kind::granted);
    {
      const Forbidden forbidden(redis, command);
      static_cast<void>(send(Verb::release, held));
      static_cast<void>(acquire(other));
    }
    EXPECT_EQ(std::stoll(available()) + members(), 3);
    static_cast<void>(send(Verb::release, held));
    static_cast<void>(send(Verb::release, other));
    EXPECT_EQ(available(), "3");
    EXPECT_EQ(members(), 0);
  }
}

TEST_F(PermitsTest, TheStoredTotalWins) {
  EXPECT_EQ(acquire(1).kind, Kind::granted);
  Request other = request(Verb::acquire, 2, 1, lease, 100);
  EXPECT_EQ(client.send(other).permits_left, 1U);
  EXPECT_EQ(look().permits->total, 3);
}

TEST_F(PermitsTest, APermitWhoseLeaseEndedIsTakenByTheNextAcquire) {
  EXPECT_EQ(acquire(1, 3, milliseconds(1'000)).kind, Kind::granted);
  EXPECT_EQ(acquire(2).kind, Kind::busy);
  pass(milliseconds(1'001));
  auto subscriber = subscribe({std::string(channel)});
  EXPECT_EQ(acquire(2).permits_left, 2U);
  // The others that wait learn of the rest.
  EXPECT_EQ(subscriber.next(), std::string(channel) + " 2");
  EXPECT_EQ(members(), 1);
}

TEST_F(PermitsTest, AReleasePublishesWhatIsAvailableAndTellsHowManyHeard) {
  auto subscriber = subscribe({std::string(channel)});
  EXPECT_EQ(acquire(1, 2).kind, Kind::granted);
  const Outcome released = client.send(request(Verb::release, 1, 2));
  EXPECT_EQ(released.notified, 1U);
  EXPECT_EQ(subscriber.next(), std::string(channel) + " 3");
  EXPECT_TRUE(subscriber.received_nothing_else());
}

TEST_F(PermitsTest, ARenewalExtendsAllPermitsOfTheHoldAndNeverShortens) {
  EXPECT_EQ(acquire(1, 2, milliseconds(5'000)).kind, Kind::granted);
  EXPECT_EQ(send(Verb::renew, 1, 2), Kind::granted);
  pass(milliseconds(30'000));
  EXPECT_EQ(send(Verb::renew, 1, 2, milliseconds(100)), Kind::granted);
  pass(milliseconds(20'000));
  EXPECT_EQ(send(Verb::verify, 1, 2), Kind::granted);
  pass(milliseconds(10'001));
  EXPECT_EQ(send(Verb::verify, 1, 2), Kind::gone);
}

TEST_F(PermitsTest, ExpireShortensTheLease) {
  EXPECT_EQ(acquire(1, 2).kind, Kind::granted);
  EXPECT_EQ(send(Verb::expire, 1, 2, milliseconds(1'000)), Kind::granted);
  pass(milliseconds(1'001));
  EXPECT_EQ(send(Verb::expire, 1, 2, milliseconds(1'000)), Kind::gone);
  EXPECT_EQ(acquire(2, 3).kind, Kind::granted);
}

TEST_F(PermitsTest, ResizeChangesWhatIsAvailableAndTakesNothingAway) {
  EXPECT_EQ(acquire(1, 3).kind, Kind::granted);
  EXPECT_EQ(client.send(request(Verb::resize, 0, 1, lease, 2)).kind, Kind::granted);
  EXPECT_EQ(available(), "-1");
  EXPECT_EQ(look().permits->total, 2);
  EXPECT_EQ(send(Verb::verify, 1, 3), Kind::granted);
  EXPECT_EQ(send(Verb::release, 1, 3), Kind::granted);
  EXPECT_EQ(available(), "2");
  auto subscriber = subscribe({std::string(channel)});
  EXPECT_EQ(client.send(request(Verb::resize, 0, 1, lease, 7)).kind, Kind::granted);
  EXPECT_EQ(subscriber.next(), std::string(channel) + " 7");
  redis({"FLUSHALL"});
  EXPECT_EQ(client.send(request(Verb::resize, 0, 1, lease, 4)).kind, Kind::granted);
  EXPECT_EQ(available(), "4");
}

TEST_F(PermitsTest, InspectTellsPermitsAndTheirIdsAndChangesNothing) {
  EXPECT_FALSE(look().permits.has_value());
  EXPECT_EQ(acquire(1, 2).kind, Kind::granted);
  EXPECT_EQ(acquire(2, 1, milliseconds(1'000)).kind, Kind::granted);
  pass(milliseconds(1'001));
  const LockInfo info = look();
  EXPECT_EQ(info.type, LockType::PERMIT);
  ASSERT_TRUE(info.permits.has_value());
  EXPECT_EQ(info.permits->available, 1);
  EXPECT_EQ(info.permits->total, 3);
  ASSERT_EQ(info.holders.size(), 2U);
  EXPECT_EQ(info.holders[0].id, PermitId::text_of(PermitId(id(1))));
  EXPECT_EQ(info.holders[0].id.size(), 32U);
  EXPECT_EQ(info.subscribers, 0U);
  EXPECT_EQ(members(), 3);
}

// More members than one unpack may have, all of them ended.

TEST_F(PermitsTest, ChecksOfSemaphoresAndLocksAreOneCall) {
  EXPECT_EQ(acquire(1, 2).kind, Kind::granted);
  EXPECT_EQ(client.acquire("lock", LockType::READ, id(2), lease).kind, Kind::granted);
  EXPECT_EQ(acquire(3).kind, Kind::granted);
  redis({"ZREM", taken, PermitId(id(3))});
  const Request first = request(Verb::renew, 1, 2);
  const Request read =
      ScriptClient::make_request(Verb::renew, "lock", LockType::READ, id(2), lease);
  const Request lost = request(Verb::verify, 3);
  const Request last = request(Verb::verify, 1, 2);
  const std::vector<const Request*> all{&first, &read, &lost, &last};
  const auto answers = client.check(all);
  EXPECT_EQ(answers.of(0), Answer::held);
  EXPECT_EQ(answers.of(1), Answer::held);
  EXPECT_EQ(answers.of(2), Answer::unclear);  // asked once more by itself, which returns the rest
  EXPECT_EQ(answers.of(3), Answer::held);
}

// Redisson lets the semaphore live for a time, and its permits no longer.

TEST_F(PermitsTest, PermitsEndWithTheTtlThatRedissonGaveTheSemaphore) {
  redis({"SET", key, "3", "PX", "60000"});
  EXPECT_EQ(acquire(1).kind, Kind::granted);
  expect_ttl(taken, milliseconds(60'000));
}

}  // namespace
}  // namespace latchkey::tests
