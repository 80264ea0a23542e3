// Locks on a cluster: slots that move, masters that fail, nodes that join and leave.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <latchkey/error.hpp>
#include <latchkey/locks.hpp>

#include "support/recorder.hpp"
#include "support/refusal.hpp"
#include "support/servers/redis_cluster.hpp"
#include "support/stalls.hpp"

namespace latchkey::tests {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;
using SteadyClock = std::chrono::steady_clock;

class RedisClusterTest : public ::testing::Test {
 protected:
  static RedisCluster& cluster() {
    static RedisCluster one;
    return one;
  }
  void SetUp() override { cluster().wait_until_ready(); }

  static Locks connect(const Options& options = {}) {
    return Locks::connect(cluster().uri(), options);
  }
  static Locks connect_with(const std::string& sharded_pubsub) {
    return Locks::connect(cluster().uri() + "?sharded_pubsub=" + sharded_pubsub);
  }
  static std::size_t owner_of(std::string_view key) {
    return cluster().owner_of(cluster().slot_of(key));
  }
  /// A master that has not the key's slot.
  static std::size_t other_than(std::size_t owner) {
    for (const std::size_t each : cluster().masters()) {
      if (each != owner) return each;
    }
    throw std::logic_error("one master only");
  }

  static bool has_shards() { return cluster().node(0).version() >= 700; }
  /// The values of sharded_pubsub that this server can do.
  static std::vector<std::string> kinds() {
    if (!has_shards()) return {"off", "auto"};
    return {"on", "off", "auto"};
  }

  /// A thread that waits for the key, and when it was granted.
  struct Waiter {
    Waiter(const Locks& locks, std::string key, LockType type = LockType::REENTRANT)
        : thread([this, locks, key, type] {
            const Hold hold = locks.lock(key, type).acquire(20s);
            granted_at = SteadyClock::now().time_since_epoch();
          }) {}
    ~Waiter() { thread.join(); }

