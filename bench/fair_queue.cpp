// The cost of a FAIR lock for the server, however many wait for it.
#include <latchkey/asio.hpp>

#include <fmt/format.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "command_statistics.hpp"
#include "side_by_side.hpp"
#include "support/servers/redis_server.hpp"

namespace {

namespace asio = boost::asio;
namespace bench = latchkey::bench;
using namespace std::chrono_literals;
using latchkey::Hold;
using latchkey::Lock;
using latchkey::LockType;
using latchkey::tests::RedisServer;

constexpr int server_core = 0, client_core = 1;
constexpr int measured = 500;
constexpr double most_at_1000 = 15;
constexpr const char* key = "fair";

/// Coroutines that wait for one FAIR lock. Each of them takes it once.
class Queue {
 public:
  Queue(const RedisServer& server, int waiters)
      : client_(server.client()),
        locks_(latchkey::Locks::connect(server.tcp_uri())),
        waiters_(waiters) {}

  /// Returns the server's work per hand-off.
  bench::CommandStatistics run() {
    for (int number = 0; number <= waiters_ + measured; ++number) {
      asio::co_spawn(context_, take_once(locks_.lock(key, LockType::FAIR)), asio::detached);
    }
    context_.run();
    return cost_;
  }

 private:
  asio::awaitable<void> take_once(Lock lock) {
    Hold hold = co_await latchkey::async_acquire(lock, latchkey::forever, 30s, asio::use_awaitable);
    const int before = grants_++;
    if (before == 0) {
      co_await until_all_wait();
      client_({"CONFIG", "RESETSTAT"});
    }
    if (before == measured) {
      const auto spent = bench::statistics(client_, "evalsha");
      cost_ = {.calls = spent.calls / measured, .microseconds = spent.microseconds / measured};
    }
    co_await latchkey::async_release(std::move(hold), asio::use_awaitable);
  }
  asio::awaitable<void> until_all_wait() {
    asio::steady_timer timer(context_);
    do {
      timer.expires_after(200ms);
      co_await timer.async_wait(asio::use_awaitable);
    } while (client_({"LLEN", "redisson_lock_queue:{fair}"}).integer() < waiters_ + measured);
  }

  latchkey::tests::RedisClient client_;
  const latchkey::Locks locks_;
  const int waiters_;
  asio::io_context context_{1};
  int grants_ = 0;
  bench::CommandStatistics cost_;
};

}  // namespace

int main() {
  bench::pin_to(server_core);
  const RedisServer server;
  bench::pin_to(client_core);
  bool held = true;
  for (const int waiters : {100, 1'000}) {
    std::vector<double> times, calls;
    for (int round = 0; round < 5; ++round) {
      const auto cost = Queue(server, waiters).run();
      times.push_back(cost.microseconds);
      calls.push_back(cost.calls);
    }
    const double time = bench::median(times);
    const bool within = waiters != 1'000 || time <= most_at_1000;
    held &= within;
    fmt::print(
        "{:>6} waiters: {:>5.1f} us of the server's time and {:.2f} scripts per hand-off{}\n",
        waiters, time, bench::median(calls),
        waiters == 1'000 ? fmt::format("   <= {} {}", most_at_1000, within ? "ok" : "MISSED") : "");
  }
  return held ? 0 : 1;
}
