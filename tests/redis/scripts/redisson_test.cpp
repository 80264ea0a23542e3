// Our scripts and Redisson's scripts on the same keys.
#include "redis/scripts/redisson.hpp"
#include "redis/scripts/script_fixture.hpp"

namespace latchkey::tests {
namespace {

class RedissonScripts : public ScriptTest {
 protected:
  static constexpr std::string_view scores_key = "redisson_lock_timeout:{k}";
  static constexpr long long java_lease = 30'000;
  static constexpr long long java_wait = 300'000;

  JavaClient java(int number) { return {server.client(), java_owner(number)}; }
  Kind fair(std::uint64_t number) {
    return client.acquire("k", LockType::FAIR, id(number), lease, queue_wait).kind;
  }
  Reply fair(JavaClient& waiter) { return waiter.fair_lock("k", java_lease, java_wait, now_ms()); }
  Names queue() { return redis({"LRANGE", "redisson_lock_queue:{k}", "0", "-1"}).list(); }
  static std::string channel_of(const std::string& who) {
    return "redisson_lock__channel:{k}:" + who;
  }
};

TEST_F(RedissonScripts, PlainLocksExcludeEachOtherAndNotify) {
  JavaClient other = java(1);
  Subscriber listener = subscribe({"redisson_lock__channel:{k}"});
  for (const LockType type : {LockType::REENTRANT, LockType::FENCED, LockType::FAIR}) {
    SCOPED_TRACE(to_string(type));
    EXPECT_TRUE(other.lock("k", java_lease).is_nil());
    const Outcome busy = client.acquire("k", type, id(1), lease);
    EXPECT_EQ(busy.kind, Kind::busy);
    EXPECT_EQ(busy.holder, other.owner());
    EXPECT_LE(busy.retry_after.value_or(lease), milliseconds(java_lease));
    EXPECT_EQ(other.unlock("k").integer(), 1);
    EXPECT_EQ(listener.next(), "redisson_lock__channel:{k} 0");
    EXPECT_EQ(client.acquire("k", type, id(1), lease).kind, Kind::granted);
    EXPECT_GT(other.lock("k", java_lease).integer(), 0);
    EXPECT_TRUE(other.unlock("k").is_nil());
    EXPECT_EQ(client.send(Verb::release, "k", type, id(1)).kind, Kind::granted);
    EXPECT_EQ(listener.next(), "redisson_lock__channel:{k} 0");
  }
}

TEST_F(RedissonScripts, AJavaHolderIsPolledEverySecond) {
  JavaClient other = java(1);
  EXPECT_TRUE(fair(other).is_nil());
  for (const LockType type : {LockType::REENTRANT, LockType::FENCED, LockType::WRITE}) {
    const Outcome busy = client.acquire("k", type, id(1), lease);
    EXPECT_EQ(busy.holder, other.owner());
    EXPECT_EQ(busy.retry_after, milliseconds(1'000)) << "its release of a FAIR lock tells nobody";
  }
}

TEST_F(RedissonScripts, AReentrantJavaHolderIsNotReleasedByLatchkey) {
  JavaClient other = java(1);
  other.lock("k", java_lease);
  other.lock("k", java_lease);
  EXPECT_EQ(client.send(Verb::release, "k", LockType::REENTRANT, id(1)).kind, Kind::gone);
  EXPECT_EQ(client.inspect("k").holders.at(0).count, 2U);
  EXPECT_EQ(other.unlock("k").integer(), 0);
  EXPECT_EQ(client.acquire("k", LockType::REENTRANT, id(1), lease).kind, Kind::busy);
  EXPECT_EQ(other.unlock("k").integer(), 1);
}

TEST_F(RedissonScripts, JavaAndCppReadersHoldTogether) {
  JavaClient first = java(1), second = java(2);
  Subscriber listener = subscribe({"redisson_rwlock:{k}"});
  EXPECT_TRUE(first.read_lock("k", java_lease).is_nil());
  EXPECT_EQ(client.acquire("k", LockType::READ, id(1), lease).kind, Kind::granted);
  EXPECT_TRUE(second.read_lock("k", java_lease).is_nil());
  EXPECT_EQ(first.read_unlock("k").integer(), 0);
  expect_ttl("k", lease);  // Redisson found our timeout key
  EXPECT_EQ(second.read_unlock("k").integer(), 0);
  EXPECT_EQ(client.send(Verb::verify, "k", LockType::READ, id(1)).kind, Kind::granted);
  EXPECT_GT(first.write_lock("k", java_lease).integer(), 0);
  EXPECT_TRUE(listener.received_nothing_else());
  EXPECT_EQ(client.send(Verb::release, "k", LockType::READ, id(1)).kind, Kind::granted);
  EXPECT_EQ(listener.next(), "redisson_rwlock:{k} 0");
  EXPECT_EQ(keys(), Names{});
}

TEST_F(RedissonScripts, AReleaseKeepsJavaReaders) {
  JavaClient other = java(1);
  EXPECT_EQ(client.acquire("k", LockType::READ, id(1), lease).kind, Kind::granted);
  other.read_lock("k", java_lease);
  other.read_lock("k", java_lease);
  EXPECT_EQ(client.send(Verb::release, "k", LockType::READ, id(1)).kind, Kind::granted);
  expect_ttl("k", milliseconds(java_lease));
  EXPECT_EQ(other.read_unlock("k").integer(), 0);
  EXPECT_EQ(client.acquire("k", LockType::WRITE, id(2), lease).kind, Kind::busy);
  EXPECT_EQ(other.read_unlock("k").integer(), 1);
  EXPECT_EQ(client.acquire("k", LockType::WRITE, id(2), lease).kind, Kind::granted);
}

TEST_F(RedissonScripts, WritersExcludeEachOther) {
  JavaClient other = java(1);
  EXPECT_TRUE(other.write_lock("k", java_lease).is_nil());
  other.read_lock("k", java_lease);  // nested: its field names no reader to share with
  for (const LockType type : {LockType::READ, LockType::WRITE}) {
    const Outcome busy = client.acquire("k", type, id(1), lease);
    EXPECT_EQ(busy.kind, Kind::busy);
    EXPECT_EQ(busy.holder, other.owner());
  }
  redis({"DEL", "k"});
  EXPECT_EQ(client.acquire("k", LockType::WRITE, id(1), lease).kind, Kind::granted);
  EXPECT_GT(other.write_lock("k", java_lease).integer(), 0);
  EXPECT_GT(other.read_lock("k", java_lease).integer(), 0);
  EXPECT_EQ(client.downgrade("k", id(1), lease).kind, Kind::granted);
  EXPECT_TRUE(other.read_lock("k", java_lease).is_nil());
}

TEST_F(RedissonScripts, AMixedQueueIsServedInOrder) {
  JavaClient first = java(1), third = java(3);
  EXPECT_EQ(fair(9), Kind::granted);
  fair(first);
  EXPECT_EQ(fair(2), Kind::busy);
  fair(third);
  EXPECT_EQ(fair(4), Kind::busy);
  EXPECT_EQ(queue(), (Names{first.owner(), owner(2), third.owner(), owner(4)}));
  Subscriber subscriber = subscribe({channel_of(first.owner()), channel_of(owner(2)),
                                     channel_of(third.owner()), channel_of(owner(4))});

  EXPECT_EQ(client.send(Verb::release, "k", LockType::FAIR, id(9)).kind, Kind::granted);
  EXPECT_EQ(subscriber.next(), channel_of(first.owner()) + " 0");
  EXPECT_EQ(fair(2), Kind::busy);
  EXPECT_GE(fair(third).integer(), 0);
  EXPECT_TRUE(fair(first).is_nil());
  EXPECT_EQ(first.fair_unlock("k", now_ms()).integer(), 1);
  EXPECT_EQ(subscriber.next(), channel_of(owner(2)) + " 0");
  EXPECT_EQ(fair(4), Kind::busy);
  EXPECT_EQ(fair(2), Kind::granted);
  EXPECT_EQ(client.send(Verb::release, "k", LockType::FAIR, id(2)).kind, Kind::granted);
  EXPECT_EQ(subscriber.next(), channel_of(third.owner()) + " 0");
  EXPECT_TRUE(fair(third).is_nil());
  EXPECT_EQ(third.fair_unlock("k", now_ms()).integer(), 1);
  EXPECT_EQ(subscriber.next(), channel_of(owner(4)) + " 0");
  EXPECT_EQ(fair(4), Kind::granted);
  EXPECT_EQ(client.send(Verb::release, "k", LockType::FAIR, id(4)).kind, Kind::granted);
  EXPECT_EQ(keys(), Names{});
}

/// Two Java waiters in front of ours, served one after the other at once after a hold of that long.
class AfterALongHold : public RedissonScripts, public ::testing::WithParamInterface<int> {};

TEST_P(AfterALongHold, ACppWaiterKeepsItsPlaceThroughJavaGrants) {
  JavaClient first = java(1), second = java(2), late = java(3);
  EXPECT_EQ(fair(9), Kind::granted);
  fair(first);
  fair(second);
  EXPECT_EQ(fair(1), Kind::busy);
  fair(late);
  for (int passed = 0; passed < GetParam(); passed += 5) {
    pass(milliseconds(5'000));
    EXPECT_EQ(client.renew("k", LockType::FAIR, id(9), lease).kind, Kind::granted);
    EXPECT_EQ(fair(1), Kind::busy);
  }
  pass(milliseconds(4'000));
  EXPECT_EQ(client.send(Verb::release, "k", LockType::FAIR, id(9)).kind, Kind::granted);
  for (JavaClient* waiter : {&first, &second}) {
    EXPECT_TRUE(fair(*waiter).is_nil());
    EXPECT_EQ(waiter->fair_unlock("k", now_ms()).integer(), 1);
  }
  EXPECT_EQ(queue(), (Names{owner(1), late.owner()}));
  EXPECT_EQ(fair(1), Kind::granted);
}

INSTANTIATE_TEST_SUITE_P(RedissonScripts, AfterALongHold, ::testing::Values(0, 20, 60, 150, 280));

TEST_F(RedissonScripts, AJavaHeadThatHasWaitedLongCostsNoCppWaiterItsPlace) {
  // {its wait, how long it has waited when we come}
  for (const auto& [wait, waited] : {std::pair{600'000LL, 500'000},
                                     {300'000LL, 320'000},
                                     {1'800'000LL, 1'500'000},
                                     {7'200'000LL, 60'000}}) {
    SCOPED_TRACE(std::to_string(wait) + " ms, waited " + std::to_string(waited));
    redis({"FLUSHALL"});
    JavaClient first = java(1), late = java(2);
    EXPECT_EQ(fair(9), Kind::granted);
    EXPECT_GE(first.fair_lock("k", java_lease, wait, now_ms()).integer(), 0);
    for (int passed = 0; passed < waited; passed += 20'000) {
      pass(milliseconds(20'000));
      redis({"PEXPIRE", "k", "60000"});
    }
    EXPECT_EQ(fair(1), Kind::busy);
    fair(late);
    pass(milliseconds(4'000));
    EXPECT_EQ(fair(1), Kind::busy);
    EXPECT_EQ(client.send(Verb::release, "k", LockType::FAIR, id(9)).kind, Kind::granted);
    EXPECT_TRUE(first.fair_lock("k", java_lease, wait, now_ms()).is_nil());
    EXPECT_EQ(first.fair_unlock("k", now_ms()).integer(), 1);
    EXPECT_FALSE(fair(late).is_nil()) << "it came after us";
    EXPECT_EQ(queue(), (Names{owner(1), late.owner()}));
    EXPECT_EQ(fair(1), Kind::granted);
  }
}

TEST_F(RedissonScripts, AJavaHeadWithAShortWaitCostsNoCppWaiterItsPlace) {
  JavaClient other = java(1), late = java(2);
  EXPECT_EQ(fair(9), Kind::granted);
  for (const long long wait : {1'000, 10'000, 25'000, 60'000}) {
    redis({"FLUSHALL"});
    EXPECT_EQ(client.acquire("k", LockType::FAIR, id(9), milliseconds(1'000), {}).kind,
              Kind::granted);
    other.fair_lock("k", java_lease, wait, now_ms());
    EXPECT_EQ(fair(1), Kind::busy);
    fair(late);
    EXPECT_EQ(client.send(Verb::release, "k", LockType::FAIR, id(9)).kind, Kind::granted);
    EXPECT_TRUE(other.fair_lock("k", java_lease, wait, now_ms()).is_nil()) << wait;
    EXPECT_EQ(other.fair_unlock("k", now_ms()).integer(), 1);
    EXPECT_EQ(fair(1), Kind::granted) << wait;
  }
}

TEST_F(RedissonScripts, ScoresDoNotDriftInAQueueThatIsNeverEmpty) {
  JavaClient waiter = java(0);
  EXPECT_EQ(fair(1), Kind::granted);
  std::uint64_t last = 1;
  for (int round = 0; round < 50; ++round) {
    JavaClient next_java = java(round + 1);
    EXPECT_GE(fair(next_java).integer(), 0);
    const std::uint64_t next = last + 1;
    EXPECT_EQ(fair(next), Kind::busy);
    EXPECT_EQ(client.send(Verb::release, "k", LockType::FAIR, id(last)).kind, Kind::granted);
    EXPECT_TRUE(fair(next_java).is_nil());
    EXPECT_EQ(next_java.fair_unlock("k", now_ms()).integer(), 1);
    EXPECT_EQ(fair(next), Kind::granted);
    last = next;
  }
  fair(waiter);
  const long long score = std::stoll(redis({"ZSCORE", scores_key, waiter.owner()}).text());
  EXPECT_LE(score - now_ms(), lease.count() + 2 * java_wait);
}

TEST_F(RedissonScripts, FencingTokensIncreaseAcrossJavaAndCpp) {
  JavaClient other = java(1);
  std::uint64_t last = 0;
  for (int round = 0; round < 3; ++round) {
    const Outcome ours = client.acquire("k", LockType::FENCED, id(1), lease);
    EXPECT_GT(ours.token, last);
    EXPECT_EQ(other.fenced_lock("k", java_lease).list().at(1), "-1");
    client.send(Verb::release, "k", LockType::FENCED, id(1));
    last = std::stoull(other.fenced_lock("k", java_lease).list().at(1));
    EXPECT_GT(last, ours.token);
    other.unlock("k");
  }
}

}  // namespace
}  // namespace latchkey::tests
