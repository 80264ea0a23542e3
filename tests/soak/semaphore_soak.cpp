// One semaphore in four processes on a Redis server, which are stopped and killed; the server is
// flushed.
// SPDX-License-Identifier: BSL-1.0
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

#include <latchkey/locks.hpp>

#include "soak/permit_holders.hpp"
#include "soak/settings.hpp"
#include "soak/shared.hpp"
#include "support/servers/redis_server.hpp"

namespace latchkey::soak {
namespace {

using namespace std::chrono_literals;
using tests::RedisServer;
using Steady = std::chrono::steady_clock;

class DisturbedHolders {
 public:
  explicit DisturbedHolders(const RedisServer& server)
      : server_(server), holders_([&] {
          return Locks::connect(server_.tcp_uri(), {.watchdog = PermitHolders::lease});
        }) {}

  void run(std::chrono::milliseconds length) {
    EXPECT_TRUE(holders_.run(length, [this] { disturb_one(); }));
  }
  [[nodiscard]] const PermitJudge& judge() const { return *holders_.judge; }

  [[nodiscard]] int stops() const { return holders_.processes.stops; }
  [[nodiscard]] int kills() const { return holders_.processes.kills; }

  int flushes = 0;

 private:
  void disturb_one() {
    holders_.processes.wait(20ms, 220ms);
    switch (holders_.processes.random() % 5) {
      case 0: return flush();
      case 1: return holders_.processes.kill_one();
      default: return holders_.stop_one();
    }
  }

  /// Nobody is stopped until each process has checked its holds.
  void flush() {
    const auto from = Steady::now();
    server_.client()({"FLUSHALL"});
    constexpr std::chrono::milliseconds check = PermitHolders::lease / 3 + 100ms;
    const auto late = late_wait(check);
    holders_.judge->note_flush(from,
                               std::min<Steady::duration>(check + late, PermitHolders::lease));
    ++flushes;
  }

  const RedisServer& server_;
  PermitHolders holders_;
};

TEST(SemaphoreSoak, NeverMorePermitsThanThereAre) {
  const RedisServer server;
  DisturbedHolders holders(server);
  holders.run(length_of_soak());
  const PermitJudge& judge = holders.judge();
  std::printf(
      "%d stops, %d kills, %d flushes, %zu holds, at most %llu permits at once, %zu more "
      "after a flush\n",
      holders.stops(), holders.kills(), holders.flushes, judge.holds,
      static_cast<unsigned long long>(judge.most), judge.excused);
  EXPECT_EQ(judge.violations, 0U);
  EXPECT_GT(judge.holds, 20U);
  PermitHolders::expect_that_all_permits_are_free(Locks::connect(server.tcp_uri()));
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
