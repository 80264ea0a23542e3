// Locks during the migration of a slot: some keys are on one node, some on the other, and neither
// node knows which keys the other one has.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include <latchkey/error.hpp>
#include <latchkey/locks.hpp>

#include "support/event_counter.hpp"
#include "support/recorder.hpp"
#include "support/servers/redis_cluster.hpp"

namespace latchkey::tests {
namespace {

using namespace std::chrono_literals;

/// A reader with its own Locks, so each one is a different holder.
class RedisClusterMigration : public ::testing::Test {
 protected:
  static RedisCluster& cluster() {
    static RedisCluster one({.masters = 3, .replicas = 0, .node_timeout = 15s});
    return one;
  }
  void SetUp() override {
    cluster().wait_until_ready();
    from_ = cluster().owner_of(slot_);
    const auto masters = cluster().masters();
    to_ = masters[0] != from_ ? masters[0] : masters[1];
  }
  void TearDown() override {
    if (moving_) end();
    for (const std::size_t node : cluster().masters()) cluster().node(node).client()({"FLUSHALL"});
  }

  static Locks connect() { return Locks::connect(cluster().uri()); }

  /// A reader, its connection and its timeout key.
  struct Reader {
    Locks locks;
    Hold hold;
    std::string timeout;
  };
  Reader read() {
    const std::vector<std::string> before = keys_at(from_);
    Locks locks = connect();
    Hold hold = locks.lock(key_, LockType::READ).acquire(2s, 60s);
    std::string timeout;
    for (const std::string& each : keys_at(from_)) {
      const bool fresh = std::ranges::find(before, each) == before.end();
      if (fresh && each != key_) timeout = each;
    }
    EXPECT_NE(timeout, "");
    return {std::move(locks), std::move(hold), std::move(timeout)};
  }

  void begin() {
    cluster().begin_migration(slot_, from_, to_);
    moving_ = true;
  }
  void move(const std::vector<std::string>& keys) { cluster().move_these(keys, from_, to_); }
  void end() {
    cluster().move_keys(slot_, from_, to_);
    cluster().end_migration(slot_, from_, to_);
    moving_ = false;
  }

  [[nodiscard]] std::vector<std::string> keys_at(std::size_t node) const {
    return cluster()
        .node(node)
        .client()({"CLUSTER", "GETKEYSINSLOT", std::to_string(slot_), "100"})
        .list();
  }
  /// Whether a WRITE is granted.
  bool write_is_granted() {
    return writer_.lock(key_, LockType::WRITE).try_acquire(0ms, 60s).has_value();
  }

  const std::string key_ = "{migrated}";
  const std::size_t slot_ = cluster().slot_of(key_);
  std::size_t from_ = 0, to_ = 0;
  bool moving_ = false;
  Locks writer_ = connect();
};

// The importing node has the hash and one reader's timeout. The other
// reader's timeout has not arrived.
TEST_F(RedisClusterMigration, AReleaseOnTheImportingNodeKeepsReadersWhoseTimeoutsAreMissing) {
  Reader one = read(), two = read(), three = read();
  begin();
  move({key_, one.timeout});
  EXPECT_TRUE(one.hold.release());
  EXPECT_FALSE(write_is_granted());
  EXPECT_FALSE(two.hold.lost());
  move({three.timeout});
  EXPECT_TRUE(three.hold.release());
  EXPECT_FALSE(write_is_granted());
  end();
  EXPECT_TRUE(two.hold.extend(60s));
  EXPECT_FALSE(write_is_granted());
  EXPECT_TRUE(two.hold.release());
  EXPECT_TRUE(write_is_granted());
}

// The source has the hash and one reader's timeout. The other reader's has moved.
TEST_F(RedisClusterMigration, AReleaseOnTheSourceKeepsReadersWhoseTimeoutsHaveMoved) {
  Reader one = read(), two = read();
  begin();
  move({two.timeout});
  EXPECT_TRUE(one.hold.release());
  EXPECT_FALSE(write_is_granted());
  EXPECT_FALSE(two.hold.lost());
  end();
  EXPECT_TRUE(two.hold.extend(60s));
  EXPECT_FALSE(write_is_granted());
  EXPECT_TRUE(two.hold.release());
  EXPECT_TRUE(write_is_granted());
}

// The state of the reader is unknown until the slot has moved.
TEST_F(RedisClusterMigration, AReaderWhoseTimeoutIsOnTheOtherNodeIsNotLost) {
  for (const bool hash_first : {true, false}) {
    SCOPED_TRACE(hash_first ? "the hash has moved" : "the timeout has moved");
    SetUp();
    Reader one = read(), two = read();
    begin();
    move({hash_first ? key_ : one.timeout});
    EXPECT_THROW(static_cast<void>(one.hold.extend(60s)), BackendUnavailable);
    EXPECT_FALSE(one.hold.lost());
    EXPECT_FALSE(write_is_granted());
    end();
    EXPECT_TRUE(one.hold.extend(60s));
    EXPECT_TRUE(one.hold.release());
    EXPECT_FALSE(write_is_granted());
    EXPECT_TRUE(two.hold.release());
  }
}

// A reader that died is still found out by the next one to leave, once a node has the whole slot.
TEST_F(RedisClusterMigration, AnExpiredReaderIsDroppedOnceTheSlotHasMoved) {
  Reader one = read(), two = read(), dead = read();
  begin();
  cluster().node(from_).client()({"DEL", dead.timeout});  // as if its lease had ended
  move({key_, one.timeout});
  EXPECT_TRUE(one.hold.release());
  end();
  auto client = cluster().node(to_).client();
  EXPECT_EQ(client({"HLEN", key_}).integer(), 3) << "nobody could tell which of two readers lives";
  EXPECT_TRUE(two.hold.release());
  EXPECT_TRUE(write_is_granted());
}

// The queue is deleted with its last expired waiter. A missing key may be on the importing node.
TEST_F(RedisClusterMigration, AFairHoldIsReleasedOnTheSourceThoughItsQueueIsDeleted) {
  Hold hold = connect().lock(key_, LockType::FAIR).acquire(2s, 60s);
  auto client = cluster().node(from_).client();
  client({"RPUSH", "redisson_lock_queue:" + key_, "dead"});
  client({"ZADD", "redisson_lock_timeout:" + key_, "1", "dead"});
  begin();
  EXPECT_TRUE(hold.release());
  end();
}

// A call for keys of which the node has some and the other node has the others is rejected.
TEST_F(RedisClusterMigration, HoldsOnBothNodesThatAreCheckedTogetherAreRenewed) {
  constexpr std::size_t count = 40;
  EventCounter events;
  const Locks locks = Locks::connect(cluster().uri(), {.watchdog = 3s, .listener = &events});
  std::vector<std::string> keys;
  std::vector<Hold> holds;
  for (std::size_t number = 0; number < count; ++number) {
    keys.push_back(key_ + std::to_string(number));
    const LockType type = number % 4 == 0 ? LockType::WRITE : LockType::REENTRANT;
    holds.push_back(locks.lock(keys.back(), type).acquire(2s));
  }
  const auto renewed_twice = [&] {
    const std::size_t before = events.count(Event::Kind::renewed);
    return events.await(Event::Kind::renewed, before + 2 * count);
  };
  EXPECT_TRUE(renewed_twice());
  begin();
  keys.resize(count / 2);
  move(keys);
  EXPECT_TRUE(renewed_twice());
  end();
  EXPECT_TRUE(renewed_twice());
  for (const Hold& each : holds) EXPECT_FALSE(each.lost());
}

}  // namespace
}  // namespace latchkey::tests
