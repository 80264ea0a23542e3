// Four processes of eight threads, some of which are killed all the time, as is the server once.
// SPDX-License-Identifier: BSL-1.0
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <latchkey/error.hpp>
#include <latchkey/locks.hpp>

#include "shared_server.hpp"
#include "soak/disturbed_visits.hpp"
#include "soak/processes.hpp"
#include "soak/settings.hpp"
#include "soak/shared.hpp"
#include "support/polling.hpp"

namespace latchkey::tests {
namespace {

using namespace std::chrono_literals;
using Steady = std::chrono::steady_clock;

constexpr std::array<LockType, 4> types = {LockType::REENTRANT, LockType::FAIR, LockType::WRITE,
                                           LockType::FENCED};
constexpr auto lease = 1000ms;

/// One key for each type, and what the visitors of a key see of each other.
struct Visits {
  std::array<soak::DisturbedVisits, types.size()> keys;
};

class Workload {
 public:
  explicit Workload(std::string uri) : uri_(std::move(uri)) {}

  soak::Shared<Visits> visits;
  soak::Processes processes{[this](std::size_t, unsigned seed) { work(seed); }};

 private:
  void work(unsigned seed) {
    const Locks locks = Locks::connect(uri_, {.startup = Startup::allow_down});
    std::vector<std::jthread> running;
    for (unsigned number = 0; number < 8; ++number) {
      running.emplace_back([&, number] {
        std::minstd_rand random(seed + number);
        const std::size_t key = number % types.size();
        soak::DisturbedVisits::Place& place = visits->keys[key].new_place();
        while (Steady::now() < processes.end()) visit(locks, key, place, random);
      });
    }
  }

  void visit(const Locks& locks, std::size_t key, soak::DisturbedVisits::Place& place,
             std::minstd_rand& random) {
    const bool reads = types[key] == LockType::WRITE && random() % 2 == 0;
    const LockType type = reads ? LockType::READ : types[key];
    const bool fenced = (type == LockType::FAIR || type == LockType::WRITE) && random() % 2 == 0;
    try {
      const std::optional<Hold> hold =
          locks.try_acquire("soak:" + std::to_string(key),
                            {.type = type, .wait = 1s, .lease = lease, .fenced = fenced});
      if (!hold) return;
      visits->keys[key].visit_holding(place, reads, *hold,
                                      // sleeps: this is the time inside the lock
                                      [&] { std::this_thread::sleep_for(random() % 500 * 1us); });
    } catch (const BackendUnavailable&) {
      return;  // the server was being started again
    }
  }

  const std::string uri_;
};

TEST(PostgresqlSoak, KilledProcessesAndServersCauseNoOverlapAndLoseNoUpdate) {
  register_postgresql();
  PostgresqlServer server;
  Workload workload(server.uri());
  const auto length = soak::length_of_soak();
  soak::Processes& processes = workload.processes;
  bool restarted = false;
  EXPECT_TRUE(processes.run(length, [&] {
    processes.wait(300ms, 1s);
    if (!restarted && Steady::now() >= processes.end() - length / 2) {
      restarted = true;
      server.kill();
      server.start();
    }
    processes.kill_one();
  }));
  const Locks locks = Locks::connect(server.uri());
  for (std::size_t key = 0; key < types.size(); ++key) {
    SCOPED_TRACE(to_string(types[key]));
    const soak::DisturbedVisits& visits = workload.visits->keys[key];
    std::printf("%s: %d kills, %llu visits, %llu late\n",
                std::string(to_string(types[key])).c_str(), processes.kills,
                static_cast<unsigned long long>(visits.visits),
                static_cast<unsigned long long>(visits.late));
    EXPECT_EQ(visits.overlaps, 0U);
    EXPECT_EQ(visits.lost_updates, 0U);
    EXPECT_EQ(visits.stale_tokens, 0U);
    EXPECT_GT(visits.visits, 0U);
    EXPECT_TRUE(locks.lock("soak:" + std::to_string(key), types[key]).try_acquire(lease + 1s))
        << "what the killed held is not free";
  }
  Sql sql = server.sql();
  await("empty tables", [&] {
    const std::string rows = sql.one(
        "SELECT (SELECT count(*) FROM latchkey.lock) + (SELECT count(*) FROM "
        "latchkey.place) + (SELECT count(*) FROM latchkey.waiter)");
    return rows == "0" ? std::string() : rows + " rows";
  });
}

}  // namespace
}  // namespace latchkey::tests
