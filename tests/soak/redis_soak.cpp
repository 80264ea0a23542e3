// Four processes on one Redis server. The judge is in memory that the processes share.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <thread>

#include "soak/fenced_register.hpp"
#include "soak/settings.hpp"
#include "soak/shared.hpp"
#include "soak/workload.hpp"
#include "support/servers/redis_server.hpp"

namespace latchkey::soak {
namespace {

using tests::RedisClient;
using tests::RedisServer;

constexpr int processes = 4;
constexpr Size workload_size{8, 20};

/// Runs a workload in each process. Null `uri`: without locks.
bool run_processes(const std::string* uri, Judge& judge, Statistics& statistics, std::uint64_t seed,
                   std::chrono::milliseconds length) {
  Children children;
  for (int number = 0; number < processes; ++number) {
    children.start([&, number] {
      const auto own_seed = seed + 1'000'000 * static_cast<std::uint64_t>(number);
      if (uri == nullptr) {
        Workload(nullptr, judge, statistics, own_seed, workload_size).run(length);
        return;
      }
      const Locks locks = Locks::connect(*uri);
      const LocksByType locks_by_type{locks, locks};
      Workload(&locks_by_type, judge, statistics, own_seed, workload_size).run(length);
      locks.close(1s);
    });
  }
  return children.join();
}

TEST(RedisSoak, FourProcessesLoseNoUpdateAndLeaveNothing) {
  RedisServer server;
  const std::string uri = server.tcp_uri();
  const Shared<Judge> judge;
  const Shared<Statistics> statistics;
  ASSERT_TRUE(run_processes(&uri, *judge, *statistics, seed_of_soak(), length_of_soak()));
  judge->settle();
  print_statistics(*statistics);

  EXPECT_EQ(judge->violations.overlaps, 0U);
  EXPECT_EQ(judge->violations.torn_reads, 0U);
  EXPECT_EQ(judge->violations.lost_updates, 0U);
  EXPECT_EQ(judge->violations.stale_tokens, 0U);
  EXPECT_EQ(statistics->lost, 0U);
  for (const auto& visits : statistics->visits) EXPECT_GT(visits, 0U);

  RedisClient client = server.client();
  for (const std::string& key : client({"KEYS", "*"}).list()) {
    EXPECT_TRUE(key.starts_with("redisson_lock_token:")) << key << " was left behind";
  }
  EXPECT_TRUE(client({"PUBSUB", "CHANNELS", "*"}).list().empty());
}

TEST(RedisSoak, JudgeDetectsOverlapsWithoutALock) {
  const Shared<Judge> judge;
  const Shared<Statistics> statistics;
  const auto found = [&] {
    judge->settle();
    return judge->violations.overlaps > 0 && judge->violations.lost_updates > 0;
  };
  for (int round = 0; round < 50 && !found(); ++round) {
    ASSERT_TRUE(run_processes(nullptr, *judge, *statistics, seed_of_soak(), 100ms));
  }
  EXPECT_GT(judge->violations.overlaps, 0U);
  EXPECT_GT(judge->violations.lost_updates, 0U);
}

/// Processes with leases of 200 ms. The holder is repeatedly stopped for longer than its lease, so
/// that it writes after another process has acquired the lock.
class Stopped {
 public:
  void run(const std::string& uri, std::chrono::milliseconds length) {
    Children children;
    const auto end = std::chrono::steady_clock::now() + length;
    for (int number = 0; number < processes; ++number) {
      children.start([&] { work(Locks::connect(uri), end); });
    }
    while (std::chrono::steady_clock::now() < end - 2s) {
      const pid_t inside = holder->exchange(0);
      if (inside != 0) {
        ::kill(inside, SIGSTOP);
        // sleeps: a holder is stopped for longer than its lease
        std::this_thread::sleep_for(400ms);
        ::kill(inside, SIGCONT);
        ++stops;
      }
      std::this_thread::sleep_for(50ms);  // sleeps: it looks for a holder to stop now and then
    }
    EXPECT_TRUE(children.join());
  }

  Shared<FencedRegister> fenced;
  Shared<PlainRegister> plain;
  Shared<std::atomic<pid_t>> holder;
  int stops = 0;

 private:
  void work(const Locks& locks, std::chrono::steady_clock::time_point end) {
    Lock lock = locks.lock("stopped", LockType::FENCED);
    while (std::chrono::steady_clock::now() < end) {
      Hold hold = lock.acquire(10s, 200ms);
      const std::uint64_t token = *hold.fencing_token();
      holder->store(::getpid());
      const std::uint64_t was = plain->read();
      const std::uint64_t fenced_was = fenced->read(token);
      std::this_thread::sleep_for(10ms);  // sleeps: this is the time inside the lock
      plain->write(was + 1);
      fenced->write(token, fenced_was + 1);
      pid_t me = ::getpid();
      holder->compare_exchange_strong(me, 0);
      hold.release();
    }
  }
};

TEST(RedisSoak, StoppedHoldersCorruptAnUnfencedResourceButNotAFencedOne) {
  RedisServer server;
  Stopped stopped;
  stopped.run(server.tcp_uri(), std::max<std::chrono::milliseconds>(5s, length_of_soak()));
  std::printf("%d stops; unfenced: %llu of %llu updates lost; fenced: %llu refused, %llu lost\n",
              stopped.stops, static_cast<unsigned long long>(stopped.plain->lost()),
              static_cast<unsigned long long>(stopped.plain->writes()),
              static_cast<unsigned long long>(stopped.fenced->refused()),
              static_cast<unsigned long long>(stopped.fenced->lost()));
  EXPECT_GT(stopped.plain->lost(), 0U) << "the control: without a fence updates are lost";
  EXPECT_GT(stopped.fenced->refused(), 0U);
  EXPECT_EQ(stopped.fenced->lost(), 0U);
}

}  // namespace
}  // namespace latchkey::soak
