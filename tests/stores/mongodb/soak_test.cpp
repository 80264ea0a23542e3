// Four processes with eight threads each on a few keys, some of which are killed all the time, and
// a server that is killed and started again.
// SPDX-License-Identifier: BSL-1.0
#include <gtest/gtest.h>
#include <poll.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <latchkey/error.hpp>
#include <latchkey/locks.hpp>
#include <latchkey/mongodb.hpp>

#include "ferretdb_server.hpp"
#include "soak/disturbed_visits.hpp"
#include "soak/processes.hpp"
#include "soak/settings.hpp"
#include "soak/shared.hpp"
#include "stores/mongodb/commands.hpp"

namespace latchkey::tests {
namespace {

using namespace std::chrono_literals;
using soak::DisturbedVisits;
using soak::Shared;
using Steady = std::chrono::steady_clock;

constexpr auto lease = 1'000ms;
constexpr std::array types{LockType::REENTRANT, LockType::WRITE, LockType::FENCED};

std::string key_of(std::size_t index) { return std::string("soak ") + std::to_string(index); }

class MongoSoak {
 public:
  explicit MongoSoak(FerretServer& server) : server_(server) {}

  void run(std::chrono::milliseconds length) {
    bool restarted = false;
    EXPECT_TRUE(processes.run(length, [&] {
      processes.wait(200ms, 500ms);
      processes.kill_one();
      if (restarted || Steady::now() < processes.end() - length / 2) return;
      server_.kill();
      server_.start();
      restarted = true;
    }));
  }

  std::array<Shared<DisturbedVisits>, types.size()> visits;
  soak::Processes processes{[this](std::size_t, unsigned seed) { work(seed); }};

 private:
  static constexpr unsigned threads = 8;

  void work(unsigned seed) {
    std::optional<Locks> locks;
    while (!locks && Steady::now() < processes.end()) {
      try {
        locks = Locks::connect(server_.uri());
      } catch (const BackendUnavailable&) {
        ::poll(nullptr, 0, 50);  // the server is about to be started again
      }
    }
    if (!locks) return;
    std::vector<std::jthread> running;
    for (unsigned number = 0; number < threads; ++number) {
      running.emplace_back([&, number] {
        std::minstd_rand random(seed + number);
        std::array<DisturbedVisits::Place*, types.size()> places{};
        for (std::size_t at = 0; at < types.size(); ++at) places[at] = &visits[at]->new_place();
        while (Steady::now() < processes.end()) {
          const std::size_t at = random() % types.size();
          visit(*locks, at, *places[at], random);
        }
      });
    }
  }

  void visit(const Locks& locks, std::size_t at, DisturbedVisits::Place& place,
             std::minstd_rand& random) {
    const bool reads = types[at] == LockType::WRITE && random() % 2 == 0;
    const LockType type = reads ? LockType::READ : types[at];
    const bool fenced = type == LockType::WRITE && random() % 2 == 0;
    try {
      const std::optional<Hold> hold = locks.try_acquire(
          key_of(at), {.type = type, .wait = 1s, .lease = lease, .fenced = fenced});
      if (!hold) return;
      visits[at]->visit_holding(place, reads, *hold,
                                // sleeps: this is the time inside the lock
                                [&] { std::this_thread::sleep_for(random() % 1'000 * 1us); });
    } catch (const BackendUnavailable&) {
      return;  // the server was killed
    }
  }

  FerretServer& server_;
};

TEST(MongoDbSoak, KilledProcessesAndAKilledServerCauseNoOverlapAndLoseNoUpdate) {
  NEEDS_FERRETDB();
  register_mongodb();
  FerretServer server;
  MongoSoak soak(server);
  soak.run(soak::length_of_soak());
  std::uint64_t all = 0;
  for (std::size_t at = 0; at < types.size(); ++at) {
    SCOPED_TRACE(to_string(types[at]));
    const DisturbedVisits& visits = *soak.visits[at];
    all += visits.visits;
    EXPECT_EQ(visits.overlaps, 0U);
    EXPECT_EQ(visits.lost_updates, 0U);
    EXPECT_EQ(visits.stale_tokens, 0U);
    EXPECT_GT(visits.visits, 0U);
    Lock lock = Locks::connect(server.uri()).lock(key_of(at), types[at]);
    EXPECT_TRUE(lock.try_acquire(lease + 1s)) << "what the killed held is not free";
  }
  std::printf("%d kills, %llu visits\n", soak.processes.kills,
              static_cast<unsigned long long>(all));
  // Only the counters of the keys that had tokens stay.
  detail::mongodb::Bson anything;
  Shell shell(server.uri());
  std::set<std::string> left;
  for (const detail::mongodb::Bson& each : detail::mongodb::Commands(*shell).find_all(anything)) {
    left.insert(detail::mongodb::key_of(each.get()).value_or("no key"));
    EXPECT_FALSE(detail::mongodb::text_at(each.get(), "owner"));
  }
  EXPECT_EQ(left, (std::set<std::string>{key_of(1), key_of(2)}));
}

}  // namespace
}  // namespace latchkey::tests
