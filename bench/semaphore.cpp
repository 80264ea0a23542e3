// The cost of a semaphore for the server, however many wait for its permits.
#include <latchkey/asio.hpp>

#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <latchkey/decorate.hpp>
#include <latchkey/listener.hpp>

#include "command_statistics.hpp"
#include "side_by_side.hpp"
#include "support/servers/redis_server.hpp"

namespace {

namespace asio = boost::asio;
namespace bench = latchkey::bench;
using namespace std::chrono_literals;
using latchkey::LockType;
using latchkey::tests::RedisServer;

constexpr int server_core = 0, client_core = 1;
constexpr int permits = 3;
constexpr double most_microseconds = 20, most_commands = 2;
/// With work no permit is handed over within the process. The server sleeps between hand-offs and
/// its caches are cold, so that the commands alone may cost more than 20 us: the limit is a
/// multiple of what they cost.
constexpr double max_ratio_to_bare = 2;

/// Counts the calls that wait, and sees whether they are granted in the order in which they came.
struct Order final : latchkey::Listener {
  void on_event(const latchkey::Event& event) override {
    if (event.kind == latchkey::Event::Kind::waiting) ++waiting;
    if (event.kind != latchkey::Event::Kind::granted) return;
    overtaken += event.ticket < last ? 1 : 0;
    last = event.ticket;
  }
  [[nodiscard]] bool wants_everything() const noexcept override { return true; }

  std::atomic<int> waiting = 0, overtaken = 0;
  std::uint64_t last = 0;
};

/// Coroutines that wait for permits of one semaphore. Each of them takes one once, and works with
/// it for `work`.
class Waiters {
 public:
  Waiters(const RedisServer& server, int waiters, std::chrono::milliseconds work)
      : client_(server.client()),
        locks_(latchkey::Locks::connect(server.tcp_uri(), {.listener = &order_})),
        waiters_(waiters),
        work_(work) {}

  /// Returns the server's work per hand-off: an acquire and a release of each waiter. The release
  /// that begins the run is no part of one.
  bench::CommandStatistics run() {
    const latchkey::Semaphore semaphore = locks_.semaphore("permits", permits);
    latchkey::Hold all = semaphore.acquire(permits, 0ms);
    for (int number = 0; number < waiters_; ++number) {
      asio::co_spawn(context_, take_once(number), asio::detached);
    }
    asio::co_spawn(context_, begin(std::move(all)), asio::detached);
    context_.run();
    const auto spent = bench::statistics(client_, "evalsha");
    return {.calls = (spent.calls - 1) / waiters_, .microseconds = spent.microseconds / waiters_};
  }
  [[nodiscard]] int overtaken() const { return order_.overtaken; }

 private:
  asio::awaitable<void> take_once(int number) {
    co_await (LOCKED("permits", LockType::PERMIT, latchkey::forever, 30s)
                  .permits(permits)
                  .in(locks_)AROUND(number)
                  ->asio::awaitable<void> {
                    if (work_ == 0ms) co_return;
                    asio::steady_timer timer(context_, work_);
                    co_await timer.async_wait(asio::use_awaitable);
                  });
  }
  asio::awaitable<void> begin(latchkey::Hold all) {
    asio::steady_timer timer(context_);
    while (order_.waiting < waiters_) {
      timer.expires_after(50ms);
      co_await timer.async_wait(asio::use_awaitable);
    }
    timer.expires_after(200ms);  // until the first has subscribed and asked again
    co_await timer.async_wait(asio::use_awaitable);
    client_({"CONFIG", "RESETSTAT"});
    co_await latchkey::async_release(std::move(all), asio::use_awaitable);
  }

  Order order_;
  latchkey::tests::RedisClient client_;
  const latchkey::Locks locks_;
  const int waiters_;
  const std::chrono::milliseconds work_;
  asio::io_context context_{1};
};

/// Runs only the commands of a hand-off, in two scripts, at the rate at which the waiters hand on:
/// the least that Redisson's layout costs on this machine.
class BareCommands {
 public:
  explicit BareCommands(const RedisServer& server)
      : client_(server.client()),
        listener_(server.client()),
        release_(load("redis.call('TIME') redis.call('ZSCORE', 'bare:timeout', ARGV[1]) "
                      "redis.call('EXISTS', 'bare') redis.call('INCRBY', 'bare', 1) "
                      "redis.call('ZREM', 'bare:timeout', ARGV[1]) "
                      "return redis.call('PUBLISH', 'bare', '1')")),
        acquire_(load("redis.call('TIME') redis.call('GET', 'bare') "
                      "redis.call('DECRBY', 'bare', 1) redis.call('PTTL', 'bare') "
                      "return redis.call('ZADD', 'bare:timeout', 'NX', 1, ARGV[1])")) {
    listener_({"SUBSCRIBE", "bare"});
  }

  /// Microseconds of the server's time per hand-off, of which one begins every `period`.
  double measure(int hand_offs, std::chrono::milliseconds period) {
    client_({"CONFIG", "RESETSTAT"});
    for (int number = 0; number < hand_offs; ++number) {
      client_({"EVALSHA", release_, "0", "a permit's id"});
      client_({"EVALSHA", acquire_, "0", "a permit's id"});
      if (period > 0ms) std::this_thread::sleep_for(period);
    }
    return bench::statistics(client_, "evalsha").microseconds / hand_offs;
  }

 private:
  std::string load(std::string_view script) { return client_({"SCRIPT", "LOAD", script}).text(); }

  latchkey::tests::RedisClient client_, listener_;
  const std::string release_, acquire_;
};

}  // namespace

int main() {
  bench::pin_to(server_core);
  const RedisServer server;
  bench::pin_to(client_core);
  BareCommands bare_commands(server);
  bool held = true;
  for (const auto work : {0ms, 6ms}) {
    std::vector<double> times, bare_times, calls;
    int overtaken = 0;
    for (int round = 0; round < 5; ++round) {
      Waiters waiters(server, 1'000, work);
      const auto cost = waiters.run();
      times.push_back(cost.microseconds);
      calls.push_back(cost.calls);
      overtaken += waiters.overtaken();
      bare_times.push_back(bare_commands.measure(500, work / permits));
    }
    const double time = bench::median(times), commands = bench::median(calls);
    const double bare = bench::median(bare_times);
    const double limit = work == 0ms ? most_microseconds : max_ratio_to_bare * bare;
    const bool within = time <= limit && commands <= most_commands && overtaken == 0;
    held &= within;
    fmt::print(
        "1000 waiters, {} permits, {} ms of work, per hand-off: {:.3f} scripts <= {}, {:.1f} us of "
        "the server's time <= {:.1f} (its commands alone: {:.1f}), {} overtaken   {}\n",
        permits, work.count(), commands, most_commands, time, limit, bare, overtaken,
        within ? "ok" : "MISSED");
  }
  return held ? 0 : 1;
}
