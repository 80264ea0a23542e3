// One semaphore in four processes on a Redis server, which are stopped and killed; the server is
// flushed.
// SPDX-License-Identifier: BSL-1.0
#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <latchkey/error.hpp>
#include <latchkey/locks.hpp>

#include "soak/permit_judge.hpp"
#include "soak/settings.hpp"
#include "soak/shared.hpp"
#include "support/servers/redis_server.hpp"

namespace latchkey::soak {
namespace {

using namespace std::chrono_literals;
using tests::RedisServer;
using Steady = std::chrono::steady_clock;

/// How much longer than `length` a wait of it took: the machine was busy.
Steady::duration late_wait(std::chrono::milliseconds length) {
  const auto start = Steady::now();
  ::poll(nullptr, 0, static_cast<int>(length.count()));
  return std::max(Steady::now() - start - length, Steady::duration::zero());
}

class DisturbedHolders {
 public:
  static constexpr auto lease = 900ms;
  static constexpr int permits = 3;

  explicit DisturbedHolders(const RedisServer& server) : server_(server) {}

  void run(std::chrono::milliseconds length) {
    end_ = Steady::now() + length;
    for (auto& each : children_) start(each);
    while (Steady::now() < end_) disturb_one();
    for (auto& each : children_) EXPECT_TRUE(each->join());
    judge->settle(permits);
  }

  Shared<PermitJudge> judge;
  int stops = 0, kills = 0, flushes = 0;

 private:
  static constexpr int processes = 4, threads = 3;

  void disturb_one() {
    std::optional<Children>& child = children_[random_() % processes];
    const pid_t id = child->ids().front();
    late_wait(std::chrono::milliseconds(20 + random_() % 200));
    switch (random_() % 5) {
      case 0: return flush();
      case 1:
        child.reset();  // kills it
        start(child);
        ++kills;
        return;
      default:
        // Shorter and longer than a lease.
        ::kill(id, SIGSTOP);
        late_wait(std::chrono::milliseconds(50 + random_() % 1'500));
        ::kill(id, SIGCONT);
        ++stops;
    }
  }

  /// Nobody is stopped until each process has checked its holds.
  void flush() {
    const auto from = Steady::now();
    server_.client()({"FLUSHALL"});
    constexpr std::chrono::milliseconds check = lease / 3 + 100ms;
    const auto late = late_wait(check);
    judge->note_flush(from, std::min<Steady::duration>(check + late, lease));
    ++flushes;
  }

  void start(std::optional<Children>& child) {
    child.emplace();
    child->start([&] {
      const Locks locks = Locks::connect(server_.tcp_uri(), {.watchdog = lease});
      std::vector<std::thread> workers;
      for (int number = 0; number < threads; ++number) {
        workers.emplace_back([&, number] { work(locks, number); });
      }
      for (std::thread& each : workers) each.join();
    });
  }

  void work(const Locks& locks, int number) {
    std::minstd_rand random(static_cast<unsigned>(::getpid() * threads + number));
    const Semaphore semaphore = locks.semaphore("permits", permits);
    while (Steady::now() < end_) {
      const std::optional<Hold> hold = try_acquire(semaphore, random);
      if (!hold) continue;
      PermitJudge::Interval* const own = judge->new_hold(hold->permits());
      const auto until = Steady::now() + std::chrono::milliseconds(random() % 30);
      const auto observe = [&] {
        if (own != nullptr) own->observe([&] { return !hold->lost(); });
      };
      do {
        observe();
        std::this_thread::sleep_for(1ms);
      } while (!hold->lost() && Steady::now() < until);
      observe();  // also if the process was stopped until now, and others have the permits
    }
  }

  static std::optional<Hold> try_acquire(const Semaphore& semaphore, std::minstd_rand& random) {
    const int taken = random() % 4 == 0 ? 2 : 1;
    try {
      return semaphore.try_acquire(taken, 500ms,
                                   random() % 2 == 0 ? Lease(watchdog) : Lease(lease));
    } catch (const BackendUnavailable&) {
      return std::nullopt;  // it was stopped until the end of its wait
    }
  }

  const RedisServer& server_;
  std::minstd_rand random_{static_cast<unsigned>(seed())};
  Steady::time_point end_;
  std::array<std::optional<Children>, processes> children_;
};

TEST(SemaphoreSoak, NeverMorePermitsThanThereAre) {
  const RedisServer server;
  DisturbedHolders holders(server);
  holders.run(length_of_soak());
  const PermitJudge& judge = *holders.judge;
  std::printf(
      "%d stops, %d kills, %d flushes, %zu holds, at most %llu permits at once, %zu more "
      "after a flush\n",
      holders.stops, holders.kills, holders.flushes, judge.holds,
      static_cast<unsigned long long>(judge.most), judge.excused);
  EXPECT_EQ(judge.violations, 0U);
  EXPECT_GT(judge.holds, 20U);
  const Locks locks = Locks::connect(server.tcp_uri());
  const Semaphore semaphore = locks.semaphore("permits", DisturbedHolders::permits);
  EXPECT_TRUE(semaphore.try_acquire(DisturbedHolders::permits, 2 * DisturbedHolders::lease + 1s))
      << "what the killed held is not free";
  EXPECT_EQ(semaphore.available(), DisturbedHolders::permits);
  EXPECT_TRUE(semaphore.destroy());
  EXPECT_EQ(server.client()({"DBSIZE"}).integer(), 0) << "a key was left";
}

TEST(PermitJudgeTest, DetectsMorePermitsThanThereAre) {
  const Shared<PermitJudge> shared;
  const auto believe = [](PermitJudge::Interval* hold) {
    hold->observe([] { return true; });
    late_wait(1ms);
    hold->observe([] { return true; });
  };
  PermitJudge::Interval* const two = shared->new_hold(2);
  believe(two);
  believe(shared->new_hold(1));  // three
  believe(shared->new_hold(2));  // four, as the first still believes
  believe(two);
  shared->settle(3);
  EXPECT_EQ(shared->holds, 3U);
  EXPECT_EQ(shared->violations, 1U);
  EXPECT_EQ(shared->most, 4U);
}

}  // namespace
}  // namespace latchkey::soak
