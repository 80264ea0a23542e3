// Locks that a process keeps after their release (Options::cache): what that saves, and what it
// costs the others.
#include <latchkey/latchkey.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <barrier>
#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "command_statistics.hpp"
#include "side_by_side.hpp"
#include "support/servers/fault_proxy.hpp"
#include "support/servers/redis_server.hpp"

namespace {

using namespace std::chrono_literals;
using latchkey::Lease;
using latchkey::Lock;
using latchkey::Locks;
using latchkey::tests::FaultProxy;
using latchkey::tests::RedisServer;
namespace bench = latchkey::bench;

constexpr int server_core = 0, client_core = 1;

auto pairs_of(Lock& lock) {
  return [&lock](int operations) {
    for (int pair = 0; pair < operations; ++pair) static_cast<void>(lock.try_acquire());
  };
}

bool report(std::string_view what, double value, double limit, std::string_view unit) {
  const bool held = value <= limit;
  fmt::print("{:<44} {:>11.2f} {:<10} <= {:.0f} {}\n", what, value, unit, limit,
             held ? "ok" : "MISSED");
  return held;
}

/// An acquire and a release of one key, again and again.
bool repeated_pairs(const RedisServer& server) {
  constexpr int pairs = 20'000;
  const Locks keeping = Locks::connect(server.tcp_uri(), {.cache = 100ms});
  const Locks plain = Locks::connect(server.tcp_uri());
  Lock kept = keeping.lock("kept"), asked = plain.lock("asked");
  return bench::compare("1 thread, one key, kept beside asked for", pairs, 0.2, pairs_of(kept),
                        pairs_of(asked));
}

/// The scripts and questions that the server runs for 1 000 pairs.
bool commands_of_pairs(const RedisServer& server) {
  const Locks keeping = Locks::connect(server.tcp_uri(), {.cache = 100ms});
  auto client = server.client();
  constexpr int pairs = 500'000;
  Lock kept = keeping.lock("counted");
  static_cast<void>(kept.try_acquire());
  client({"CONFIG", "RESETSTAT"});
  pairs_of(kept)(pairs);
  double commands = 0;
  for (const std::string_view name : {"evalsha", "eval", "client|caching", "pubsub|numsub"}) {
    commands += static_cast<double>(client.calls(name));
  }
  return report("commands at the server for 1 000 pairs", commands * 1'000 / pairs, 20, "");
}

/// Each of two threads, with a connection of its own, takes the key again and again.
bool contended_pairs(const RedisServer& server) {
  constexpr int pairs = 20'000;
  const auto contend = [&](std::chrono::milliseconds cache, std::string key) {
    return [&server, cache, key](int operations) {
      std::barrier<> ready(2);
      const auto one = [&] {
        const Locks locks = Locks::connect(server.tcp_uri(), {.cache = cache});
        Lock lock = locks.lock(key);
        ready.arrive_and_wait();
        for (int pair = 0; pair < operations / 2; ++pair) {
          static_cast<void>(lock.acquire(latchkey::forever, 30s));
        }
      };
      std::thread other(one);
      one();
      other.join();
    };
  };
  return bench::compare(
      "2 processes, one key, kept beside asked for", pairs, 1.05, contend(100ms, "hot:kept"),
      contend(0ms, "hot:asked"), [] {}, 11);
}

/// Keys that are not kept, of Locks with the option and without.
bool other_keys(const RedisServer& server) {
  constexpr int pairs = 5'000;
  const Locks keeping = Locks::connect(server.tcp_uri(), {.cache = 100ms});
  const Locks plain = Locks::connect(server.tcp_uri());
  const auto use = [](const Locks& locks, Lease lease) {
    return [&locks, lease](int operations) {
      Lock lock = locks.lock("other");
      for (int pair = 0; pair < operations; ++pair) {
        static_cast<void>(lock.try_acquire(0ms, lease));
      }
    };
  };
  return bench::compare(
      "1 thread, one key, .cache(0ms) beside no option", pairs, 1.05,
      use(keeping, Lease(30s).cache(0ms)), use(plain, 30s), [] {}, 11);
}

struct Milliseconds {
  double median, most_of_99;
};

/// How long it takes until an acquire is granted.
Milliseconds time_to_acquire(const Locks& waiter, const Locks* keeping, std::string_view name) {
  std::vector<double> times;
  for (int round = 0; round < 200; ++round) {
    const std::string key = fmt::format("{}:{}", name, round);
    if (keeping != nullptr) {
      static_cast<void>(keeping->lock(key).acquire(0ms, Lease(30s).cache(10s)));
      // The server has been asked who waits.
      while (keeping->inspect(key).holders.at(0).left > 20s) std::this_thread::yield();
    }
    const auto begin = std::chrono::steady_clock::now();
    static_cast<void>(waiter.lock(key).acquire(latchkey::forever, 30s));
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
    times.push_back(took.count());
  }
  std::ranges::sort(times);
  const Milliseconds found{times[times.size() / 2], times[times.size() * 99 / 100]};
  fmt::print("{:<44} {:>8.2f} ms {:>8.2f} ms\n", fmt::format("  {}: median, 99th percentile", name),
             found.median, found.most_of_99);
  return found;
}

/// A process that waits for an idle lock, at a server that is some milliseconds away: a free lock
/// takes a round trip.
bool recall(const RedisServer& server) {
  FaultProxy far(server.port());
  for (const auto way : {FaultProxy::Direction::to_server, FaultProxy::Direction::to_client}) {
    far.delay(way, 1ms);
  }
  const Locks keeping = Locks::connect(far.uri()), waiter = Locks::connect(far.uri());
  const Milliseconds free = time_to_acquire(waiter, nullptr, "a free lock");
  const Milliseconds idle = time_to_acquire(waiter, &keeping, "an idle lock");
  return report("recall, in round trips, 99th percentile",
                (idle.most_of_99 - free.most_of_99) / free.median, 2, "");
}

}  // namespace

int main() {
  bench::pin_to(server_core);
  const RedisServer server;
  bench::pin_to(client_core);
  if (!Locks::connect(server.tcp_uri()).capabilities().recalls) {
    fmt::print("the server does not tell of those who wait: nothing is measured\n");
    return 0;
  }
  bench::print_header("asked");
  bool held = repeated_pairs(server);
  held &= other_keys(server);
  held &= commands_of_pairs(server);
  bench::unpin();
  held &= contended_pairs(server);
  held &= recall(server);
  return held ? 0 : 1;
}
