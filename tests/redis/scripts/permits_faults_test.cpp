// The scripts of semaphores: what is lost, deleted, in the way or too much.
#include <string>

#include "redis/scripts/permits_fixture.hpp"

namespace latchkey::tests {
namespace {

TEST_F(PermitsTest, ALateReleaseFreesNothing) {
  EXPECT_EQ(acquire(1, 1, milliseconds(1'000)).kind, Kind::granted);
  pass(milliseconds(1'001));
  EXPECT_EQ(send(Verb::release, 1), Kind::gone);
  EXPECT_EQ(available(), "3");
  EXPECT_EQ(send(Verb::release, 1), Kind::gone);
  EXPECT_EQ(acquire(2).kind, Kind::granted);
  EXPECT_EQ(send(Verb::release, 1), Kind::gone);
  EXPECT_EQ(available(), "2");
}

// The acquire was sent again after its first lease had ended: the count was taken once more, for
// members that were taken already.
TEST_F(PermitsTest, AnAcquireThatIsRepeatedAfterItsLeaseTakesItsPermitsOnce) {
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(acquire(1, 1, milliseconds(1'000)).permits_left, 2U);
    pass(milliseconds(1'001));
    EXPECT_EQ(acquire(1, 2).permits_left, 1U);
    EXPECT_EQ(members(), 2);
    EXPECT_EQ(send(Verb::verify, 1, 2), Kind::granted);
    EXPECT_EQ(send(Verb::release, 1, 2), Kind::granted);
    EXPECT_EQ(available(), "3");
  }
}

TEST_F(PermitsTest, AHoldThatHasLostOnePermitIsLostAndGivesTheOthersBack) {
  for (const Verb verb : {Verb::renew, Verb::verify}) {
    SCOPED_TRACE(to_string(verb));
    EXPECT_EQ(acquire(1, 3).kind, Kind::granted);
    const auto ids = redis({"ZRANGE", taken, "0", "-1"}).list();
    redis({"ZREM", taken, ids.at(1)});  // as a Java administrator releases it
    redis({"INCRBY", key, "1"});
    EXPECT_EQ(send(verb, 1, 3), Kind::gone);
    EXPECT_EQ(available(), "3");
    EXPECT_EQ(members(), 0);
  }
}

TEST_F(PermitsTest, AReleaseNeverMakesASemaphore) {
  EXPECT_EQ(acquire(1).kind, Kind::granted);
  redis({"DEL", key});
  EXPECT_EQ(send(Verb::release, 1), Kind::granted);
  EXPECT_EQ(keys(), Names{});
}

TEST_F(PermitsTest, PermitsThatOutliveADeletedCountAreNotGrantedTwice) {
  EXPECT_EQ(acquire(1, 2).kind, Kind::granted);
  redis({"DEL", key});
  EXPECT_EQ(acquire(2).kind, Kind::granted);
  EXPECT_EQ(acquire(3).kind, Kind::busy);
  EXPECT_EQ(send(Verb::release, 1, 2), Kind::granted);
  EXPECT_EQ(available(), "2");
}

TEST_F(PermitsTest, NothingIsLeftBehindAfterItIsDestroyed) {
  EXPECT_EQ(acquire(1, 2).kind, Kind::granted);
  auto subscriber = subscribe({std::string(channel)});
  EXPECT_EQ(send(Verb::force_release, 0), Kind::granted);
  EXPECT_EQ(subscriber.next(), std::string(channel) + " 1");
  EXPECT_EQ(keys(), Names{});
  EXPECT_EQ(send(Verb::force_release, 0), Kind::gone);
  EXPECT_EQ(send(Verb::renew, 1, 2), Kind::gone);
  EXPECT_EQ(send(Verb::release, 1, 2), Kind::gone);
  EXPECT_EQ(keys(), Names{});
}

TEST_F(PermitsTest, AKeyThatIsNoSemaphoreIsRefused) {
  redis({"HSET", key, owner(9), "1"});
  Outcome outcome = acquire(1);
  EXPECT_EQ(outcome.kind, Kind::refused);
  EXPECT_TRUE(outcome.reason.starts_with("the key holds something that is no semaphore"))
      << outcome.reason;
  redis({"DEL", key});
  redis({"SET", key, "a text"});
  outcome = acquire(1);
  EXPECT_EQ(outcome.kind, Kind::refused);
  EXPECT_TRUE(outcome.reason.starts_with("the key holds something that is no semaphore"))
      << outcome.reason;
  EXPECT_EQ(send(Verb::force_release, 0), Kind::refused);
  EXPECT_EQ(available(), "a text");
  redis({"DEL", key});
  EXPECT_EQ(acquire(1).kind, Kind::granted);
  EXPECT_EQ(client.acquire(key, LockType::REENTRANT, id(2), lease).kind, Kind::refused);
}

TEST_F(PermitsTest, AThousandPermitsAreTakenAndGivenBackInOneCall) {
  Request all = request(Verb::acquire, 1, 1'000, lease, 2'500);
  EXPECT_EQ(client.send(all).permits_left, 1'500U);
  EXPECT_EQ(members(), 1'000);
  EXPECT_EQ(send(Verb::renew, 1, 1'000), Kind::granted);
  EXPECT_EQ(send(Verb::expire, 1, 1'000, milliseconds(60'000)), Kind::granted);
  EXPECT_EQ(send(Verb::release, 1, 1'000), Kind::granted);
  EXPECT_EQ(members(), 0);
  EXPECT_EQ(available(), "2500");
}

TEST_F(PermitsTest, EndedPermitsAreDroppedInSlices) {
  redis({"SET", key, "0"});
  redis({"EVAL", "for n = 1, 20000 do redis.call('ZADD', KEYS[1], n, 'java permit ' .. n) end", "1",
         taken});
  EXPECT_EQ(acquire(1, 3).kind, Kind::granted);
  EXPECT_EQ(members(), 19'003);  // as many as are needed, a slice at a time
  EXPECT_EQ(available(), "997");
  EXPECT_EQ(look().permits->available, 19'997);
  Request large = request(Verb::acquire, 2, 1'000);
  EXPECT_EQ(client.send(large).kind, Kind::granted);
  EXPECT_EQ(look().permits->total, 20'000);
}

TEST_F(PermitsTest, TwoHoldsNeverHaveTheSamePermit) {
  Request first = request(Verb::acquire, 1, 1'000, lease, 3'000);
  Request second = request(Verb::acquire, 2, 1'000, lease, 3'000);
  EXPECT_EQ(client.send(first).kind, Kind::granted);
  EXPECT_EQ(client.send(second).kind, Kind::granted);
  EXPECT_EQ(members(), 2'000);
  Request other = request(Verb::acquire, 1, 1'000, lease, 3'000);
  other.id.space[1] ^= 1;  // an id of another process
  EXPECT_EQ(client.send(other).kind, Kind::granted);
  EXPECT_EQ(members(), 3'000);
}

TEST_F(PermitsTest, ReleaseAndRenewalWorkWhileTheServerIsOutOfMemory) {
  for (const std::uint32_t permits : {1U, 2U}) {
    EXPECT_EQ(acquire(1, permits).kind, Kind::granted);
    redis({"CONFIG", "SET", "maxmemory", "1"});
    EXPECT_EQ(acquire(2).kind, Kind::refused);
    EXPECT_EQ(send(Verb::verify, 1, permits), Kind::granted);
    EXPECT_EQ(send(Verb::renew, 1, permits), Kind::granted);
    EXPECT_EQ(send(Verb::release, 1, permits), Kind::granted);
    redis({"CONFIG", "SET", "maxmemory", "0"});
    EXPECT_EQ(available(), "3");
  }
}

}  // namespace
}  // namespace latchkey::tests
