// A quorum of five real servers: two are killed or stopped, then three.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <latchkey/error.hpp>
#include <latchkey/locks.hpp>

#include "support/recorder.hpp"
#include "support/servers/redis_server.hpp"
#include "support/stalls.hpp"

namespace latchkey::tests {
namespace {

using namespace std::chrono_literals;
using std::chrono::microseconds;

class RedisQuorum : public ::testing::Test {
 protected:
  RedisQuorum() {
    for (auto& server : servers_) server = std::make_unique<RedisServer>();
  }

  [[nodiscard]] Locks connect(std::chrono::milliseconds command_timeout = 2s) const {
    std::string uri = "quorum:";
    for (const auto& server : servers_) uri += server->tcp_uri() + " ";
    return Locks::connect(uri, {.command_timeout = command_timeout});
  }

  /// The median time of an acquire and its release, each on a fresh key. All must be granted. One
  /// release in a hundred may be unconfirmed: a stopped machine stops all servers.
  static microseconds median_of(const Locks& locks, int times) {
    std::vector<microseconds> all;
    int unconfirmed = 0;
    for (int round = 0; round < times; ++round) {
      const auto start = std::chrono::steady_clock::now();
      Hold hold = locks.lock("order:" + std::to_string(round)).acquire(10s, 30s);
      try {
        EXPECT_TRUE(hold.release());
      } catch (const BackendUnavailable&) {
        ++unconfirmed;
      }
      all.push_back(
          std::chrono::duration_cast<microseconds>(std::chrono::steady_clock::now() - start));
    }
    EXPECT_LE(unconfirmed, times / 100);
    std::ranges::nth_element(all, all.begin() + times / 2);
    return all[static_cast<std::size_t>(times / 2)];
  }

  static void expect_failure(const Locks& locks) {
    const Stalls stalls;
    for (const auto wait : {0ms, 500ms}) {
      const auto start = std::chrono::steady_clock::now();
      try {
        static_cast<void>(locks.lock("k").acquire(wait, 30s));
        FAIL() << "two of five are no majority";
      } catch (const BackendUnavailable& error) {
        EXPECT_THAT(error.what(), ::testing::HasSubstr(
                                      " of 5 servers answered, 3 are needed: redis://127.0.0.1:"));
        EXPECT_THAT(error.what(), ::testing::HasSubstr("gave no answer ("));
      }
      EXPECT_LT(std::chrono::steady_clock::now() - start, wait + 1s + stalls.total());
    }
  }

  [[nodiscard]] bool empty_of_orders() {
    return std::ranges::all_of(servers_, [](const auto& server) {
      return server->client()({"KEYS", "*"}).list().empty();
    });
  }

  std::array<std::unique_ptr<RedisServer>, 5> servers_;
};

constexpr int times = 1'000;

TEST_F(RedisQuorum, LocksWorkWithTwoOfFiveServersKilledAndFailWithThree) {
  const Locks locks = connect(), hasty = connect(500ms);
  const microseconds whole = median_of(locks, times);
  servers_[0]->kill();
  servers_[3]->kill();
  const microseconds reduced = median_of(locks, times);
  std::printf("median of an acquire and a release: %lld us with 5, %lld us with 3 of 5\n",
              static_cast<long long>(whole.count()), static_cast<long long>(reduced.count()));
  EXPECT_LE(reduced, 3 * whole);
  const Locks late = connect();  // a minority may be down at the start, too
  EXPECT_TRUE(late.lock("k").try_acquire(5s, 30s));
  servers_[4]->kill();
  expect_failure(hasty);
  servers_[0]->start();
  EXPECT_TRUE(locks.lock("back").try_acquire(20s, 30s));
}

TEST_F(RedisQuorum, LocksWorkWithTwoOfFiveServersFrozenAndFailWithThree) {
  const Locks locks = connect(), hasty = connect(500ms);
  const microseconds whole = median_of(locks, times);
  servers_[1]->stop();
  servers_[2]->stop();
  const microseconds reduced = median_of(locks, times);
  std::printf("median of an acquire and a release: %lld us with 5, %lld us with 2 stopped\n",
              static_cast<long long>(whole.count()), static_cast<long long>(reduced.count()));
  EXPECT_LE(reduced, 3 * whole);
  servers_[4]->stop();
  expect_failure(hasty);
  for (const int server : {1, 2, 4}) servers_[static_cast<std::size_t>(server)]->resume();
  EXPECT_TRUE(locks.lock("back").try_acquire(20s, 30s));
  // The resumed servers now run the acquires that they received, and then the releases. Meanwhile
  // they may answer too late to count.
  EXPECT_TRUE(eventually([&] {
    try {
      static_cast<void>(locks.lock("other").try_acquire(0ms, 30s));
    } catch (const BackendUnavailable&) {
      return false;
    }
    return empty_of_orders();
  }));
}

// It was accepted: one server granted a lock with two votes of three.
TEST_F(RedisQuorum, OneServerUnderTwoAddressesIsRefused) {
  const std::string first = servers_[0]->tcp_uri(), port = std::to_string(servers_[0]->port());
  for (const std::string& same :
       {first, first + "/3", "redis://localhost:" + port, servers_[0]->unix_uri()}) {
    try {
      static_cast<void>(
          Locks::connect("quorum: " + first + " " + servers_[1]->tcp_uri() + " " + same));
      ADD_FAILURE() << same;
    } catch (const std::invalid_argument& error) {
      EXPECT_THAT(error.what(), ::testing::HasSubstr("are one server, which would vote twice"));
    }
  }
}

TEST_F(RedisQuorum, AHoldThatAMajorityLostIsLost) {
  const Locks locks = connect();
  Hold hold = locks.lock("k").acquire(0ms, 30s);
  for (const int server : {0, 1}) {
    servers_[static_cast<std::size_t>(server)]->kill();
    servers_[static_cast<std::size_t>(server)]->start();
  }
  EXPECT_TRUE(hold.extend(40s));
  for (const auto& server : servers_) server->client()({"DEL", "k"});
  EXPECT_FALSE(hold.extend(50s));
  EXPECT_TRUE(hold.lost());
}

}  // namespace
}  // namespace latchkey::tests