    std::atomic<SteadyClock::duration> granted_at{};
    std::thread thread;
  };
};

TEST_F(RedisClusterTest, EachKeyIsOnTheNodeOfItsSlot) {
  const Locks locks = connect();
  for (int number = 0; number < 30; ++number) {
    const std::string key = "key:" + std::to_string(number);
    Hold hold = locks.lock(key, number % 2 == 0 ? LockType::FAIR : LockType::WRITE).acquire(1s);
    EXPECT_EQ(cluster().node(owner_of(key)).client()({"EXISTS", key}).integer(), 1) << key;
    EXPECT_TRUE(hold.release());
  }
}

TEST_F(RedisClusterTest, ListAndInspectAndForceReleaseSeeAllNodes) {
  const Locks locks = connect();
  std::vector<std::string> names;
  std::vector<Hold> holds;
  for (int number = 0; number < 20; ++number) {
    names.push_back("listed:" + std::to_string(number));
    holds.push_back(locks.lock(names.back()).acquire(forever));
  }
  std::ranges::sort(names);
  EXPECT_EQ(locks.list("listed:*"), names);
  std::vector<std::string> of_pages;
  for (ListPage page;;) {
    page = locks.list_page("listed:*", page.next, 4);
    of_pages.insert(of_pages.end(), page.names.begin(), page.names.end());
    if (page.next == ListCursor{}) break;
  }
  std::ranges::sort(of_pages);
  EXPECT_EQ(of_pages, names);
  EXPECT_TRUE(locks.inspect("listed:7").locked);
  EXPECT_TRUE(locks.force_release("listed:7"));
  EXPECT_FALSE(locks.inspect("listed:7").locked);
}

TEST_F(RedisClusterTest, AServerThatIsNotInAClusterIsNamed) {
  const RedisServer alone;
  EXPECT_THAT(refusal_of("redis+cluster://127.0.0.1:" + std::to_string(alone.port())),
              HasSubstr("not a node of a cluster"));
  EXPECT_THAT(refusal_of("redis+cluster://127.0.0.1:1"), HasSubstr("127.0.0.1:1: connect"));
  EXPECT_THAT(refusal_of(cluster().uri() + "/3"), HasSubstr("database 0 only"));
}

TEST_F(RedisClusterTest, AWaiterIsWokenByEitherKindOfChannel) {
  for (const std::string& kind : kinds()) {
    const Locks locks = connect_with(kind);
    const std::string key = "woken:" + kind;
    Hold hold = connect_with(kind).lock(key).acquire(forever);
    Waiter waiter(locks, key);
    auto client = cluster().node(owner_of(key)).client();
    const bool shards = has_shards() && kind != "off";
    const char* const of = shards ? "SHARDCHANNELS" : "CHANNELS";
    EXPECT_TRUE(
        eventually([&] { return !client({"PUBSUB", of, "*" + key + "*"}).list().empty(); }));
    std::this_thread::sleep_for(2s);  // sleeps: the safety poll is far apart by now
    const Stalls stalls;
    const auto released = SteadyClock::now();
    hold.release();
    EXPECT_TRUE(eventually([&] { return waiter.granted_at.load() != 0ns; }));
    EXPECT_LT(waiter.granted_at.load() - released.time_since_epoch(), 1s + stalls.total());
    EXPECT_TRUE(eventually([&] { return client({"PUBSUB", of, "*" + key + "*"}).list().empty(); }));
  }
}

TEST_F(RedisClusterTest, AHoldAndItsWaiterFollowAMigratedSlot) {
  for (const std::string& kind : kinds()) {
    if (kind == "auto" && has_shards()) continue;  // as on
    const Locks locks = connect_with(kind);
    const std::string key = "moved:" + kind;
    const std::size_t slot = cluster().slot_of(key), from = owner_of(key), to = other_than(from);
    Hold hold = connect_with(kind).lock(key).acquire(forever);
    Waiter waiter(locks, key);
    // sleeps: the attempt after the subscription is answered, too
    std::this_thread::sleep_for(200ms);
    cluster().migrate_slot(slot, from, to);
    EXPECT_TRUE(hold.extend(40s));
    // sleeps: the waiter learns where the slot is now, and no server tells of it
    std::this_thread::sleep_for(1500ms);
    const Stalls stalls;
    const auto released = SteadyClock::now();
    EXPECT_TRUE(hold.release());
    EXPECT_TRUE(eventually([&] { return waiter.granted_at.load() != 0ns; }));
    EXPECT_LT(waiter.granted_at.load() - released.time_since_epoch(), 1s + stalls.total());
    for (const std::size_t node : cluster().masters()) {
      auto client = cluster().node(node).client();
      EXPECT_TRUE(eventually([&] {
        return client({"PUBSUB", "CHANNELS", "*" + key + "*"}).list().empty() &&
               (!has_shards() ||
                client({"PUBSUB", "SHARDCHANNELS", "*" + key + "*"}).list().empty());
      }));
    }
  }
}

// Where the lock's key is there and its queue is not, or none of a script's keys, the nodes say
// TRYAGAIN until the slot has arrived.
TEST_F(RedisClusterTest, LocksAreAcquiredAndReleasedDuringAMigration) {
  const Locks locks = connect();
  const std::string tag = "{midway}";
  const std::size_t slot = cluster().slot_of(tag), from = owner_of(tag), to = other_than(from);
  Hold stays = locks.lock(tag + "stays").acquire(forever);
  cluster().begin_migration(slot, from, to);
  EXPECT_TRUE(stays.extend(40s)) << "still with the old owner";
  Hold fresh = locks.lock(tag + "fresh").acquire(1s);
  EXPECT_EQ(cluster().node(to).client()({"DBSIZE"}).integer(), 1) << "a new key, with the new one";
  std::thread fair(
      [&] { EXPECT_TRUE(locks.lock(tag + "fair", LockType::FAIR).try_acquire(10s).has_value()); });
  std::this_thread::sleep_for(100ms);  // sleeps: the call meets TRYAGAIN, most times
  cluster().move_keys(slot, from, to);
  EXPECT_TRUE(stays.release()) << "the key is there, the slot is not yet";
  cluster().end_migration(slot, from, to);
  EXPECT_TRUE(fresh.release());
  fair.join();
}

TEST_F(RedisClusterTest, KeysOfOneSlotAreAcquiredInOneStep) {
  const Locks locks = connect();
  Lock same = locks.all_of({locks.lock("{all}:1"), locks.lock("{all}:2"), locks.lock("{all}:3")});
  auto client = cluster().node(owner_of("{all}")).client();
  client({"CONFIG", "RESETSTAT"});
  Hold hold = same.acquire(1s);
  EXPECT_THAT(client({"INFO", "commandstats"}).text(), HasSubstr("cmdstat_evalsha:calls=1,"));
  EXPECT_TRUE(hold.release());
  Lock apart = locks.all_of({locks.lock("apart:1"), locks.lock("apart:2"), locks.lock("apart:3")});
  EXPECT_TRUE(apart.acquire(1s).release());
}

// A replica has no replicas of its own, but it redirects to the masters.
TEST_F(RedisClusterTest, AReplicasAddressIsEnoughToConnect) {
  const std::size_t replica = cluster().replicas_of(cluster().masters().front()).front();
  const Locks locks =
      Locks::connect("redis+cluster://127.0.0.1:" + std::to_string(cluster().node(replica).port()) +
                     "?min_replicas=1");
  for (const char* const key : {"a", "b", "c", "d"}) {
    EXPECT_TRUE(locks.lock(key).acquire(2s).release());
  }
}

TEST_F(RedisClusterTest, LocksAreGrantedSoonAfterAKilledMasterWasReplaced) {
  const Locks locks = connect();
  const std::string key = "killed";
  ASSERT_TRUE(locks.lock(key).try_acquire(1s).has_value());
  Hold hold = locks.lock(key).acquire(forever);
  cluster().wait_until_ready();
  const std::size_t master = owner_of(key);
  const Stalls stalls;
  const Election election = cluster().kill_master(master);
  EXPECT_TRUE(locks.lock("{" + key + "}:new").try_acquire(5s).has_value());
  EXPECT_LT(SteadyClock::now() - election.seen, 2s + stalls.total());
  EXPECT_TRUE(hold.release()) << "the replica had it";
  cluster().restore(master);
}

TEST_F(RedisClusterTest, AFrozenMasterIsAbandonedWhenAnotherIsElected) {
  const Locks locks = connect({.command_timeout = 500ms});
  const std::string key = "frozen";
  ASSERT_TRUE(locks.lock(key).try_acquire(1s).has_value());
  const std::size_t master = owner_of(key);
  const std::size_t replica = cluster().replicas_of(master).front();
  cluster().node(master).stop();
  std::atomic<bool> over = false;
  std::atomic<SteadyClock::duration> granted{};
  std::thread waiter([&] {
    const Hold hold = locks.lock(key).acquire(20s);
    granted = SteadyClock::now().time_since_epoch();
  });
  auto client = cluster().node(replica).client();
  EXPECT_TRUE(eventually([&] { return client({"ROLE"}).list().front() == "master"; }));
  const Stalls stalls;
  const auto elected = SteadyClock::now();
  waiter.join();
  EXPECT_LT(granted.load() - elected.time_since_epoch(), 2s + stalls.total());
  over = true;
  cluster().restore(master);
}

// By default no node serves any key while some slots have no node.
TEST(RedisClusterDown, RequestsWaitUntilTheClusterIsUp) {
  RedisCluster cluster({.replicas = 0, .config = {"cluster-require-full-coverage yes"}});
  const Locks locks = Locks::connect(cluster.uri(), {.command_timeout = 1s});
  const std::string key = "down";
  Hold hold = locks.lock(key).acquire(1s, 60s);
  const std::size_t owner = cluster.owner_of(cluster.slot_of(key));
  const auto masters = cluster.masters();
  const std::size_t other = masters[0] != owner ? masters[0] : masters[1];
  cluster.node(other).kill();
  std::string said;
  EXPECT_TRUE(eventually([&] {
    try {
      static_cast<void>(hold.extend(70s));
    } catch (const BackendUnavailable& error) {
      said = error.what();
    }
    return said.find("CLUSTERDOWN") != std::string::npos;
  })) << said;
  cluster.restore(other);
  EXPECT_TRUE(eventually([&] { return locks.lock("after").try_acquire(1s).has_value(); }));
  EXPECT_TRUE(hold.release());
}

TEST_F(RedisClusterTest, KeysAreFoundAfterANodeJoinsAndAfterItLeaves) {
  const Locks locks = connect();
  const std::string key = "guest";
  Hold hold = locks.lock(key).acquire(forever);
  const std::size_t guest = cluster().add_node();
  cluster().migrate_slot(cluster().slot_of(key), owner_of(key), guest);
  EXPECT_FALSE(locks.with_owner(Owner::make()).lock(key).try_acquire().has_value());
  EXPECT_TRUE(hold.release());
  EXPECT_TRUE(locks.lock(key).try_acquire(1s).has_value());
  cluster().remove_node(guest);
  EXPECT_TRUE(locks.lock(key).try_acquire(2s).has_value());
}

}  // namespace
}  // namespace latchkey::tests
