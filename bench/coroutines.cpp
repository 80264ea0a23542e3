// Coroutines on one thread: beside as many blocking threads on Redis, and beside a channel of Asio
// of capacity one in memory.
#include <latchkey/asio.hpp>

#include <fmt/format.h>

#include <string>
#include <thread>
#include <vector>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/experimental/channel.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "side_by_side.hpp"
#include "support/servers/redis_server.hpp"

namespace {

namespace asio = boost::asio;
namespace bench = latchkey::bench;
using latchkey::Hold;
using latchkey::Lock;

constexpr int workers = 32;
constexpr int server_core = 0, client_core = 1;

/// The hold ends with its scope, as most code writes it.
asio::awaitable<void> scoped_cycle(Lock lock, int operations) {
  for (int done = 0; done < operations; ++done) {
    const Hold hold = co_await latchkey::async_acquire(lock, latchkey::forever, latchkey::watchdog,
                                                       asio::use_awaitable);
  }
}

/// Waits for the reply to the release, too, as a blocking thread does.
asio::awaitable<void> cycle(Lock lock, int operations) {
  for (int done = 0; done < operations; ++done) {
    Hold hold = co_await latchkey::async_acquire(lock, latchkey::forever, latchkey::watchdog,
                                                 asio::use_awaitable);
    co_await latchkey::async_release(std::move(hold), asio::use_awaitable);
  }
}

/// `key_of(worker)` is the key of one of the coroutines.
template <class KeyOf>
auto by_coroutines(const latchkey::Locks& locks, KeyOf key_of,
                   asio::awaitable<void> (*run)(Lock, int)) {
  return [locks, key_of, run](int operations) {
    asio::io_context context(1);
    for (int worker = 0; worker < workers; ++worker) {
      asio::co_spawn(context, run(locks.lock(key_of(worker)), operations / workers),
                     asio::detached);
    }
    context.run();
  };
}

auto by_threads(const latchkey::Locks& locks) {
  return [locks](int operations) {
    std::vector<std::jthread> running;
    for (int worker = 0; worker < workers; ++worker) {
      running.emplace_back([lock = locks.lock(std::to_string(worker)), operations]() mutable {
        for (int done = 0; done < operations / workers; ++done)
          lock.acquire(latchkey::forever).release();
      });
    }
  };
}

using Channel = asio::experimental::channel<void(boost::system::error_code, int)>;

asio::awaitable<void> cycle_in(Channel& channel, int operations) {
  for (int done = 0; done < operations; ++done) {
    co_await channel.async_send(boost::system::error_code(), 0, asio::use_awaitable);
    co_await channel.async_receive(asio::use_awaitable);
  }
}

void by_channel(int operations) {
  asio::io_context context(1);
  Channel channel(context, 1);
  for (int worker = 0; worker < workers; ++worker) {
    asio::co_spawn(context, cycle_in(channel, operations / workers), asio::detached);
  }
  context.run();
}

}  // namespace

int main() {
  bench::pin_to(server_core);
  const latchkey::tests::RedisServer server;
  bench::pin_to(client_core);
  const auto redis = latchkey::Locks::connect(server.tcp_uri());
  const auto memory = latchkey::Locks::connect("memory:");

  fmt::print("{:<44} {:>11} {:>11}   {}\n", "", "coroutines", "beside", "ratio (spread)");
  const auto own_key = [](int worker) { return std::to_string(worker); };
  const auto one_key = [](int) { return std::string("key"); };
  // At least 0.9 of the threads' rate, and 0.5 of the channel's.
  bool held = bench::compare("Redis, 32 coroutines beside 32 threads", 32'000, 1 / 0.9,
                             by_coroutines(redis, own_key, cycle), by_threads(redis));
  held &= bench::compare("memory, 32 coroutines beside a channel", 64'000, 1 / 0.5,
                         by_coroutines(memory, one_key, scoped_cycle), by_channel);
  return held ? 0 : 1;
}
