// Processes that lock while masters are replaced and slots move. A judge in shared memory, outside
// of Redis, counts violations.
#include <gtest/gtest.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <random>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "soak/settings.hpp"
#include "soak/shared.hpp"
#include "soak/workload.hpp"
#include "support/recorder.hpp"
#include "support/servers/redis_cluster.hpp"
#include "support/servers/sentinel_group.hpp"

namespace latchkey::soak {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr int processes = 4;
/// Leases are short, because a failover may lose a release.
constexpr Size workload_size{.threads = 4, .keys = 20, .lease = 5s, .disturbed = true};

/// Options with which an acquire that waits outlasts a failover.
Options options(std::chrono::milliseconds command_timeout = 500ms) {
  return {.watchdog = 3s, .command_timeout = command_timeout, .unavailable_after = 60s};
}

/// Runs a workload in each of several processes and calls `disturb` again and again.
template <class Disturb>
void run_under(const std::string& uri, int least, Disturb&& disturb) {
  const Shared<Judge> judge;
  const Shared<Statistics> statistics;
  const Shared<std::atomic<bool>> over;
  const std::uint64_t seed = soak::seed_of_soak();
  Children children;
  for (int number = 0; number < processes; ++number) {
    children.start([&, number] {
      const Locks locks = Locks::connect(uri, options());
      const LocksByType locks_by_type{locks, locks};
      Workload workload(&locks_by_type, *judge, *statistics,
                        seed + 1'000'000 * static_cast<unsigned>(number), workload_size);
      while (!*over) workload.run(500ms);
      locks.close(5s);
    });
  }
  const auto end = SteadyClock::now() + length_of_soak();
  int times = 0;
  while (times < least || SteadyClock::now() < end) {
    disturb(times++);
    std::this_thread::sleep_for(1500ms);  // sleeps: a while without disturbance
  }
  *over = true;
  EXPECT_TRUE(children.join());
  judge->settle();
  print_statistics(*statistics);
  std::printf("%d failovers, kills and migrations\n", times);
  EXPECT_EQ(judge->violations.overlaps, 0U);
  EXPECT_EQ(judge->violations.torn_reads, 0U);
  EXPECT_EQ(judge->violations.lost_updates, 0U);
  EXPECT_EQ(judge->violations.stale_tokens, 0U);
  for (const auto& visits : statistics->visits) EXPECT_GT(visits, 0U);
}

// All replicas confirm each grant, so whichever replica is promoted has it.
TEST(DeploymentsSoak, SentinelFailoversLoseNoUpdate) {
  tests::SentinelGroup group;
  run_under(group.uri() + "?min_replicas=2", 2, [&](int time) {
    time % 2 == 0 ? group.fail_over() : group.kill_master();
    group.restore();
  });
}

TEST(DeploymentsSoak, ClusterFailoversLoseNoUpdate) {
  tests::RedisCluster cluster;
  const auto migrate = [&](int time) {
    const std::size_t slot = cluster.slot_of("key:" + std::to_string(time % 5));
    const std::size_t from = cluster.owner_of(slot);
    const auto masters = cluster.masters();
    const std::size_t to = masters[0] != from ? masters[0] : masters[1];
    cluster.migrate_slot(slot, from, to);
    cluster.wait_until_ready();
  };
  run_under(cluster.uri() + "?min_replicas=1", 3, [&](int time) {
    if (time % 3 != 2) return migrate(time);
    const std::size_t master = cluster.owner_of(cluster.slot_of("key:0"));
    if (time % 2 == 0) {
      cluster.fail_over(cluster.replicas_of(master).front());
    } else {
      cluster.kill_master(master);
      cluster.restore(master);
    }
    cluster.wait_until_ready();
  });
}

/// Counts the threads inside one lock. The atomics are sequentially consistent, so of two threads
/// that are inside at the same time at least one sees the other.
struct Inside {
  std::atomic<int> readers{0}, writers{0}, most_readers{0};
  std::atomic<bool> moving{false};
  std::atomic<std::uint64_t> reads{0}, writes{0}, overlaps{0}, lost{0}, ended_while_moving{0};

