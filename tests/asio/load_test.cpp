// Many coroutines on few threads, alone and together with blocking threads.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "asio/fixture.hpp"
#include "soak/settings.hpp"
#include "support/servers/redis_server.hpp"
#include "support/stalls.hpp"

namespace latchkey::tests {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t key_count = 100;
constexpr std::size_t coroutine_count = 10'000;

std::ptrdiff_t threads_of_this_process() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/task"), {});
}

/// A sum for each key, which only its lock guards.
class Sums {
 public:
  explicit Sums(Locks locks) : locks_(std::move(locks)) {}

  asio::awaitable<void> add(std::size_t index) {
    const std::size_t key = index % key_count;
    const Hold hold = co_await async_acquire(locks_.lock("sum:" + std::to_string(key)), forever,
                                             watchdog, asio::use_awaitable);
    ++sums_[key];
  }

  [[nodiscard]] std::size_t total() const {
    std::size_t all = 0;
    for (const std::size_t each : sums_) all += each;
    return all;
  }

 private:
  Locks locks_;
  std::array<std::size_t, key_count> sums_{};
};

void expect_exact_sums(const Locks& locks, int threads) {
  asio::io_context context;
  Sums sums(locks);
  for (std::size_t index = 0; index < coroutine_count; ++index) {
    asio::co_spawn(context, sums.add(index), rethrow);
  }
  const std::ptrdiff_t before = threads_of_this_process();
  run_on(context, threads);
  EXPECT_EQ(sums.total(), coroutine_count);
  EXPECT_LE(threads_of_this_process(), before + 2) << "the timer thread, and the notifier thread";
}

TEST(AsioLoad, SumsAreExactInMemory) {
  for (const int threads : {1, 4}) expect_exact_sums(Locks::connect("memory:"), threads);
}

TEST(AsioLoad, SumsAreExactOnRedis) {
  const RedisServer server;
  for (const int threads : {1, 4}) {
    const Locks locks = Locks::connect(server.unix_uri());
    expect_exact_sums(locks, threads);
    EXPECT_TRUE(locks.list().empty());
  }
}

/// Coroutines and blocking threads that want the same few keys over one connection.
class MixedLoad {
 public:
  explicit MixedLoad(Locks locks) : locks_(std::move(locks)) {}

  void run(std::chrono::milliseconds length) {
    end_ = std::chrono::steady_clock::now() + length;
    asio::io_context context;
    for (std::size_t index = 0; index < 8; ++index) {
      asio::co_spawn(context, coroutine(index), rethrow);
    }
    std::vector<std::jthread> threads;
    for (std::size_t index = 0; index < 4; ++index) {
      threads.emplace_back([this, index] { thread(index); });
    }
    context.run();
  }

  [[nodiscard]] bool is_over() const { return std::chrono::steady_clock::now() >= end_; }
  /// Without the time for which the machine stalled.
  [[nodiscard]] std::chrono::milliseconds longest_wait() const {
    return std::chrono::milliseconds(longest_.load());
  }

  std::atomic<std::size_t> by_coroutines{0};
  std::atomic<std::size_t> by_threads{0};

 private:
  static constexpr std::size_t shared_keys = 2;

  [[nodiscard]] Lock lock(std::size_t index) const {
    return locks_.lock("mixed:" + std::to_string(index % shared_keys));
  }

  asio::awaitable<void> coroutine(std::size_t index) {
    while (!is_over()) {
      const Began began{stalls_};
      Hold hold = co_await async_acquire(lock(index), 30s, 30s, asio::use_awaitable);
      enter(index, began);
      ++by_coroutines;
      leave(index);
      if (index % 3 == 0) {
        EXPECT_TRUE(co_await async_release(std::move(hold), asio::use_awaitable));
      }
    }
  }

  void thread(std::size_t index) {
    while (!is_over()) {
      const Began began{stalls_};
      const Hold hold = lock(index).acquire(30s, 30s);
      enter(index, began);
      ++by_threads;
      leave(index);
    }
  }

  /// A wait that begins.
  struct Began {
    explicit Began(const Stalls& stalls) : stalled(stalls.total()) {}
    std::chrono::steady_clock::time_point at = std::chrono::steady_clock::now();
    std::chrono::nanoseconds stalled;
  };

  void enter(std::size_t index, const Began& began) {
    EXPECT_FALSE(inside_[index % shared_keys].exchange(true)) << "two hold at the same time";
    const auto waited = std::chrono::duration_cast<std::chrono::milliseconds>(
        std::chrono::steady_clock::now() - began.at - (stalls_.total() - began.stalled));
    auto longest = longest_.load();
    while (waited.count() > longest && !longest_.compare_exchange_weak(longest, waited.count())) {
    }
  }
  void leave(std::size_t index) { inside_[index % shared_keys] = false; }

  Locks locks_;
  std::chrono::steady_clock::time_point end_;
  std::array<std::atomic<bool>, shared_keys> inside_{};
  std::atomic<std::chrono::milliseconds::rep> longest_{0};
  Stalls stalls_;
};

// A lost wake-up would be found by the next poll, a second later.
void expect_no_lost_wake_up(const Locks& locks) {
  MixedLoad load(locks);
  load.run(soak::length_of_soak());
  EXPECT_GT(load.by_coroutines, 100U);
  EXPECT_GT(load.by_threads, 100U);
  EXPECT_LT(load.longest_wait(), 900ms);
}

TEST(AsioMixed, NoWakeUpIsLostInMemory) { expect_no_lost_wake_up(Locks::connect("memory:")); }

TEST(AsioMixed, NoWakeUpIsLostOnRedis) {
  const RedisServer server;
  expect_no_lost_wake_up(Locks::connect(server.unix_uri()));
}

// The executor computes: what it should read is read by the thread.
TEST(AsioMixed, BusyExecutorDelaysNoThread) {
  const RedisServer server;
  const Locks locks = Locks::connect(server.unix_uri());
  asio::io_context context;
  std::atomic<bool> busy = false;
  std::atomic<bool> end = false;
  asio::co_spawn(
      context,
      [](Locks locks, std::atomic<bool>& busy, std::atomic<bool>& end) -> asio::awaitable<void> {
        const Hold hold =
            co_await async_acquire(locks.lock("a"), forever, watchdog, asio::use_awaitable);
        busy = true;
        while (!end) std::this_thread::yield();
      }(locks, busy, end),
      rethrow);
  // Keeps the loop waiting for the connection.
  const Hold theirs = locks.lock("b").acquire(forever);
  asio::co_spawn(
      context,
      [](Locks locks) -> asio::awaitable<void> {
        static_cast<void>(
            co_await async_try_acquire(locks.lock("b"), 50ms, 30s, asio::use_awaitable));
      }(locks),
      rethrow);
  std::jthread executor([&] { context.run(); });
  while (!busy) std::this_thread::yield();
  const Stalls stalls;
  const auto began = std::chrono::steady_clock::now();
  for (int round = 0; round < 20; ++round) static_cast<void>(locks.lock("c").acquire(forever));
  EXPECT_LT(std::chrono::steady_clock::now() - began, 1s + stalls.total());
  end = true;
}

}  // namespace
}  // namespace latchkey::tests
