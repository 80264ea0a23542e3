// A service of coroutines on one thread that stops gracefully: SIGTERM ends the accepting and the
// leader, requests that hold a lock are finished and answered, and requests that wait for one are
// told to ask elsewhere. Then the locks are closed, and main returns.
//
//   "deposit alice\n" -> "ok 12\n", or "stopping\n"
//
// Started with --serve PORT it serves until it is told to stop. Otherwise it serves on a free port,
// loads itself over several connections, sends itself SIGTERM in the middle, and checks that
// exactly the deposits that were answered have been made: 0 if so. Locks live in this process
// ("memory:") unless you pass a URI.
#include <latchkey/asio.hpp>
#include <latchkey/default_locks.hpp>
#include <latchkey/latchkey.hpp>

#include <fmt/format.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <exception>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include "serve_options.hpp"

using namespace std::chrono_literals;
using latchkey::LockType;
namespace asio = boost::asio;
using asio::ip::tcp;

asio::awaitable<void> pause_for(std::chrono::microseconds length) {
  asio::steady_timer timer(co_await asio::this_coro::executor, length);
  co_await timer.async_wait(asio::use_awaitable);
}

class Ledger {
 public:
  DECORATED(LOCKED("account:{account}", LockType::WRITE, 5s, 30s), asio::awaitable<int>, deposit,
            (std::string) account) {
    const int before = balances_[account];
    co_await pause_for(200us);  // a slow store
    co_return balances_[account] = before + 1;
  }

  [[nodiscard]] int total() const {
    int sum = 0;
    for (const auto& [account, balance] : balances_) sum += balance;
    return sum;
  }

 private:
  std::map<std::string, int> balances_;
};

class Service {
 public:
  Service(asio::io_context& context, unsigned short port)
      : context_(context),
        signals_(context, SIGINT, SIGTERM),
        acceptor_(context, {asio::ip::address_v4::loopback(), port}) {}

  void start() {
    asio::co_spawn(context_, accept(), asio::detached);
    asio::co_spawn(context_, keep_books(),
                   asio::bind_cancellation_slot(end_leader_.slot(), asio::detached));
    asio::co_spawn(context_, stop_when_told(), asio::detached);
  }

  [[nodiscard]] tcp::endpoint endpoint() const { return acceptor_.local_endpoint(); }
  [[nodiscard]] const Ledger& ledger() const noexcept { return ledger_; }

 private:
  asio::awaitable<void> accept() {
    while (true) {
      tcp::socket& socket =
          connections_.emplace_back(co_await acceptor_.async_accept(asio::use_awaitable));
      asio::co_spawn(context_, serve(socket), asio::detached);
    }
  }

  /// Request after request, until the client or the service ends the connection. A request that has
  /// been read is answered.
  asio::awaitable<void> serve(tcp::socket& socket) {
    std::string input;
    try {
      while (!stopping_) {
        const std::size_t size = co_await asio::async_read_until(
            socket, asio::dynamic_buffer(input), '\n', asio::use_awaitable);
        const std::string reply = co_await answer(input.substr(0, size - 1));
        input.erase(0, size);
        co_await asio::async_write(socket, asio::buffer(reply), asio::use_awaitable);
      }
    } catch (const boost::system::system_error&) {
      // The connection has ended.
    }
    socket.close();
  }

  asio::awaitable<std::string> answer(std::string request) {
    constexpr std::string_view deposit = "deposit ";
    if (!request.starts_with(deposit)) co_return "expected: deposit <account>\n";
    std::string account = request.substr(deposit.size());
    try {
      const int balance = co_await ledger_.deposit(std::move(account));
      co_return fmt::format("ok {}\n", balance);
    } catch (const latchkey::Error& error) {
      // Closed, for example: the deposit has not been made, unless body_ran() says so.
      co_return error.body_ran() ? fmt::format("unknown {}\n", error.what()) : "stopping\n";
    }
  }

  /// In one of all processes that serve.
  asio::awaitable<void> keep_books() {
    const latchkey::LeaderCoroutine work = [](std::uint64_t) -> asio::awaitable<void> {
      while (true) co_await pause_for(10ms);  // would write a summary
    };
    co_await latchkey::async_lead(latchkey::default_locks(), "leader:books", work,
                                  asio::use_awaitable);
  }

  asio::awaitable<void> stop_when_told() {
    co_await signals_.async_wait(asio::use_awaitable);
    stopping_ = true;
    acceptor_.close();
    end_leader_.emit(asio::cancellation_type::terminal);
    for (tcp::socket& each : connections_) {  // no further request is read
      boost::system::error_code ignored;
      if (each.is_open()) each.shutdown(tcp::socket::shutdown_receive, ignored);
    }
    // A second signal ends the drain early.
    asio::cancellation_signal end_drain;
    signals_.async_wait([&](const boost::system::error_code& error, int) {
      if (!error) end_drain.emit(asio::cancellation_type::terminal);
    });
    co_await latchkey::async_close(
        latchkey::default_locks(), 10s,
        asio::bind_cancellation_slot(end_drain.slot(), asio::use_awaitable));
    signals_.cancel();
  }

  asio::io_context& context_;
  asio::signal_set signals_;
  tcp::acceptor acceptor_;
  std::list<tcp::socket> connections_;
  asio::cancellation_signal end_leader_;
  Ledger ledger_;
  bool stopping_ = false;
};

/// Deposits as fast as it is answered, until it is not. Sends the service SIGTERM after a while.
asio::awaitable<void> load(tcp::endpoint service, std::string account, int& answered) {
  tcp::socket socket(co_await asio::this_coro::executor);
  const std::string request = "deposit " + account + "\n";
  std::string input;
  try {
    co_await socket.async_connect(service, asio::use_awaitable);
    while (true) {
      co_await asio::async_write(socket, asio::buffer(request), asio::use_awaitable);
      const std::size_t size = co_await asio::async_read_until(socket, asio::dynamic_buffer(input),
                                                               '\n', asio::use_awaitable);
      if (input.starts_with("ok ") && ++answered == 300) std::raise(SIGTERM);
      input.erase(0, size);
    }
  } catch (const boost::system::system_error&) {
    co_return;  // the service has closed the connection
  }
}

int main(int count, char** arguments) {
  const auto [uri, port] = serve_options(count, arguments, "memory:");
  latchkey::install(latchkey::Locks::connect(uri));
  asio::io_context context(1);
  Service service(context, port.value_or(0));
  service.start();
  int answered = 0;
  for (int client = 0; client < 16 && !port; ++client) {
    asio::co_spawn(context, load(service.endpoint(), client % 2 == 0 ? "alice" : "bob", answered),
                   asio::detached);
  }
  context.run();  // returns when nothing is left to do
  if (port) return 0;
  fmt::print("{} deposits were answered, {} were made\n", answered, service.ledger().total());
  return answered >= 300 && answered == service.ledger().total() ? 0 : 1;
}
