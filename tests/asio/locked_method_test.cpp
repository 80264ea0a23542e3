// DECORATED with a coroutine: its arguments live in its frame.
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>

#include "asio/locked_fixture.hpp"

namespace latchkey::tests {
namespace {

using namespace std::chrono_literals;

/// With a constructor: GCC 12 destroys an aggregate in a co_await expression twice.
struct Customer {
  explicit Customer(std::string given) : id(std::move(given)) {}
  std::string id;
};
LATCHKEY_FIELDS(Customer, id);

/// Longer than what a std::string keeps without the heap: ASan sees a use after its end.
std::string long_text(const char* end) { return std::string(60, '.') + end; }

class Bank {
 public:
  explicit Bank(Locks locks) : locks_(std::move(locks)) {}

  DECORATED(LOCKED("account:{account.id}", LockType::WRITE, 1s), asio::awaitable<std::string>,
            deposit, (Customer) account, (int) amount) {
    EXPECT_EQ(holders_of(locks_, "account:" + account.id), 1U);
    co_await pause();
    co_return account.id + std::to_string(amount);
  }

  DECORATED(LOCKED("order:{order}"), asio::awaitable<int>, ship, (std::unique_ptr<int>) order) {
    co_await pause();
    co_return *order;
  }

  DECORATED(LOCKED("everything"), asio::awaitable<void>, close, (const)) {
    ASSERT_HELD("everything");
    co_await pause();
    ASSERT_HELD("everything");
  }

  DECORATED(LOCKED("number:{number}"), (static asio::awaitable<int>), twice, (const int) number) {
    co_await pause();
    co_return 2 * number;
  }

  DECORATED(LOCKED("busy", LockType::REENTRANT, 0ms)
                .on_timeout(strategy::fallback([](const std::string& text) { return text + "!"; })),
            asio::awaitable<std::string>, ask, (std::string) text) {
    co_return text;
  }

  DECORATED(LOCKED("busy", LockType::REENTRANT, 0ms)
                .on_timeout(strategy::skip_with(long_text("busy"))),
            asio::awaitable<std::string>, answer, (std::string) text) {
    co_return text;
  }

  DECORATED(LOCKED("k", LockType::REENTRANT, 10s).cancel_with(stop_.get_token()),
            asio::awaitable<void>, wait) {
    stop_.request_stop();
    co_await pause();
  }

  /// No coroutine: it calls one.
  DECORATED(LOCKED("order:{id}"), asio::awaitable<int>, forward, (std::string) id) {
    EXPECT_EQ(holders_of(locks_, "order:" + id), 1U);
    return twice(4);
  }

 private:
  Locks locks_;
  std::stop_source stop_;
};

class AsioLockedMethod : public AsioLockedTest {
 protected:
  Bank bank{locks};
};

TEST_F(AsioLockedMethod, ArgumentsAndThisReachTheBody) {
  run(context, [](Bank& bank) -> asio::awaitable<void> {
    EXPECT_EQ(co_await bank.deposit(Customer("7"), 3), "73");
    EXPECT_EQ(co_await bank.ship(std::make_unique<int>(9)), 9);
    EXPECT_EQ(co_await Bank::twice(2), 4);
    EXPECT_EQ(co_await bank.forward("1"), 8);
    co_await bank.close();
  }(bank));
  EXPECT_TRUE(locks.list().empty());
}

// The caller's arguments are gone before the coroutine begins.
TEST_F(AsioLockedMethod, ArgumentsOutliveTheCall) {
  std::string result;
  {
    const Customer account(long_text("1"));
    asio::co_spawn(context, bank.deposit(account, 5),
                   [&](std::exception_ptr error, std::string text) {
                     rethrow(error);
                     result = std::move(text);
                   });
  }
  context.run();
  EXPECT_EQ(result, long_text("1") + "5");
}

TEST_F(AsioLockedMethod, StrategiesOwnWhatTheyNeed) {
  const Hold theirs = locks.lock("busy").acquire(forever);
  run(context, [](Bank& bank) -> asio::awaitable<void> {
    EXPECT_EQ(co_await bank.ask(long_text("what")), long_text("what!"));
    EXPECT_EQ(co_await bank.answer("what"), long_text("busy"));
  }(bank));
}

TEST_F(AsioLockedMethod, StopTokenEndsTheWaitAndNotTheBody) {
  run(context, [](Bank& bank, Locks locks) -> asio::awaitable<void> {
    co_await bank.wait();
    const Hold theirs = locks.lock("k").acquire(forever);
    std::optional<Cancelled::By> by;
    try {
      co_await bank.wait();
    } catch (const Cancelled& cancelled) {
      by = cancelled.by();
    }
    EXPECT_EQ(by, Cancelled::By::stop_token);
  }(bank, locks));
}

TEST_F(AsioLockedMethod, NothingHappensBeforeItIsAwaited) {
  {
    const asio::awaitable<std::string> never = bank.deposit(Customer("7"), 3);
  }
  EXPECT_TRUE(locks.list().empty());
}

}  // namespace
}  // namespace latchkey::tests
