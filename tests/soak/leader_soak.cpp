// Leaders in four processes on a Redis server, which are stopped and killed; the server is flushed.
// SPDX-License-Identifier: BSL-1.0
#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <random>
#include <stop_token>
#include <string>
#include <thread>

#include <latchkey/leader.hpp>
#include <latchkey/locks.hpp>

#include "soak/leader_judge.hpp"
#include "soak/settings.hpp"
#include "soak/shared.hpp"
#include "support/servers/redis_server.hpp"

namespace latchkey::soak {
namespace {

using namespace std::chrono_literals;
using tests::RedisServer;
using Steady = std::chrono::steady_clock;

/// How much longer than `length` a wait of it took: the machine was busy.
Steady::duration wait(std::chrono::milliseconds length) {
  const auto start = Steady::now();
  ::poll(nullptr, 0, static_cast<int>(length.count()));
  return std::max(Steady::now() - start - length, Steady::duration::zero());
}

class DisturbedLeaders {
 public:
  static constexpr auto lease = 900ms;

  explicit DisturbedLeaders(const RedisServer& server) : server_(server) {}

  void run(std::chrono::milliseconds length) {
    end_ = Steady::now() + length;
    for (auto& each : children_) start(each);
    while (Steady::now() < end_) disturb_one();
    for (auto& each : children_) EXPECT_TRUE(each->join());
    judge->settle();
  }

  Shared<LeaderJudge> judge;
  int stops = 0, kills = 0, flushes = 0;

 private:
  static constexpr int processes = 4;

  void disturb_one() {
    std::optional<Children>& child = children_[random_() % processes];
    const pid_t id = child->ids().front();
    wait(std::chrono::milliseconds(20 + random_() % 200));
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
        wait(std::chrono::milliseconds(50 + random_() % 1'500));
        ::kill(id, SIGCONT);
        ++stops;
    }
  }

  /// Nobody is stopped until each Leader has checked its lock.
  void flush() {
    const auto from = Steady::now();
    server_.client()({"FLUSHALL"});
    constexpr std::chrono::milliseconds check = lease / 3 + 100ms;
    const auto late = wait(check);
    judge->note_flush(from, std::min<Steady::duration>(check + late, lease));
    ++flushes;
  }

  void start(std::optional<Children>& child) {
    child.emplace();
    child->start([&] { work(); });
  }

  void work() {
    const Locks locks = Locks::connect(server_.tcp_uri(), {.watchdog = lease});
    std::minstd_rand random(static_cast<unsigned>(::getpid()));
    const Leader leader(
        locks, "leader",
        [&](const std::stop_token& stop, std::uint64_t number) {
          LeaderJudge::Term* const term = judge->new_term(number);
          const auto until = Steady::now() + std::chrono::milliseconds(random() % 500);
          const auto observe = [&] {
            if (term != nullptr) term->observe([&] { return leader.is_leader(); });
          };
          while (!stop.stop_requested() && Steady::now() < until) {
            observe();
            std::this_thread::sleep_for(1ms);
          }
          observe();  // also if the process was stopped until now, and the next one leads
        },
        {.pause = 10ms, .longest_pause = 100ms});
    while (Steady::now() < end_) std::this_thread::sleep_for(10ms);
  }

  const RedisServer& server_;
  std::minstd_rand random_{static_cast<unsigned>(seed())};
  Steady::time_point end_;
  std::array<std::optional<Children>, processes> children_;
};

TEST(LeaderSoak, NeverTwoBelieveAndTermsRise) {
  const RedisServer server;
  DisturbedLeaders leaders(server);
  leaders.run(length_of_soak());
  const LeaderJudge& judge = *leaders.judge;
  std::printf(
      "%d stops, %d kills, %d flushes, %zu terms, %zu overlaps after a flush; "
      "longest time without a leader: %lld ms\n",
      leaders.stops, leaders.kills, leaders.flushes, judge.elections, judge.excused,
      static_cast<long long>(judge.longest_gap / 1'000'000));
  EXPECT_EQ(judge.overlaps, 0U);
  EXPECT_EQ(judge.falls, 0U);
  EXPECT_GT(judge.elections, 3U);
  const Locks locks = Locks::connect(server.tcp_uri());
  EXPECT_TRUE(locks.lock("leader", LockType::FENCED).try_acquire(2 * DisturbedLeaders::lease + 1s))
      << "what the killed held is not free";
  EXPECT_TRUE(locks.list().empty()) << "a lock was left";
}

TEST(LeaderJudgeTest, DetectsOverlapsAndTermsThatFall) {
  const Shared<LeaderJudge> shared;
  const auto believe = [](LeaderJudge::Term* term) {
    term->observe([] { return true; });
    wait(1ms);
    term->observe([] { return true; });
  };
  LeaderJudge::Term* const one = shared->new_term(2);
  believe(one);
  believe(shared->new_term(1));  // it begins later, and is smaller
  believe(one);                  // it still believes
  shared->settle();
  EXPECT_EQ(shared->elections, 2U);
  EXPECT_EQ(shared->overlaps, 1U);
  EXPECT_EQ(shared->falls, 1U);
}

}  // namespace
}  // namespace latchkey::soak
