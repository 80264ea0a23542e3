// Four processes on a few keys of etcd, which are killed all the time, and the server once.
#include <gtest/gtest.h>
#include <poll.h>

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

#include "etcd_fixture.hpp"
#include "soak/disturbed_visits.hpp"
#include "soak/processes.hpp"
#include "soak/settings.hpp"
#include "soak/shared.hpp"

namespace latchkey::tests {
namespace {

using namespace std::chrono_literals;
using Steady = std::chrono::steady_clock;

/// By key; that of WRITE is locked as READ three times in four.
constexpr std::array types{LockType::REENTRANT, LockType::FAIR, LockType::FENCED, LockType::WRITE};
constexpr auto lease = 1s, session = 2s;

struct Judges {
  std::array<soak::DisturbedVisits, types.size()> of;
};

class EtcdSoak : public ::testing::Test {
 protected:
  static constexpr unsigned threads = 8;

  void work(unsigned seed) {
    Options options;
    options.watchdog = lease;
    Locks locks = etcd_locks(server_.uri("session=2s"), options);
    std::vector<std::jthread> running;
    for (unsigned number = 0; number < threads; ++number) {
      running.emplace_back([&, number] {
        std::minstd_rand random(seed + number);
        std::array<soak::DisturbedVisits::Place*, types.size()> places{};
        for (std::size_t at = 0; at < types.size(); ++at) places[at] = &judges_->of[at].new_place();
        while (Steady::now() < processes_.end()) {
          const std::size_t at = random() % types.size();
          visit(locks, at, *places[at], random);
        }
      });
    }
  }

  void visit(Locks& locks, std::size_t at, soak::DisturbedVisits::Place& place,
             std::minstd_rand& random) {
    try {
      const bool reads = types[at] == LockType::WRITE && random() % 4 != 0;
      Lock lock = locks.lock("key:" + std::to_string(at), reads ? LockType::READ : types[at]);
      const std::optional<Hold> hold = lock.try_acquire(1s, lease);
      if (!hold) return;
      judges_->of[at].visit_holding(place, reads, *hold,
                                    // sleeps: this is the time inside the lock
                                    [&] { std::this_thread::sleep_for(random() % 1'000 * 1us); });
    } catch (const BackendUnavailable&) {
      ::poll(nullptr, 0, 10);
    }
  }

  EtcdServer server_;
  soak::Shared<Judges> judges_;
  soak::Processes processes_{[this](std::size_t, unsigned seed) { work(seed); }};
};

TEST_F(EtcdSoak, KilledProcessesAndAKilledServerCauseNoOverlap) {
  const auto length = soak::length_of_soak();
  bool restarted = false;
  EXPECT_TRUE(processes_.run(length, [&] {
    // A killed process's holds, and its places in the queues, block the others for a session.
    processes_.wait(1s, 3s);
    if (restarted || Steady::now() < processes_.end() - length / 2) return processes_.kill_one();
    server_.kill();
    server_.start();
    restarted = true;
  }));
  Locks locks = etcd_locks(server_.uri("session=40s"));
  const Steady::time_point ended = Steady::now();
  for (std::size_t at = 0; at < types.size(); ++at) {
    const soak::DisturbedVisits& visits = judges_->of[at];
    std::printf("%s: %llu visits, %llu late\n", std::string(to_string(types[at])).c_str(),
                static_cast<unsigned long long>(visits.visits),
                static_cast<unsigned long long>(visits.late));
    EXPECT_EQ(visits.overlaps, 0U);
    EXPECT_EQ(visits.lost_updates, 0U);
    EXPECT_EQ(visits.stale_tokens, 0U);
    EXPECT_GT(visits.visits, 0U);
    EXPECT_TRUE(locks.lock("key:" + std::to_string(at), types[at]).try_acquire(10s, 1s));
    EXPECT_LT(Steady::now() - ended, session + 1s) << "what the killed held is not free in time";
  }
  std::printf("%d kills of processes, 1 of the server\n", processes_.kills);
  EXPECT_TRUE(eventually([&] { return server_.keys("").empty(); })) << "keys are left";
}

}  // namespace
}  // namespace latchkey::tests
