// Leaders in four processes on a Redis server, which are stopped and killed; the server is flushed.
// SPDX-License-Identifier: BSL-1.0
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <random>
#include <stop_token>
#include <thread>

#include <latchkey/leader.hpp>
#include <latchkey/locks.hpp>

#include "soak/leader_judge.hpp"
#include "soak/processes.hpp"
#include "soak/settings.hpp"
#include "soak/shared.hpp"
#include "support/servers/redis_server.hpp"

namespace latchkey::soak {
namespace {

using namespace std::chrono_literals;
using tests::RedisServer;
using Steady = std::chrono::steady_clock;

class DisturbedLeaders {
 public:
  static constexpr auto lease = 900ms;

  explicit DisturbedLeaders(const RedisServer& server) : server_(server) {}

  void run(std::chrono::milliseconds length) {
    EXPECT_TRUE(processes.run(length, [this] { disturb_one(); }));
    judge->settle();
  }

  Shared<LeaderJudge> judge;
  Processes processes{[this](std::size_t, unsigned seed) { work(seed); }};
  int flushes = 0;

 private:
  void disturb_one() {
    processes.wait(20ms, 220ms);
    switch (processes.random() % 5) {
      case 0: return flush();
      case 1: return processes.kill_one();
      default: return processes.stop_one(50ms, 1'550ms);  // shorter and longer than a lease
    }
  }

  /// Nobody is stopped until each Leader has checked its lock.
  void flush() {
    const auto from = Steady::now();
    server_.client()({"FLUSHALL"});
    constexpr std::chrono::milliseconds check = lease / 3 + 100ms;
    const auto late = late_wait(check);
    judge->note_flush(from, std::min<Steady::duration>(check + late, lease));
    ++flushes;
  }

  void work(unsigned seed) {
    const Locks locks = Locks::connect(server_.tcp_uri(), {.watchdog = lease});
    std::minstd_rand random(seed);
    const Leader leader = locks.leader(
        "leader",
        [&](const std::stop_token& stop, std::uint64_t number) {
          LeaderJudge::Term* const term = judge->new_term(number);
          const auto until = Steady::now() + std::chrono::milliseconds(random() % 500);
          const auto observe = [&] {
            if (term != nullptr) term->observe([&] { return leader.is_leader(); });
          };
          while (!stop.stop_requested() && Steady::now() < until) {
            observe();
            std::this_thread::sleep_for(1ms);  // sleeps: the term is observed all the time
          }
          observe();  // also if the process was stopped until now, and the next one leads
        },
        {.pause = 10ms, .longest_pause = 100ms});
    // sleeps: the process leads or waits until its end
    while (Steady::now() < processes.end()) std::this_thread::sleep_for(10ms);
  }

  const RedisServer& server_;
};

TEST(LeaderSoak, NeverTwoBelieveAndTermsRise) {
  const RedisServer server;
  DisturbedLeaders leaders(server);
  leaders.run(length_of_soak());
  const LeaderJudge& judge = *leaders.judge;
  std::printf(
      "%d stops, %d kills, %d flushes, %zu terms, %zu overlaps after a flush; "
      "longest time without a leader: %lld ms\n",
      leaders.processes.stops, leaders.processes.kills, leaders.flushes, judge.elections,
      judge.excused, static_cast<long long>(judge.longest_gap / 1'000'000));
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
    late_wait(1ms);
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
