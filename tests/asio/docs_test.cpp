// docs/coroutines.md, compiled and run: its snippets stand here.
// clang-format off: the page's own lines
#include <latchkey/asio.hpp>
#include <latchkey/latchkey.hpp>
namespace asio = boost::asio;
// clang-format on

#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <exception>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/detached.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>

#include <latchkey/testing/scoped_locks.hpp>

namespace docs_coroutines {
namespace {

using namespace std::chrono_literals;
using latchkey::LockType;

struct Account {
  explicit Account(int number) : id(number) {}
  int id;
};
LATCHKEY_FIELDS(Account, id);
using Money = int;
using Receipt = std::string;

struct Order {
  explicit Order(std::string text) : id(std::move(text)) {}
  std::string id;
};

struct Ledger {
  asio::awaitable<Receipt> add(int account, Money amount) {
    entries.push_back(amount);
    co_return std::to_string(account) + ": " + std::to_string(amount);
  }
  std::vector<Money> entries;
};
Ledger ledger_;

std::vector<std::string> sent;
asio::awaitable<void> send(const Order& order) {
  sent.push_back(order.id);
  co_return;
}

struct Page {
  explicit Page(int number_of_page) : number(number_of_page) {}
  int number;
};
std::vector<int> printed;
asio::awaitable<void> print_out(const Page& page) {
  printed.push_back(page.number);
  co_return;
}

int reports = 0;
asio::awaitable<void> send_report(latchkey::OncePer::Instant) {
  ++reports;
  co_return;
}

int bills = 0;
asio::awaitable<bool> bill_next(std::uint64_t) {
  if (bills == 3) throw boost::system::system_error(asio::error::operation_aborted);
  co_return ++bills < 3;
}

namespace decorated {
// clang-format off: the page's own lines
class Bank {
 public:
  DECORATED(LOCKED("account:{account.id}", LockType::WRITE, 3s, 30s), asio::awaitable<Receipt>,
            deposit, (Account) account, (Money) amount) {
    co_return co_await ledger_.add(account.id, amount);
  }
};
// clang-format on
}  // namespace decorated

// clang-format off: the page's own lines
asio::awaitable<Receipt> deposit(Account account, Money amount) {
  co_return co_await (LOCKED("account:{account.id}", LockType::WRITE, 3s, 30s)
                      AROUND(account, amount) -> asio::awaitable<Receipt> {
    co_return co_await ledger_.add(account.id, amount);
  });
}

asio::awaitable<void> ship(latchkey::Locks locks, Order order) {
  latchkey::Hold hold = co_await latchkey::async_acquire(
      locks.lock("order:" + order.id), 3s, 30s, asio::use_awaitable);
  co_await send(order);
  co_await latchkey::async_release(std::move(hold), asio::use_awaitable);
}

asio::awaitable<std::size_t> enter_twice(latchkey::Locks locks) {
  latchkey::Locks mine = locks.with_owner(latchkey::Owner::make());
  auto outer = co_await latchkey::async_acquire(mine.lock("k"), asio::use_awaitable);
  auto inner = co_await latchkey::async_acquire(mine.lock("k"), asio::use_awaitable);  // counted
  co_return locks.inspect("k").holders.size();
}

asio::awaitable<std::size_t> acquire_or_time_out(latchkey::Lock lock) {
  asio::steady_timer timer(co_await asio::this_coro::executor, 1ms);
  using namespace asio::experimental::awaitable_operators;
  auto first = co_await (latchkey::async_acquire(lock, asio::use_awaitable) ||
                         timer.async_wait(asio::use_awaitable));
  co_return first.index();
}

void provide_threads(const latchkey::Locks& locks) {
  asio::thread_pool pool(4);
  latchkey::use_thread_pool(locks, pool);  // the pool must outlive the operations
}

asio::awaitable<void> render(latchkey::Locks locks, Page page) {
  const latchkey::Semaphore printers = locks.semaphore("printers", 3);
  const latchkey::Hold printer =
      co_await latchkey::async_acquire(printers, 1, 30s, 60s, asio::use_awaitable);
  co_await print_out(page);
}

asio::awaitable<bool> all_workers_are_ready(latchkey::Locks locks) {
  const latchkey::CountDownLatch ready = locks.count_down_latch("workers:ready");
  co_return co_await latchkey::async_wait_for(ready, 30s, asio::use_awaitable);
}

asio::awaitable<void> report_if_due(latchkey::OncePer report) {
  const auto body = [](const latchkey::OnceRun& run) -> asio::awaitable<void> {
    co_await send_report(run.instant);
  };
  co_await latchkey::async_run(report, body);
}

asio::awaitable<void> bill(latchkey::Locks locks) {
  const latchkey::LeaderCoroutine work = [](std::uint64_t term) -> asio::awaitable<void> {
    while (co_await bill_next(term)) {
    }
  };
  co_await latchkey::async_lead(locks, "leader:billing", work, asio::use_awaitable);
}

asio::awaitable<void> stop_when_told(latchkey::Locks locks, asio::signal_set& signals) {
  co_await signals.async_wait(asio::use_awaitable);
  co_await latchkey::async_close(locks, 10s, asio::use_awaitable);
}
// clang-format on

class CoroutinesPage : public ::testing::Test {
 protected:
  /// Runs the coroutine and returns its result.
  template <class T>
  T result_of(asio::awaitable<T> coroutine) {
    asio::io_context context;
    auto result = asio::co_spawn(context, std::move(coroutine), asio::use_future);
    context.run();
    return result.get();
  }
  latchkey::Locks locks_ = latchkey::Locks::connect("memory:");
  latchkey::testing::ScopedLocks scoped_{locks_};
};

TEST_F(CoroutinesPage, ADecoratedCoroutineAndOneAroundAPart) {
  decorated::Bank bank;
  EXPECT_EQ(result_of(bank.deposit(Account(7), 10)), "7: 10");
  EXPECT_EQ(result_of(deposit(Account(8), 20)), "8: 20");
  EXPECT_EQ(ledger_.entries, (std::vector<Money>{10, 20}));
  EXPECT_FALSE(locks_.inspect("account:7").locked);
}

TEST_F(CoroutinesPage, AcquireAndRelease) {
  result_of(ship(locks_, Order("42")));
  EXPECT_EQ(sent, std::vector<std::string>{"42"});
  EXPECT_FALSE(locks_.inspect("order:42").locked);
}

TEST_F(CoroutinesPage, OneOwnerEntersTwice) {
  EXPECT_EQ(result_of(enter_twice(locks_)), 1U);
  EXPECT_FALSE(locks_.inspect("k").locked);
}

TEST_F(CoroutinesPage, ATimerEndsTheWait) {
  const latchkey::Hold busy = locks_.acquire("k", {});
  EXPECT_EQ(result_of(acquire_or_time_out(locks_.lock("k"))), 1U);
}

TEST_F(CoroutinesPage, SemaphoresLatchesAndJobs) {
  result_of(render(locks_, Page(4)));
  EXPECT_EQ(printed, std::vector<int>{4});
  EXPECT_TRUE(result_of(all_workers_are_ready(locks_))) << "a latch without a count is open";
  const latchkey::OncePer report = locks_.once_per("report", 24h);
  result_of(report_if_due(report));
  result_of(report_if_due(report));
  EXPECT_EQ(reports, 1);
}

TEST_F(CoroutinesPage, ALeaderLeadsUntilTheServiceIsToldToStop) {
  asio::io_context context;
  asio::signal_set signals(context, SIGUSR1);
  std::exception_ptr end_of_leader;
  asio::co_spawn(context, bill(locks_),
                 [&](std::exception_ptr error) { end_of_leader = std::move(error); });
  asio::co_spawn(context, stop_when_told(locks_, signals), asio::detached);
  while (bills < 3) context.run_one();
  std::raise(SIGUSR1);
  context.run();
  EXPECT_THROW(std::rethrow_exception(end_of_leader), latchkey::Closed);
}

TEST_F(CoroutinesPage, AThreadPoolForASimpleBackend) { provide_threads(locks_); }

}  // namespace
}  // namespace docs_coroutines
