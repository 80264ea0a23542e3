// Latches that four processes count down and wait for, which are stopped and killed; replies are
// lost, connections break, the Redis server is flushed.
// SPDX-License-Identifier: BSL-1.0
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <random>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>

#include <latchkey/count_down_latch.hpp>
#include <latchkey/error.hpp>
#include <latchkey/locks.hpp>

#include "soak/latch_judge.hpp"
#include "soak/processes.hpp"
#include "soak/settings.hpp"
#include "soak/shared.hpp"
#include "support/servers/fault_proxy.hpp"
#include "support/servers/redis_server.hpp"

namespace latchkey::soak {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;
using tests::FaultProxy;
using tests::RedisServer;
using Steady = std::chrono::steady_clock;

/// For how long this process did not run: it was stopped, or the machine was busy.
class StandStills {
 public:
  [[nodiscard]] Steady::duration total() const {
    const Steady::rep since = now() - last_beat_;
    return Steady::duration(total_ + (since > beat ? since : 0));
  }

 private:
  static constexpr Steady::rep beat = Steady::duration(20ms).count();
  static Steady::rep now() { return Steady::now().time_since_epoch().count(); }

  std::atomic<Steady::rep> last_beat_{now()}, total_{0};
  std::jthread thread_{[this](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      std::this_thread::sleep_for(5ms);  // sleeps: a stall is a sleep that takes too long
      const Steady::rep since = now() - last_beat_;
      if (since > beat) total_ += since;
      last_beat_ = now();
    }
  }};
};

enum class AfterALostReply : bool { next, repeat };

class DisturbedCounters {
 public:
  static constexpr milliseconds command_timeout = 300ms;
  /// The longest pause between two questions of a wait, and a question that is given up.
  static constexpr milliseconds longest_miss = 5s + command_timeout;

  DisturbedCounters(const RedisServer& server, AfterALostReply after)
      : server_(server), after_(after) {}

  /// `disturbed`: stops and kills processes, and flushes the server. Replies are lost always.
  void run(milliseconds length, bool disturbed) {
    Children maker;
    maker.start([&] { make_rounds(Steady::now() + length); });
    EXPECT_TRUE(processes.run(length, [&] { disturbed ? disturb_one() : wait_a_little(); }));
    EXPECT_TRUE(maker.join());
    judge->settle();
    std::printf(
        "%d stops, %d kills, %d flushes, %d broken connections; %zu rounds, %zu waits, %zu early, "
        "%zu counted, %zu uncertain, %zu wrong; the longest miss: %lld ms\n",
        processes.stops, processes.kills, flushes, broken->load(), judge->rounds, judge->waits,
        judge->early, judge->counted, judge->uncertain, judge->wrong,
        static_cast<long long>(judge->latest / 1'000'000));
  }

  Shared<LatchJudge> judge;
  Processes processes{[this](std::size_t, unsigned seed) { work(seed); }};
  Shared<std::atomic<int>> broken;  ///< connections
  int flushes = 0;

 private:
  static std::string name_of(std::size_t round) { return "round:" + std::to_string(round); }

  // --- what happens to the processes ---
  static void wait_a_little() { late_wait(10ms); }

