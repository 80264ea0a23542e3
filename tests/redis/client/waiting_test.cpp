// Locks on a real server: a release wakes a waiter, and no subscription is left.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <latchkey/error.hpp>
#include <latchkey/locks.hpp>

#include "support/recorder.hpp"
#include "support/servers/redis_server.hpp"
#include "support/stalls.hpp"

namespace latchkey::tests {
namespace {

using namespace std::chrono_literals;

class RedisWaiting : public ::testing::TestWithParam<LockType> {
 protected:
  ~RedisWaiting() override {
    EXPECT_TRUE(eventually([&] { return client_({"PUBSUB", "CHANNELS"}).list().empty(); }));
  }

  [[nodiscard]] Locks connect(Listener* listener = nullptr) const {
    return Locks::connect(server_.unix_uri(), {.listener = listener});
  }
  /// Waits until `count` clients subscribe to the channel of key `k`, or to that of what is granted
  /// to them.
  bool awaits_subscribers(std::size_t count) {
    const std::string channel =
        GetParam() == LockType::WRITE ? "redisson_rwlock:{k}" : "redisson_lock__channel:{k}";
    constexpr std::string_view of_key = "redisson_lock__channel:{k}:";
    constexpr std::size_t uuid_size = 36;
    return eventually([&] {
      const auto reply = client_({"PUBSUB", "NUMSUB", channel});
      const auto own = client_({"PUBSUB", "CHANNELS", std::string(of_key) + "*"}).list();
      const auto of_processes = std::ranges::count_if(
          own, [&](const std::string& each) { return each.size() == of_key.size() + uuid_size; });
      // The first in the queue of processes listens to both.
      return std::max(std::stoul(reply.list().at(1)), static_cast<std::size_t>(of_processes)) ==
             count;
    });
  }

  RedisServer server_;
  RedisClient client_ = server_.client();
};

// The safety poll comes after a second at the earliest, the lease ends after 30.
TEST_P(RedisWaiting, AReleaseByAnotherClientWakesTheWaiterAtOnce) {
  const Locks one = connect(), other = connect();
  std::vector<std::chrono::nanoseconds> delays;
  const Stalls stalls;
  for (int round = 0; round < 10; ++round) {
    auto hold = one.lock("k", GetParam()).acquire(forever);
    std::chrono::steady_clock::time_point entered;
    std::thread waiter([&] {
      const auto mine = other.lock("k", GetParam()).acquire(20s);
      entered = std::chrono::steady_clock::now();
    });
    ASSERT_TRUE(awaits_subscribers(1));
    const auto released = std::chrono::steady_clock::now();
    ASSERT_TRUE(hold.release());
    waiter.join();
    delays.push_back(entered - released);
  }
  std::ranges::sort(delays);
  EXPECT_LT(delays[delays.size() / 2], 500ms + stalls.total() / 10);
}

TEST_P(RedisWaiting, AForcedReleaseWakesTheWaiter) {
  const Locks one = connect(), other = connect();
  const auto hold = one.lock("k", GetParam()).acquire(forever);
  std::thread waiter(
      [&] { EXPECT_NO_THROW(static_cast<void>(other.lock("k", GetParam()).acquire(20s))); });
  ASSERT_TRUE(awaits_subscribers(1));
  EXPECT_TRUE(one.force_release("k"));
  waiter.join();
}

TEST_P(RedisWaiting, AWaiterWhoseConnectionIsKilledSubscribesAgain) {
  const Locks one = connect(), other = connect();
  std::atomic<bool> entered = false;
  auto hold = one.lock("k", GetParam()).acquire(forever);
  std::thread waiter([&] {
    const auto mine = other.lock("k", GetParam()).acquire(20s);
    entered = true;
  });
  ASSERT_TRUE(awaits_subscribers(1));
  client_({"CLIENT", "KILL", "TYPE", "pubsub"});
  ASSERT_TRUE(awaits_subscribers(1)) << "it subscribes again";
  EXPECT_FALSE(entered);
  ASSERT_TRUE(hold.release());
  waiter.join();
}

TEST_P(RedisWaiting, ThreadsOfTwoClientsEnterOneAtATime) {
  const Locks each[] = {connect(), connect()};
  int inside = 0, counted = 0;
  std::atomic<int> overlaps = 0;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 8; ++thread) {
    threads.emplace_back([&, thread] {
      Lock lock = each[thread % 2].lock("k", GetParam());
      for (int round = 0; round < 20; ++round) {
        const std::scoped_lock guard{lock};
        if (++inside != 1) ++overlaps;
        ++counted;
        --inside;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(overlaps, 0);
  EXPECT_EQ(counted, 160);
}

TEST_P(RedisWaiting, AWaitThatTimesOutLeavesNoKeys) {
  const Locks one = connect(), other = connect();
  {
    const auto hold = one.lock("k", GetParam()).acquire(forever);
    EXPECT_FALSE(other.lock("k", GetParam()).try_acquire(50ms).has_value());
  }
  EXPECT_TRUE(eventually([&] {
    const auto keys = client_({"KEYS", "*"}).list();
    return std::ranges::all_of(
        keys, [](const std::string& key) { return key.starts_with("redisson_lock_token:"); });
  }));
}

INSTANTIATE_TEST_SUITE_P(Types, RedisWaiting,
                         ::testing::Values(LockType::REENTRANT, LockType::FAIR, LockType::WRITE,
                                           LockType::FENCED),
                         [](const auto& tested) { return std::string(to_string(tested.param)); });

}  // namespace
}  // namespace latchkey::tests
