// How soon a holder is told that its lock was taken away, and what it costs that held keys are
// watched.
#include <latchkey/latchkey.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "side_by_side.hpp"
#include "support/servers/redis_server.hpp"

namespace {

using namespace std::chrono_literals;
using latchkey::Hold;
using latchkey::Locks;
using latchkey::tests::RedisClient;
using latchkey::tests::RedisServer;
using Time = std::chrono::steady_clock::time_point;
namespace bench = latchkey::bench;

constexpr int server_core = 0, client_core = 1;
constexpr auto lease = 30s;
constexpr auto until_watched = 700ms;

std::string key_of(std::size_t number) { return "order:" + std::to_string(number); }

/// Holds whose stop tokens note the time at which they are told.
class ToldHolds {
 public:
  ToldHolds(const Locks& locks, std::size_t count, std::chrono::milliseconds length)
      : told_(count) {
    for (std::size_t number = 0; number < count; ++number) {
      holds_.push_back(locks.lock(key_of(number)).acquire(1s, length));
      std::atomic<Time>& at = told_[number];
      callbacks_.push_back(
          std::make_unique<Callback>(holds_.back().stop_token(), std::function<void()>([&at] {
                                       at.store(std::chrono::steady_clock::now());
                                       at.notify_all();
                                     })));
    }
  }

  /// From `begin` until the holder of `number` is told.
  std::chrono::duration<double, std::milli> await(std::size_t number, Time begin) {
    told_[number].wait(Time{});
    return told_[number].load() - begin;
  }

 private:
  using Callback = std::stop_callback<std::function<void()>>;

  std::vector<std::atomic<Time>> told_;
  std::vector<Hold> holds_;
  std::vector<std::unique_ptr<Callback>> callbacks_;
};

/// Prints a line of the table. True: the 99th percentile is within `limit`.
bool report(std::string_view what, std::vector<double> times, std::optional<double> limit) {
  std::ranges::sort(times);
  const auto at = [&](std::size_t percent) { return times[(times.size() - 1) * percent / 100]; };
  const bool held = !limit || at(99) <= *limit;
  fmt::print("{:<44} {:>8.2f} ms {:>8.2f} ms   {}\n", what, at(50), at(99),
             limit ? fmt::format("<= {:.0f} ms {}", *limit, held ? "ok" : "MISSED") : "");
  return held;
}

/// One key after the other is taken away.
std::vector<double> one_by_one(const Locks& locks, std::size_t count,
                               std::chrono::milliseconds length,
                               const std::function<void(std::string_view)>& take_away) {
  ToldHolds holds(locks, count, length);
  std::this_thread::sleep_for(until_watched);
  std::vector<double> times;
  for (std::size_t number = 0; number < count; ++number) {
    const Time begin = std::chrono::steady_clock::now();
    take_away(key_of(number));
    times.push_back(holds.await(number, begin).count());
  }
  return times;
}

/// All keys are taken away together, again and again.
std::vector<double> all_at_once(const Locks& locks, RedisClient& client, std::size_t count,
                                int rounds, std::chrono::milliseconds length) {
  std::vector<double> times;
  for (int round = 0; round < rounds; ++round) {
    ToldHolds holds(locks, count, length);
    std::this_thread::sleep_for(until_watched);
    const Time begin = std::chrono::steady_clock::now();
    client({"FLUSHALL"});
    for (std::size_t number = 0; number < count; ++number) {
      times.push_back(holds.await(number, begin).count());
    }
  }
  return times;
}

/// Splits the cycles among threads, each of which has a key of its own.
auto on_threads(const Locks& locks, int threads) {
  return [&locks, threads](int operations) {
    std::vector<std::thread> running;
    for (int thread = 0; thread < threads; ++thread) {
      running.emplace_back([&locks, thread, cycles = operations / threads] {
        latchkey::Lock lock = locks.lock(key_of(static_cast<std::size_t>(thread)));
        for (int cycle = 0; cycle < cycles; ++cycle) static_cast<void>(lock.acquire(1s));
      });
    }
    for (std::thread& each : running) each.join();
  };
}

bool measure_times(const RedisServer& server, const Locks& watching, const Locks& checking) {
  RedisClient client = server.client();
  const Locks administrator = Locks::connect(server.tcp_uri());
  const auto remove = [&](std::string_view key) { client({"DEL", key}); };
  const auto force = [&](std::string_view key) { administrator.force_release(key); };
  constexpr double limit = 10;  // ms
  fmt::print("{:<44} {:>11} {:>11}\n", "told after", "median", "p99");
  bool held = report("DEL", one_by_one(watching, 500, lease, remove), limit);
  held &= report("force release", one_by_one(watching, 500, lease, force), limit);
  held &= report("FLUSHALL of 100 holds", all_at_once(watching, client, 100, 10, lease), limit);
  constexpr auto short_lease = 3s;
  report("FLUSHALL of 100, unwatched, lease 3 s",
         all_at_once(checking, client, 100, 5, short_lease), std::nullopt);
  return held;
}

}  // namespace

int main() {
  bench::pin_to(server_core);
  const RedisServer server;
  bench::pin_to(client_core);
  const Locks watching = Locks::connect(server.tcp_uri(), {.watch_holds = true});
  const Locks checking = Locks::connect(server.tcp_uri(), {.watch_holds = false});
  bool held = measure_times(server, watching, checking);

  fmt::print("\n{:<44} {:>11} {:>11}   {}\n", "acquire and release of own keys", "watched",
             "unwatched", "ratio (spread)");
  for (const int threads : {1, 8, 32}) {
    held &= bench::compare(
        fmt::format("{} threads", threads), 40'000, 1.1, on_threads(watching, threads),
        on_threads(checking, threads), [] {}, 9);
  }
  return held ? 0 : 1;
}
