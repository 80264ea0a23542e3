// inspect, list and force_release on a real server.
#include "redis/scripts/script_fixture.hpp"

namespace latchkey::tests {
namespace {

class AdministrationScripts : public ScriptTest {
 protected:
  Kind force(std::string_view key) { return client.send(Verb::force_release, key).kind; }
  static constexpr milliseconds no_time{0};
};

TEST_F(AdministrationScripts, InspectReportsAFreeKeyAsUnlocked) {
  const LockInfo info = client.inspect("k");
  EXPECT_EQ(info.key, "k");
  EXPECT_FALSE(info.locked);
  EXPECT_TRUE(info.holders.empty());
  EXPECT_TRUE(info.queue.empty());
  EXPECT_EQ(info.fencing_token, std::nullopt);
}

TEST_F(AdministrationScripts, InspectOfAFencedLockReportsItsToken) {
  const auto token = client.acquire("k", LockType::FENCED, id(1), lease).token;
  const LockInfo info = client.inspect("k");
  EXPECT_TRUE(info.locked);
  EXPECT_EQ(info.type, LockType::REENTRANT);
  ASSERT_EQ(info.holders.size(), 1U);
  EXPECT_EQ(info.holders[0].id, owner(1));
  EXPECT_EQ(info.holders[0].count, 1U);
  EXPECT_GT(info.holders[0].left.value_or(no_time), lease - milliseconds(5'000));
  EXPECT_EQ(info.fencing_token, token);
  client.send(Verb::release, "k", LockType::FENCED, id(1));
  EXPECT_EQ(client.inspect("k").fencing_token, token);
  EXPECT_FALSE(client.inspect("k").locked);
}

TEST_F(AdministrationScripts, InspectOfWriteShowsTheOwnerWithoutTheFieldsSuffix) {
  client.acquire("k", LockType::WRITE, id(1), lease);
  redis({"HSET", "k", owner(1), "2"});  // as Java does for a READ inside
  const LockInfo info = client.inspect("k");
  EXPECT_EQ(info.type, LockType::WRITE);
  ASSERT_EQ(info.holders.size(), 1U);
  EXPECT_EQ(info.holders[0].id, owner(1));
}

TEST_F(AdministrationScripts, InspectShowsTheLeaseOfEachReaderAndNoExpiredOnes) {
  client.acquire("k", LockType::READ, id(1), lease);
  client.acquire("k", LockType::READ, id(2), 3 * lease);
  client.acquire("k", LockType::READ, id(3), lease);
  redis({"DEL", "{k}:" + owner(3) + ":rwlock_timeout:1"});
  LockInfo info = client.inspect("k");
  EXPECT_EQ(info.type, LockType::READ);
  ASSERT_EQ(info.holders.size(), 2U);
  std::ranges::sort(info.holders, {}, &HolderInfo::id);
  EXPECT_EQ(info.holders[0].id, owner(1));
  EXPECT_LE(info.holders[0].left.value_or(3 * lease), lease);
  EXPECT_EQ(info.holders[1].id, owner(2));
  EXPECT_GT(info.holders[1].left.value_or(no_time), 2 * lease);
}

TEST_F(AdministrationScripts, InspectOfAFairLockShowsTheQueue) {
  for (const std::uint64_t number : {1U, 2U, 3U, 4U}) {
    client.acquire("k", LockType::FAIR, id(number), lease, queue_wait);
  }
  redis({"ZADD", "redisson_lock_timeout:{k}", "1", owner(3)});
  const LockInfo info = client.inspect("k");
  EXPECT_EQ(info.queue, (Names{owner(2), owner(4)}));
  EXPECT_EQ(redis({"LLEN", "redisson_lock_queue:{k}"}).integer(), 3);  // nothing was changed
}

TEST_F(AdministrationScripts, InspectShowsALeaseWithoutEnd) {
  redis({"HSET", "k", owner(1), "4"});
  const LockInfo info = client.inspect("k");
  ASSERT_EQ(info.holders.size(), 1U);
  EXPECT_EQ(info.holders[0].left, std::nullopt);
  EXPECT_EQ(info.holders[0].count, 4U);
}

TEST_F(AdministrationScripts, InspectOfAnotherTypeIsRefused) {
  redis({"SET", "k", "mine"});
  LockInfo info;
  Request request = ScriptClient::make_request(Verb::inspect, "k");
  request.info = &info;
  EXPECT_EQ(client.send(request).kind, Kind::refused);
}

TEST_F(AdministrationScripts, ListFindsLocksAndNothingElse) {
  client.acquire("order:1", LockType::REENTRANT, id(1), lease);
  client.acquire("order:2", LockType::READ, id(2), lease);
  client.acquire("order:3", LockType::WRITE, id(3), lease);
  client.acquire("{order}:4", LockType::FENCED, id(4), lease);
  client.acquire("order:5", LockType::FAIR, id(5), lease);
  client.acquire("order:5", LockType::FAIR, id(6), lease, queue_wait);
  redis({"HSET", "order:6", "customer", "7"});
  redis({"SET", "order:7", "paid"});
  redis({"RPUSH", "order:8", "a", "b"});
  EXPECT_EQ(client.list("*"), (Names{"order:1", "order:2", "order:3", "order:5", "{order}:4"}));
  EXPECT_EQ(client.list("order:[12]"), (Names{"order:1", "order:2"}));
  EXPECT_EQ(client.list("nothing*"), Names{});
}

TEST_F(AdministrationScripts, ListReadsAllPagesAndReturnsEachNameOnce) {
  constexpr std::uint64_t crowd = 3'000;
  for (std::uint64_t number = 1; number <= crowd; ++number) {
    client.acquire("order:" + std::to_string(number), LockType::REENTRANT, id(number), lease);
  }
  const Names names = client.list("order:*");
  EXPECT_EQ(names.size(), crowd);
  EXPECT_TRUE(std::ranges::is_sorted(names));
}

TEST_F(AdministrationScripts, ForceReleaseOfAFreeKeyIsGone) {
  EXPECT_EQ(force("k"), Kind::gone);
  EXPECT_EQ(keys(), Names{});
}

TEST_F(AdministrationScripts, ForceReleaseFreesEveryTypeAndNotifiesItsWaiters) {
  Subscriber plain = subscribe({"redisson_lock__channel:{k}"}),
             shared = subscribe({"redisson_rwlock:{k}"});
  for (const LockType type : {LockType::REENTRANT, LockType::FENCED, LockType::FAIR}) {
    client.acquire("k", type, id(1), lease);
    EXPECT_EQ(force("k"), Kind::granted);
    EXPECT_EQ(redis({"EXISTS", "k"}).integer(), 0);
    EXPECT_EQ(plain.next(), "redisson_lock__channel:{k} 0");
    EXPECT_EQ(client.renew("k", type, id(1), lease).kind, Kind::gone);
  }
  EXPECT_TRUE(shared.received_nothing_else());
  client.acquire("k", LockType::WRITE, id(1), lease);
  EXPECT_EQ(force("k"), Kind::granted);
  EXPECT_EQ(shared.next(), "redisson_rwlock:{k} 1");
  EXPECT_EQ(shared.next(), "redisson_rwlock:{k} 00");
  client.acquire("k", LockType::READ, id(1), lease);
  client.acquire("k", LockType::READ, id(2), lease);
  EXPECT_EQ(force("k"), Kind::granted);
  EXPECT_EQ(shared.next(), "redisson_rwlock:{k} 0");
  EXPECT_TRUE(plain.received_nothing_else());
  EXPECT_EQ(keys(), Names{"redisson_lock_token:{k}"});  // no reader's timeout key is left
}

TEST_F(AdministrationScripts, ForceReleaseOfAFairLockGrantsItToTheFirstInTheQueue) {
  for (const std::uint64_t number : {1U, 2U, 3U}) {
    client.acquire("k", LockType::FAIR, id(number), lease, queue_wait);
  }
  const std::string channel = "redisson_lock__channel:{k}:" + owner(2);
  Subscriber next = subscribe({channel}), plain = subscribe({"redisson_lock__channel:{k}"});
  EXPECT_EQ(force("k"), Kind::granted);
  EXPECT_TRUE(next.next().starts_with(channel + " 2 "));
  EXPECT_EQ(plain.next(), "redisson_lock__channel:{k} 0");
  EXPECT_EQ(redis({"LLEN", "redisson_lock_queue:{k}"}).integer(), 1);
  EXPECT_EQ(client.acquire("k", LockType::FAIR, id(2), lease, queue_wait).kind, Kind::granted);
}

TEST_F(AdministrationScripts, ForceReleaseOfAKeyThatIsNoLockIsRefused) {
  redis({"HSET", "customer:7", "name", "Ada", "age", "36"});
  const Outcome hash = client.send(Verb::force_release, "customer:7");
  EXPECT_EQ(hash.kind, Kind::refused);
  EXPECT_NE(hash.reason.find("the hash is no lock"), std::string::npos) << hash.reason;
  redis({"SET", "text", "mine"});
  EXPECT_EQ(force("text"), Kind::refused);
  EXPECT_EQ(keys(), (Names{"customer:7", "text"}));
}

}  // namespace
}  // namespace latchkey::tests
