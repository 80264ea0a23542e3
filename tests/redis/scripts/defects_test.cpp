// Redisson's known defects, by their numbers in its wire description, as far as the
// scripts cause them, or protect Redisson's clients from them. For D2 and D4 in our client see
// redis/locks/defects_test.cpp.
#include <array>
#include <functional>

#include "redis/scripts/redisson.hpp"
#include "redis/scripts/script_fixture.hpp"
#include "support/lock_types.hpp"

namespace latchkey::tests {
namespace {

class RedissonDefects : public ScriptTest {
 protected:
  static constexpr std::string_view queue_key = "redisson_lock_queue:{k}";
  static constexpr std::string_view scores_key = "redisson_lock_timeout:{k}";
  Kind fair(std::uint64_t number) {
    return client.acquire("k", LockType::FAIR, id(number), lease, queue_wait).kind;
  }
};

TEST_F(RedissonDefects, D1_AReadThatEndsDoesNotShortenTheWriteAroundIt) {
  JavaClient java(server.client(), "0d7d1a6e-5b0c-4d3c-9a55-2f0e6f1c9b7a:1");
  java.write_lock("k", 60'000);
  java.read_lock("k", 3'000);
  java.read_lock("k", 3'000);
  java.read_unlock("k");
  EXPECT_LE(pttl("k"), 3'000) << "so it is with Redisson";
  redis({"DEL", "k"});
  // Ours never sends a READ inside its WRITE; what could arrive of one changes nothing.
  client.acquire("k", LockType::WRITE, id(1), lease);
  EXPECT_EQ(client.acquire("k", LockType::READ, id(1), milliseconds(3'000)).kind, Kind::busy);
  EXPECT_EQ(client.send(Verb::release, "k", LockType::READ, id(1)).kind, Kind::gone);
  EXPECT_EQ(client.renew("k", LockType::READ, id(1), milliseconds(3'000)).kind, Kind::gone);
  expect_ttl("k", lease);
  // And the WRITE that ends around a READ gives it all that was left.
  client.downgrade("k", id(1), milliseconds(3'000));
  expect_ttl("k", lease);
}

TEST_F(RedissonDefects, D3_ADowngradeNotifiesWaitingReaders) {
  Subscriber listener = subscribe({"redisson_rwlock:{k}"});
  client.acquire("k", LockType::WRITE, id(1), lease);
  EXPECT_EQ(client.acquire("k", LockType::READ, id(2), lease).kind, Kind::busy);
  client.downgrade("k", id(1), lease);
  EXPECT_EQ(listener.next(), "redisson_rwlock:{k} 1");
  EXPECT_EQ(client.acquire("k", LockType::READ, id(2), lease).kind, Kind::granted);
}

// Redisson wakes as many threads as sleep when 1 arrives: none, if the one that waits has not
// fallen asleep yet. A 0 wakes that one, too.
TEST_F(RedissonDefects, D4_TheEndOfAWriteIsToldToAWaiterThatDoesNotSleepYet) {
  Subscriber listener = subscribe({"redisson_rwlock:{k}"});
  const auto ends = std::to_array<std::function<Kind()>>({
      [&] { return client.send(Verb::release, "k", LockType::WRITE, id(1)).kind; },
      [&] { return client.send(Verb::leave, "k", LockType::WRITE, id(1)).kind; },
      [&] { return client.send(Verb::force_release, "k", LockType::WRITE, id(1)).kind; },
      [&] { return client.downgrade("k", id(1), lease).kind; },
  });
  for (const auto& end : ends) {
    client.acquire("k", LockType::WRITE, id(1), lease);
    EXPECT_EQ(end(), Kind::granted);
    EXPECT_EQ(listener.next(), "redisson_rwlock:{k} 1");
    EXPECT_EQ(listener.next(), "redisson_rwlock:{k} 00") << "0 to Redisson";
  }
}

TEST_F(RedissonDefects, D5_AQueueHeadWithoutAScoreIsSkipped) {
  fair(1);
  fair(2);
  fair(3);
  redis({"DEL", scores_key});  // evicted for want of memory, or deleted by hand
  client.send(Verb::release, "k", LockType::FAIR, id(1));
  EXPECT_EQ(fair(3), Kind::granted);
  EXPECT_EQ(redis({"EXISTS", queue_key}).integer(), 0);
}

TEST_F(RedissonDefects, D6_AWaiterAfterADeadHeadLearnsHowLongToWait) {
  fair(1);
  fair(2);
  fair(3);
  client.send(Verb::release, "k", LockType::FAIR, id(1));
  const Outcome outcome = client.acquire("k", LockType::FAIR, id(3), lease, queue_wait);
  EXPECT_EQ(outcome.kind, Kind::busy);
  EXPECT_EQ(outcome.retry_after, milliseconds(1'000));
  pass(milliseconds(1));  // a score has a fraction of a ms
  int polls = 0;
  while (polls < 10 && fair(3) == Kind::busy) {
    pass(milliseconds(1'000));
    ++polls;
  }
  EXPECT_LE(polls, 5) << "the dead one had 5 s to come";
}

TEST_F(RedissonDefects, D7_LeaveRemovesTheWaiterFromTheQueueAtOnce) {
  fair(1);
  fair(2);
  EXPECT_EQ(client.send(Verb::leave, "k", LockType::FAIR, id(2)).kind, Kind::granted);
  EXPECT_EQ(redis({"EXISTS", queue_key, scores_key}).integer(), 0);
}

TEST_F(RedissonDefects, D8_AWaiterThatKeepsTryingKeepsItsPlace) {
  fair(1);
  fair(2);
  fair(3);
  for (int times = 0; times < 100; ++times) {  // 1 000 s
    pass(milliseconds(10'000));
    ASSERT_EQ(client.renew("k", LockType::FAIR, id(1), lease).kind, Kind::granted);
    ASSERT_EQ(fair(2), Kind::busy);
    ASSERT_EQ(fair(3), Kind::busy);
  }
  EXPECT_EQ(redis({"LRANGE", queue_key, "0", "-1"}).list(), (Names{owner(2), owner(3)}));
}

TEST_F(RedissonDefects, D9_AnAcquireExecutedTwiceCountsOnce) {
  for (const LockType type : all_types) {
    SCOPED_TRACE(to_string(type));
    EXPECT_EQ(client.acquire("k", type, id(1), lease, queue_wait).kind, Kind::granted);
    EXPECT_EQ(client.acquire("k", type, id(1), lease, queue_wait).kind, Kind::granted);
    EXPECT_EQ(client.inspect("k").holders.at(0).count, 1U);
    EXPECT_EQ(client.send(Verb::release, "k", type, id(1)).kind, Kind::granted);
    EXPECT_EQ(redis({"EXISTS", "k"}).integer(), 0);
  }
}

TEST_F(RedissonDefects, D10_ARenewalAfterTheReleaseDoesNotRecreateTheLock) {
  for (const LockType type : all_types) {
    SCOPED_TRACE(to_string(type));
    client.acquire("k", type, id(1), lease);
    client.send(Verb::release, "k", type, id(1));
    EXPECT_EQ(client.renew("k", type, id(1), lease).kind, Kind::gone);
    EXPECT_EQ(redis({"EXISTS", "k"}).integer(), 0);
    client.acquire("k", type, id(2), lease);
    EXPECT_EQ(client.renew("k", type, id(1), 2 * lease).kind, Kind::gone);
    expect_ttl("k", lease);
    client.send(Verb::release, "k", type, id(2));
  }
}

TEST_F(RedissonDefects, D11_AShorterLeaseDoesNotShortenALongerOne) {
  for (const LockType type : all_types) {
    SCOPED_TRACE(to_string(type));
    client.acquire("k", type, id(1), 10 * lease);
    client.acquire("k", type, id(1), lease);
    client.renew("k", type, id(1), lease);
    expect_ttl("k", 10 * lease);
    client.send(Verb::release, "k", type, id(1));
  }
}

TEST_F(RedissonDefects, D12_AHolderLearnsThatItsLockIsGone) {
  for (const LockType type : all_types) {
    for (const std::string_view fate : {"deleted", "forced", "flushed", "another's"}) {
      SCOPED_TRACE(std::string(to_string(type)) + ' ' + std::string(fate));
      client.acquire("k", type, id(1), lease);
      if (fate == "deleted" || fate == "another's") redis({"DEL", "k"});
      if (fate == "forced") client.send(Verb::force_release, "k");
      if (fate == "flushed") redis({"FLUSHALL"});
      if (fate == "another's") client.acquire("k", type, id(2), lease);
      EXPECT_EQ(client.send(Verb::verify, "k", type, id(1)).kind, Kind::gone);
      EXPECT_EQ(client.renew("k", type, id(1), lease).kind, Kind::gone);
      EXPECT_EQ(client.send(Verb::release, "k", type, id(1)).kind, Kind::gone);
      redis({"FLUSHALL"});
    }
  }
}

TEST_F(RedissonDefects, D14_ABusyReplyOfALockWithoutATtlIsNotTakenForAToken) {
  redis({"HSET", "k", owner(9), "1"});  // {-1, -1} in Redisson's words, which it takes for a grant
  const Outcome outcome = client.acquire("k", LockType::FENCED, id(1), lease);
  EXPECT_EQ(outcome.kind, Kind::busy);
  EXPECT_EQ(outcome.retry_after, std::nullopt);
  EXPECT_EQ(outcome.token, 0U);
}

TEST_F(RedissonDefects, D14_TheTokenKeyHasNoTtlAndTheLeaseIsTheRequestedOne) {
  redis({"SET", "redisson_lock_token:{k}", "9000000000000000", "PX", "1000"});
  EXPECT_EQ(client.acquire("k", LockType::FENCED, id(1), 7 * lease).token, 9'000'000'000'000'001U);
  EXPECT_EQ(pttl("redisson_lock_token:{k}"), -1);
  expect_ttl("k", 7 * lease);
}

TEST_F(RedissonDefects, D18_ANameThatRedissonCouldNotReleaseInAClusterIsRefused) {
  for (const std::string_view name : {"a{b", "a}b", "{}x", "x{}{y}", "}{", "{"}) {
    EXPECT_TRUE(detail::redis::refuse_name(name)) << name;
  }
}

TEST_F(RedissonDefects, D19_AReplicaConfirmsNoHold) {
  for (const LockType type : all_types) client.acquire(to_string(type), type, id(1), lease);
  redis({"REPLICAOF", "127.0.0.1", "1"});
  for (const LockType type : all_types) {
    EXPECT_EQ(client.send(Verb::verify, to_string(type), type, id(1)).kind, Kind::unknown);
  }
}

}  // namespace
}  // namespace latchkey::tests
