// A pool of two threads that works on orders by coroutines. Several orders are of one account,
// whose lock only one coroutine holds at a time; the others wait without a thread.
//
// Locks live in this process ("memory:") unless you pass a URI.
#include <latchkey/asio.hpp>

#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <exception>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>

using namespace std::chrono_literals;
namespace asio = boost::asio;

struct Order {
  std::string account;
  int amount = 0;
};

class Ledger {
 public:
  explicit Ledger(latchkey::Locks locks) : locks_(std::move(locks)) {}

  /// Reads the balance, asks a remote system, and writes the new balance: nobody else may change it
  /// meanwhile.
  asio::awaitable<void> book(Order order) {
    latchkey::Hold hold = co_await latchkey::async_acquire(locks_.lock("account:" + order.account),
                                                           30s, 30s, asio::use_awaitable);
    const int before = read(order.account);
    co_await ask_remote_system();
    write(order.account, before + order.amount);
    if (!co_await latchkey::async_release(std::move(hold), asio::use_awaitable)) {
      throw std::runtime_error("the lock of " + order.account + " was lost");
    }
  }

  int read(const std::string& account) {
    const std::lock_guard guard(mutex_);
    return balances_[account];
  }

 private:
  static asio::awaitable<void> ask_remote_system() {
    asio::steady_timer reply(co_await asio::this_coro::executor, 1ms);
    co_await reply.async_wait(asio::use_awaitable);
  }
  void write(const std::string& account, int balance) {
    const std::lock_guard guard(mutex_);
    balances_[account] = balance;
  }

  latchkey::Locks locks_;
  std::mutex mutex_;  // guards the map, not the accounts
  std::map<std::string, int> balances_;
};

int main(int count, char** arguments) {
  const auto locks = latchkey::Locks::connect(count > 1 ? arguments[1] : "memory:");
  Ledger ledger(locks);
  asio::thread_pool pool(2);
  std::atomic<int> failures = 0;
  for (int index = 0; index < 60; ++index) {
    const Order order{.account = index % 3 == 0 ? "alice" : "bob", .amount = 10};
    asio::co_spawn(pool, ledger.book(order), [&](const std::exception_ptr& error) {
      if (error) ++failures;
    });
  }
  pool.join();
  fmt::print("alice has {}, bob has {}\n", ledger.read("alice"), ledger.read("bob"));
  const bool right = ledger.read("alice") == 200 && ledger.read("bob") == 400;
  return failures == 0 && right ? 0 : 1;
}
