// Four processes on one key of a Redis server, some of which are stopped and killed all the time.
// SPDX-License-Identifier: BSL-1.0
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <latchkey/error.hpp>
#include <latchkey/locks.hpp>

#include "soak/disturbed_visits.hpp"
#include "soak/processes.hpp"
#include "soak/settings.hpp"
#include "soak/shared.hpp"
#include "support/servers/redis_server.hpp"

namespace latchkey::soak {
namespace {

using namespace std::chrono_literals;
using tests::RedisServer;
using Steady = std::chrono::steady_clock;

/// Four processes, and what is done to them. Null `uri`: without locks.
class Disturbed {
 public:
  static constexpr auto lease = 400ms;

  Disturbed(const std::string* uri, LockType type) : uri_(uri), type_(type) {}

  void run(std::chrono::milliseconds length) {
    EXPECT_TRUE(processes.run(length, [this] { disturb_one(); }));
  }

  Shared<DisturbedVisits> visits;
  Processes processes{[this](std::size_t, unsigned seed) { work(seed); }};

 private:
  static constexpr unsigned threads = 2;

  void disturb_one() {
    processes.wait(20ms, 100ms);
    if (processes.random() % 4 == 0) return processes.kill_one();
    processes.stop_one(50ms, 800ms);  // shorter and longer than a lease
  }

  void work(unsigned seed) {
    std::optional<Locks> locks;
    if (uri_ != nullptr) locks = Locks::connect(*uri_);
    std::vector<std::jthread> running;
    for (unsigned number = 0; number < threads; ++number) {
      running.emplace_back([&, number] {
        std::minstd_rand random(seed + number);
        DisturbedVisits::Place& place = visits->new_place();
        while (Steady::now() < processes.end()) visit(locks, place, random);
      });
    }
  }

  void visit(const std::optional<Locks>& locks, DisturbedVisits::Place& place,
             std::minstd_rand& random) {
    // sleeps: this is the time inside the lock
    const auto dwell = [&] { std::this_thread::sleep_for(random() % 1'000 * 1us); };
    const bool reads = type_ == LockType::WRITE && random() % 2 == 0;
    if (!locks) return visits->visit(place, reads, Steady::now() + lease, 0, dwell);
    try {
      Lock lock = locks->lock("disturbed", reads ? LockType::READ : type_);
      const std::optional<Hold> hold = lock.try_acquire(1s, lease);
      if (!hold) return;
      visits->visit_holding(place, reads, *hold, dwell);
    } catch (const BackendUnavailable&) {
      return;  // the process was stopped, and heard no answer in time
    }
  }

  const std::string* const uri_;
  const LockType type_;
};

struct Tested {
  LockType type;
  const char* scheme = "redis";
};

class DisturbedSoak : public ::testing::TestWithParam<Tested> {};

/// All of the time for each type, or a part if there is little.
std::chrono::milliseconds length_of_type() {
  const std::chrono::milliseconds length = length_of_soak();
  return length >= 20s ? length : length / 2;
}

TEST_P(DisturbedSoak, StoppedAndKilledProcessesCauseNoOverlapAndLoseNoUpdate) {
  const RedisServer server;
  const std::string uri =
      std::string(GetParam().scheme) + "://127.0.0.1:" + std::to_string(server.port());
  Disturbed disturbed(&uri, GetParam().type);
  disturbed.run(length_of_type());
  const DisturbedVisits& visits = *disturbed.visits;
  std::printf("%d stops, %d kills, %llu visits, %llu ended after their deadline\n",
              disturbed.processes.stops, disturbed.processes.kills,
              static_cast<unsigned long long>(visits.visits),
              static_cast<unsigned long long>(visits.late));
  EXPECT_EQ(visits.overlaps, 0U);
  EXPECT_EQ(visits.lost_updates, 0U);
  EXPECT_EQ(visits.stale_tokens, 0U);
  EXPECT_GT(visits.visits, 0U);
  Lock lock = Locks::connect(uri).lock("disturbed");
  EXPECT_TRUE(lock.try_acquire(2 * Disturbed::lease + 1s)) << "what the killed held is not free";
}

// A READ is the other half of WRITE.
INSTANTIATE_TEST_SUITE_P(Types, DisturbedSoak,
                         ::testing::Values(Tested{LockType::REENTRANT}, Tested{LockType::FAIR},
                                           Tested{LockType::WRITE}, Tested{LockType::FENCED},
                                           Tested{LockType::REENTRANT, "redis+set"},
                                           Tested{LockType::FENCED, "redis+set"}),
                         [](const auto& each) {
                           const bool set = std::string(each.param.scheme) == "redis+set";
                           return std::string(to_string(each.param.type)) + (set ? "_set" : "");
                         });

TEST(DisturbedSoakJudge, DetectsOverlapsWithoutALock) {
  Disturbed disturbed(nullptr, LockType::REENTRANT);
  disturbed.run(1s);
  EXPECT_GT(disturbed.visits->overlaps, 0U);
  EXPECT_GT(disturbed.visits->lost_updates, 0U);
}

/// A hold that had ended when it was asked.
struct EndedHold {
  static std::chrono::milliseconds remaining() { return 0ms; }
  static std::optional<std::uint64_t> fencing_token() { return std::nullopt; }
};

// Its visitor was stopped between the grant and the visit. Another one has got the lock since.
TEST(DisturbedSoakJudge, ExcusesAVisitorWhoseHoldHadEndedBeforeItCame) {
  Shared<DisturbedVisits> visits;
  DisturbedVisits::Place& first = visits->new_place();
  DisturbedVisits::Place& second = visits->new_place();
  visits->visit(second, false, Steady::now() + 1h, 0, [&] {
    std::this_thread::sleep_for(1ms);  // sleeps: it counts in microseconds
    visits->visit_holding(first, false, EndedHold(), [] {});
  });
  EXPECT_EQ(visits->overlaps, 0U);
  EXPECT_EQ(visits->lost_updates, 0U);
  EXPECT_EQ(visits->late, 1U);
  EXPECT_EQ(visits->visits, 1U);
}

}  // namespace
}  // namespace latchkey::soak
