// Locks that a process keeps until another one wants them, on a cluster, whose requests have no
// order.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <latchkey/locks.hpp>

#include "support/idle_locks.hpp"
#include "support/polling.hpp"
#include "support/recorder.hpp"
#include "support/servers/redis_cluster.hpp"

namespace latchkey::tests {
namespace {

using namespace std::chrono_literals;
using enum LockType;

class RedisClusterIdle : public IdleLocksTest {
 protected:
  static RedisCluster& cluster() {
    static RedisCluster one({.masters = 3, .replicas = 0, .node_timeout = 15s});
    return one;
  }
  void SetUp() override {
    cluster().wait_until_ready();
    if (!connect().capabilities().recalls) GTEST_SKIP() << "the nodes do not tell of waiters";
  }

  /// `kind`: of channels, as sharded_pubsub.
  static Locks connect(Options options = {}, const std::string& kind = "auto") {
    return Locks::connect(cluster().uri() + "?sharded_pubsub=" + kind, options);
  }
  static Locks keeping(const std::string& kind = "auto") {
    return connect({.cache = long_time}, kind);
  }
  static std::size_t owner_of(std::string_view key) {
    return cluster().owner_of(cluster().slot_of(key));
  }
  static std::size_t other_than(std::size_t owner) {
    const auto masters = cluster().masters();
    return masters[0] != owner ? masters[0] : masters[1];
  }
  static RedisClient node_of(std::string_view key) {
    return cluster().node(owner_of(key)).client();
  }
  static bool is_locked(std::string_view key) {
    return node_of(key)({"EXISTS", key}).integer() == 1;
  }
  static bool await_free(std::string_view key) {
    return eventually([&] { return !is_locked(key); });
  }
};

TEST_F(RedisClusterIdle, ManyCallsOfAProcessAskANodeOnceUntilAnotherOneWaits) {
  const Locks locks = keeping(), other = connect();
  for (const LockType type : {REENTRANT, READ, WRITE, FENCED}) {
    const std::string key = "many " + std::string(to_string(type));
    use(locks, key, type);
    RedisClient node = node_of(key);
    node({"CONFIG", "RESETSTAT"});
    for (int call = 0; call < 1'000; ++call) use(locks, key, type);
    EXPECT_LE(node.calls("evalsha") + node.calls("eval"), 20) << key;
    EXPECT_TRUE(is_locked(key));
    EXPECT_TRUE(is_soon([&] { use(other, key, WRITE); })) << key;
    EXPECT_FALSE(is_locked(key)) << key;
  }
}

TEST_F(RedisClusterIdle, ThreadsOfAProcessTakeItInTurn) {
  const Locks locks = keeping();
  const std::string key = "turns";
  use(locks, key);
  RedisClient node = node_of(key);
  node({"CONFIG", "RESETSTAT"});
  int inside = 0, most = 0;
  std::vector<std::jthread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&] {
      for (int call = 0; call < 250; ++call) {
        const Hold hold = locks.acquire(key, {.wait = long_time});
        most = std::max(most, ++inside);
        --inside;
      }
    });
  }
  threads.clear();
  EXPECT_EQ(most, 1);
  EXPECT_LE(node.calls("evalsha") + node.calls("eval"), 100);
}

// Redisson writes nothing while it waits: it subscribes, at the node of the key.
TEST_F(RedisClusterIdle, ASubscriberThatListensLaterIsSeen) {
  for (const bool sharded : {true, false}) {
    if (sharded && cluster().node(0).version() < 700) continue;
    const std::string key = sharded ? "listened to by shard" : "listened to";
    const Locks locks = keeping(sharded ? "on" : "off");
    use(locks, key);
    EXPECT_TRUE(is_locked(key));
    RedisClient waiter = node_of(key);
    waiter({sharded ? "SSUBSCRIBE" : "SUBSCRIBE", "redisson_lock__channel:{" + key + "}"});
    EXPECT_TRUE(is_soon([&] { EXPECT_TRUE(await_free(key)); })) << key;
  }
}

TEST_F(RedisClusterIdle, ALockWhoseSlotMovesIsGivenBackAndKeptByTheNewNode) {
  const Locks locks = keeping(), other = connect();
  const std::string key = "moved";
  use(locks, key);
  const std::size_t slot = cluster().slot_of(key), from = owner_of(key), to = other_than(from);
  cluster().migrate_slot(slot, from, to);
  EXPECT_TRUE(is_soon([&] { use(other, key); }));
  Recorder recorder;
  const Locks fresh = connect({.cache = long_time, .listener = &recorder});
  EXPECT_TRUE(eventually([&] {  // once the others no longer listen
    use(fresh, key);
    return std::ranges::any_of(recorder.of(Event::Kind::granted), &Event::cached);
  }));
}

// The script that lets a lock become idle reads its queues, too. While the slot moves, the node
// that still has the lock does not know whether they are on the other one.
TEST_F(RedisClusterIdle, AReleaseDoesNotWaitForTheMoveOfItsSlot) {
  const Locks locks = connect({.command_timeout = 8s, .cache = long_time});
  const std::string key = "midway";
  const std::size_t slot = cluster().slot_of(key), from = owner_of(key), to = other_than(from);
  Hold stays = locks.lock(key).acquire(forever);
  cluster().begin_migration(slot, from, to);
  EXPECT_TRUE(is_soon([&] { EXPECT_TRUE(stays.release()); }));
  EXPECT_FALSE(is_locked(key)) << "nobody would tell that others want it";
  cluster().move_keys(slot, from, to);
  cluster().end_migration(slot, from, to);
}

TEST_F(RedisClusterIdle, ANodeThatIsLostGivesItBack) {
  RedisCluster own({.masters = 3, .replicas = 0, .node_timeout = 15s});
  Recorder recorder(false);
  const Locks locks = Locks::connect(own.uri(), {.cache = long_time, .listener = &recorder});
  use(locks, "k");
  RedisClient node = own.node(own.owner_of(own.slot_of("k"))).client();
  node({"CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"});
  ASSERT_TRUE(recorder.await(Event::Kind::connection_restored));
  EXPECT_TRUE(is_soon(
      [&] { EXPECT_TRUE(eventually([&] { return node({"EXISTS", "k"}).integer() == 0; })); }));
  EXPECT_EQ(recorder.count(Event::Kind::lost), 0U);
}

}  // namespace
}  // namespace latchkey::tests
