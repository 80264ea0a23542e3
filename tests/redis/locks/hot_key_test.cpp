// One key that many threads of several clients want at the same time.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include <latchkey/locks.hpp>

#include "support/recorder.hpp"
#include "support/servers/redis_server.hpp"

namespace latchkey::tests {
namespace {

using namespace std::chrono_literals;
using SteadyClock = std::chrono::steady_clock;

void spend(std::chrono::microseconds time) {
  for (const auto end = SteadyClock::now() + time; SteadyClock::now() < end;) {
  }
}

/// Clients with a connection each, as in processes of their own. Counts what each is granted.
class HotKey : public ::testing::TestWithParam<LockType> {
 protected:
  /// Each thread locks and unlocks for `time`.
  std::vector<std::uint64_t> contend(std::size_t clients, int threads,
                                     std::chrono::microseconds inside,
                                     std::chrono::milliseconds time) {
    std::vector<std::uint64_t> grants(clients);
    std::vector<Locks> places;
    for (std::size_t client = 0; client < clients; ++client) {
      places.push_back(Locks::connect(server_.unix_uri()));
    }
    const auto end = SteadyClock::now() + time;
    std::vector<std::jthread> running;
    for (std::size_t client = 0; client < clients; ++client) {
      for (int thread = 0; thread < threads; ++thread) {
        running.emplace_back([&, client] {
          while (SteadyClock::now() < end) {
            const Hold hold = places[client].lock("hot", GetParam()).acquire(30s, 30s);
            EXPECT_FALSE(inside_.exchange(true)) << "two hold at the same time";
            check_token(hold);
            ++grants[client];  // guarded by the lock
            spend(inside);
            inside_ = false;
          }
        });
      }
    }
    running.clear();
    return grants;
  }

  [[nodiscard]] long long scripts_run() { return server_.client().calls("evalsha"); }

  RedisServer server_;

 private:
  void check_token(const Hold& hold) {
    if (GetParam() != LockType::FENCED) return;
    EXPECT_GT(hold.fencing_token().value_or(0), last_token_);
    last_token_ = hold.fencing_token().value_or(0);
  }

  std::atomic<bool> inside_{false};
  std::uint64_t last_token_ = 0;
};

TEST_P(HotKey, ThreadsHandTheLockOnWithoutTheServer) {
  const std::vector<std::uint64_t> grants = contend(1, 4, 0us, 1s);
  EXPECT_LT(scripts_run() * 5, static_cast<long long>(grants[0]));
}

// With a thread each there are no waiters to hand the lock to, so each release is a turn.
TEST_P(HotKey, EachClientGetsAtLeastAQuarterOfItsEvenShare) {
  for (const int threads : {1, 4}) {
    for (const auto inside : {0us, 50us}) {
      const std::vector<std::uint64_t> grants = contend(3, threads, inside, 1'500ms);
      const auto sum = std::accumulate(grants.begin(), grants.end(), std::uint64_t{0});
      EXPECT_GE(*std::min_element(grants.begin(), grants.end()) * 4 * grants.size(), sum)
          << ::testing::PrintToString(grants) << ", threads " << threads << ", inside "
          << inside.count() << " us";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Types, HotKey,
                         ::testing::Values(LockType::REENTRANT, LockType::WRITE, LockType::FENCED),
                         [](const auto& each) { return std::string(to_string(each.param)); });

// Another client's release grants for 3 s, whatever lease the call asked for. What is left of these
// 3 s must not look like what is left of 30 s.
TEST(RedisHandOver, TheEventsOfAHoldThatAnotherClientHandsOnHaveTheLeaseInForce) {
  RedisServer server;
  Recorder recorder;
  std::vector<std::jthread> threads;
  for (int client = 0; client < 2; ++client) {
    threads.emplace_back([&] {
      const Locks locks = Locks::connect(server.unix_uri(), {.listener = &recorder});
      const auto end = SteadyClock::now() + 1s;
      while (SteadyClock::now() < end) {
        const Hold hold = locks.lock("hot", LockType::WRITE).acquire(30s, 30s);
        spend(1ms);
      }
    });
  }
  threads.clear();
  int handed_on = 0;
  for (const Event& event : recorder.of(Event::Kind::released)) {
    const auto used = event.lease - event.left;
    handed_on += event.lease < 30s ? 1 : 0;
    EXPECT_LE(used, event.held + event.lease / 2)
        << "held " << event.held.count() << " ns of " << event.lease.count() << " ms";
  }
  EXPECT_GT(handed_on, 0) << "no release has granted to the other client";
}

}  // namespace
}  // namespace latchkey::tests