  void read(std::chrono::milliseconds length) {
    const int now = ++readers;
    for (int seen = most_readers; now > seen && !most_readers.compare_exchange_weak(seen, now);) {
    }
    bool alone = writers == 0;
    std::this_thread::sleep_for(length);  // sleeps: this is the time inside the lock
    alone = alone && writers == 0;
    --readers;
    ++reads;
    if (!alone) ++overlaps;
    if (moving) ++ended_while_moving;
  }
  void write(std::chrono::milliseconds length) {
    bool alone = ++writers == 1 && readers == 0;
    std::this_thread::sleep_for(length);  // sleeps: this is the time inside the lock
    alone = alone && writers == 1 && readers == 0;
    --writers;
    ++writes;
    if (!alone) ++overlaps;
  }
};

/// Holds READs for so long that they overlap, and a WRITE from time to time. Leases are far longer
/// than these holds, so none may be lost.
void read_and_write(const Locks& locks, Inside& inside, const std::string& key, unsigned seed,
                    const std::atomic<bool>& over) {
  const auto use = [&](LockType type, unsigned its_seed) {
    std::minstd_rand random(its_seed);
    Lock lock = locks.lock(key, type);
    while (!over) {
      Hold hold = lock.acquire(60s, 30s);
      if (type == LockType::READ) {
        inside.read(std::chrono::milliseconds(20 + random() % 80));
      } else {
        inside.write(5ms);
      }
      if (!hold.release()) ++inside.lost;
      // sleeps: callers come at random times
      std::this_thread::sleep_for(std::chrono::milliseconds(random() % 60));
    }
  };
  std::vector<std::thread> threads;
  for (unsigned number = 0; number < 3; ++number) {
    threads.emplace_back(use, number == 0 ? LockType::WRITE : LockType::READ, seed + number);
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(DeploymentsSoak, SlotMigrationNeverAdmitsAWriterBesideAReader) {
  tests::RedisCluster cluster({.masters = 3, .replicas = 0});
  const Shared<Inside> inside;
  const Shared<std::atomic<bool>> over;
  const auto first_seed = static_cast<unsigned>(soak::seed_of_soak());
  const std::string key = "on the move";
  Children children;
  for (unsigned number = 0; number < processes; ++number) {
    children.start([&, number] {
      const Locks locks = Locks::connect(cluster.uri(), options(10s));
      read_and_write(locks, *inside, key, first_seed + 1'000 * number, *over);
      locks.close(5s);
    });
  }
  ASSERT_TRUE(tests::eventually([&] { return inside->reads > 10; }));
  const std::size_t slot = cluster.slot_of(key);
  std::size_t from = cluster.owner_of(slot), to = cluster.masters()[0];
  if (to == from) to = cluster.masters()[1];
  const auto end = SteadyClock::now() + length_of_soak();
  int times = 0;
  for (; times < 5 || SteadyClock::now() < end; ++times, std::swap(from, to)) {
    cluster.begin_migration(slot, from, to);
    inside->moving = true;
    // sleeps: the migration lasts, so that calls meet it
    while (cluster.move_keys(slot, from, to, 1) > 0) std::this_thread::sleep_for(20ms);
    inside->moving = false;
    cluster.end_migration(slot, from, to);
    std::this_thread::sleep_for(50ms);  // sleeps: readers acquire again
  }
  *over = true;
  EXPECT_TRUE(children.join());
  std::printf("%d migrations, %llu READs (%d at once), %llu of them ended in one, %llu WRITEs\n",
              times, static_cast<unsigned long long>(inside->reads), inside->most_readers.load(),
              static_cast<unsigned long long>(inside->ended_while_moving),
              static_cast<unsigned long long>(inside->writes));
  EXPECT_EQ(inside->overlaps, 0U);
  EXPECT_EQ(inside->lost, 0U);
  EXPECT_GT(inside->most_readers, 2);
  EXPECT_GT(inside->ended_while_moving, 0U);
  EXPECT_GT(inside->writes, 0U);
}

int threads() {
  const std::filesystem::directory_iterator tasks("/proc/self/task");
  return static_cast<int>(std::distance(begin(tasks), end(tasks)));
}

int sockets() {
  const std::filesystem::directory_iterator descriptors("/proc/self/fd");
  return static_cast<int>(std::count_if(begin(descriptors), end(descriptors), [](const auto& each) {
    std::error_code closed;
    return read_symlink(each.path(), closed).string().starts_with("socket:");
  }));
}

/// The number of failovers: 50 per minute of the soak, at least 3.
int failovers() {
  return std::max<int>(3, static_cast<int>(50 * length_of_soak() / std::chrono::seconds(60)));
}

/// Acquires, waits and wakes a waiter after each of many failovers. Afterwards the process must
/// have no more threads and sockets than before.
template <class FailOver>
void fail_over_and_count(const std::string& uri, FailOver&& fail_over) {
  const Locks locks = Locks::connect(uri, options());
  const Locks others = Locks::connect(uri, options());
  const auto use = [&] {
    Hold hold = locks.lock("used").acquire(20s);
    std::atomic<pid_t> waiter_id{0};
    std::thread waiter([&] {
      waiter_id = gettid();
      static_cast<void>(others.lock("used").acquire(20s));
    });
    std::this_thread::sleep_for(20ms);  // sleeps: the waiter waits by then, most times
    hold.release();
    waiter.join();
    // A joined thread may remain among the process' tasks for a moment.
    const std::string task = "/proc/self/task/" + std::to_string(waiter_id);
    EXPECT_TRUE(tests::eventually([&] { return !std::filesystem::exists(task); }));
  };
  use();
  const int sockets_before = sockets(), threads_before = threads();
  for (int time = 0; time < failovers(); ++time) {
    fail_over(time);
    use();
  }
  use();
  EXPECT_EQ(threads(), threads_before);
  // The next thread that polls closes connections to nodes that no longer serve a key.
  EXPECT_TRUE(tests::eventually([&] {
    use();
    return sockets() <= sockets_before;
  })) << sockets()
      << " now, " << sockets_before << " before";
}

bool listens(tests::RedisServer& server) {
  auto client = server.client();
  return !client({"PUBSUB", "CHANNELS", "redisson*"}).list().empty() ||
         !client({"PUBSUB", "SHARDCHANNELS", "redisson*"}).list().empty();
}

TEST(DeploymentsSoak, SentinelFailoversLeakNoConnectionSubscriptionOrThread) {
  tests::SentinelGroup group;
  fail_over_and_count(group.uri(), [&](int /*time*/) {
    group.fail_over();
    group.wait_until_ready();
  });
  for (std::size_t index = 0; index < group.size(); ++index) {
    EXPECT_FALSE(listens(group.server(index))) << index;
  }
}

TEST(DeploymentsSoak, ClusterFailoversLeakNoConnectionSubscriptionOrThread) {
  tests::RedisCluster cluster;
  fail_over_and_count(cluster.uri(), [&](int time) {
    const auto masters = cluster.masters();
    cluster.fail_over(cluster.replicas_of(masters[static_cast<std::size_t>(time) % 3]).front());
    cluster.wait_until_ready();
  });
  for (const std::size_t index : cluster.serving()) {
    EXPECT_FALSE(listens(cluster.node(index))) << index;
  }
}

}  // namespace
}  // namespace latchkey::soak