  void disturb_one() {
    processes.wait(20ms, 220ms);
    switch (processes.random() % 6) {
      case 0: return flush();
      case 1: return processes.kill_one();
      default: return processes.stop_one(50ms, 1'050ms);
    }
  }

  void flush() {
    const std::size_t first = judge->note_flush(judge->number());
    server_.client()({"FLUSHALL"});
    judge->note_flush(first);
    ++flushes;
  }

  // --- what nobody disturbs: makes a round after the other, and reads its latch ---
  void make_rounds(Steady::time_point end) {
    const Locks locks = Locks::connect(server_.tcp_uri());
    while (Steady::now() < end && !judge->is_full()) {
      LatchJudge::Round& round =
          judge->prepare(40 + static_cast<std::uint32_t>(judge->number() % 20));
      const CountDownLatch latch = locks.count_down_latch(name_of(judge->number() + 1));
      if (!latch.try_set_count(round.count())) throw std::runtime_error("a count is left");
      judge->begin();
      for (std::uint32_t remaining = 1; remaining != 0 && Steady::now() < end;) {
        const std::uint32_t counted = round.counted();
        remaining = latch.count();
        round.check(counted, remaining);
        // sleeps: the count is read again and again, beside the counts
        std::this_thread::sleep_for(1ms);
      }
      if (Steady::now() < end) continue;
      judge->note_flush(judge->number());
      latch.destroy();
    }
  }

  // --- one process ---
  void work(unsigned seed) {
    FaultProxy proxy(server_.port());
    const Locks locks = Locks::connect(
        proxy.uri(), {.command_timeout = command_timeout, .startup = Startup::allow_down});
    const StandStills stand_stills;
    std::array<std::jthread, 3> counters;
    for (std::jthread& each : counters) {
      each = std::jthread([&, its_seed = ++seed] { count_down(locks, its_seed); });
    }
    const std::jthread faults([&, its_seed = ++seed] { disturb(proxy, its_seed); });
    while (Steady::now() < processes.end()) wait(locks, stand_stills);
  }

  /// Connections that break. The server has received the last requests, and its replies are lost:
  /// sometimes for longer than a command may take.
  void disturb(FaultProxy& proxy, unsigned seed) {
    std::minstd_rand random(seed);
    const unsigned longest_pause = after_ == AfterALostReply::next ? 500 : 100;
    while (Steady::now() < processes.end()) {
      late_wait(milliseconds(20 + random() % longest_pause));
      proxy.hold(FaultProxy::Direction::to_client);
      late_wait(random() % 4 == 0 ? command_timeout + 50ms : milliseconds(random() % 60));
      proxy.cut();
      ++*broken;
    }
  }

  void count_down(const Locks& locks, unsigned seed) {
    std::minstd_rand random(seed);
    while (Steady::now() < processes.end()) {
      const std::size_t number = judge->number();
      LatchJudge::Round& round = judge->round(number);
      if (number != 0) {
        round.begin_count();
        count_down(locks.count_down_latch(name_of(number)), round);
      }
      // sleeps: counts come at random times
      std::this_thread::sleep_for(milliseconds(random() % 30));
    }
  }

  void count_down(const CountDownLatch& latch, LatchJudge::Round& round) {
    do {
      try {
        return round.counted(latch.count_down());
      } catch (const BackendUnavailable&) {
        late_wait(10ms);  // it may have counted
      }
    } while (after_ == AfterALostReply::repeat && Steady::now() < processes.end());
  }

  void wait(const Locks& locks, const StandStills& stand_stills) {
    const std::size_t number = judge->number();
    if (number == 0) return void(late_wait(1ms));
    LatchJudge::Round& round = judge->round(number);
    const Steady::time_point began = Steady::now();
    const Steady::duration stood_before = stand_stills.total();
    try {
      if (locks.count_down_latch(name_of(number)).wait_for(2 * longest_miss)) round.opened();
    } catch (const BackendUnavailable&) {
      return;  // nobody answered at the end of the wait
    }
    const Steady::time_point now = Steady::now();
    const Steady::time_point open = std::max(began, round.open_since());
    if (now > open) judge->note_late(now - open - (stand_stills.total() - stood_before));
  }

  const RedisServer& server_;
  const AfterALostReply after_;
};

TEST(LatchSoak, WaitsEndAtZeroAndEachCountDownCountsAtMostOnce) {
  const RedisServer server;
  DisturbedCounters counters(server, AfterALostReply::next);
  counters.run(length_of_soak(), true);
  const LatchJudge& judge = *counters.judge;
  EXPECT_EQ(judge.early, 0U);
  EXPECT_EQ(judge.wrong, 0U);
  EXPECT_GT(judge.rounds, 3U);
  EXPECT_GT(judge.waits, 10U);
  EXPECT_LT(Steady::duration(judge.latest), DisturbedCounters::longest_miss);
  EXPECT_EQ(server.client()({"DBSIZE"}).integer(), 0) << "a latch was left";
}

// The control: the judge detects count-downs that count twice.
TEST(LatchSoak, RepeatingACountDownAfterALostReplyCountsTwice) {
  const RedisServer server;
  DisturbedCounters counters(server, AfterALostReply::repeat);
  counters.run(3s, false);
  EXPECT_GT(counters.judge->wrong, 0U);
}

TEST(LatchJudgeTest, DetectsWhatALatchMayNotDo) {
  const Shared<LatchJudge> shared;
  LatchJudge::Round& round = shared->prepare(3);
  shared->begin();
  round.begin_count();
  round.counted(2);
  round.check(1, 2);
  EXPECT_EQ(shared->number(), 1U);
  round.check(1, 1);  // two have counted, and one has begun
  round.check(1, 3);  // the one that was answered has not
  round.begin_count();
  round.counted(2);  // as the other
  round.opened();
  shared->settle();
  EXPECT_EQ(shared->wrong, 3U);
  EXPECT_EQ(shared->early, 1U);
  EXPECT_EQ(shared->counted, 2U);
}

}  // namespace
}  // namespace latchkey::soak
