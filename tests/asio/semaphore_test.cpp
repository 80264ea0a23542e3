// Permits of semaphores, and longer leases, in coroutines.
#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <stdexcept>
#include <string>

#include "asio/fixture.hpp"
#include "support/manual_locks.hpp"

namespace latchkey::tests {
namespace {

using namespace std::chrono_literals;

class AsioSemaphore : public ::testing::Test {
 protected:
  asio::io_context context;
  Locks locks = Locks::connect("memory:");
  Semaphore semaphore = locks.semaphore("pool", 2);
};

TEST_F(AsioSemaphore, GivesAsManyPermitsAsItHas) {
  run(context, [](Semaphore semaphore) -> asio::awaitable<void> {
    Hold one = co_await async_acquire(semaphore, 1, forever, watchdog, asio::use_awaitable);
    EXPECT_EQ(one.permits(), 1U);
    EXPECT_FALSE(co_await async_try_acquire(semaphore, 2, 0ms, 30s, asio::use_awaitable));
    const std::optional<Hold> two =
        co_await async_try_acquire(semaphore, 1, 0ms, 30s, asio::use_awaitable);
    EXPECT_TRUE(two.has_value());
    EXPECT_EQ(semaphore.available(), 0);
    try {
      static_cast<void>(co_await async_acquire(semaphore, 1, 1ms, 30s, asio::use_awaitable));
      ADD_FAILURE() << "a third permit of two";
    } catch (const LockTimeout& error) {
      EXPECT_EQ(error.type(), LockType::PERMIT);
    }
    EXPECT_TRUE(co_await async_release(std::move(one), asio::use_awaitable));
    EXPECT_EQ(semaphore.available(), 1);
  }(semaphore));
}

TEST_F(AsioSemaphore, WaitEndsWhenAPermitIsReleased) {
  std::optional<Hold> all = semaphore.acquire(2, forever);
  int granted = 0;
  for (int waiter = 0; waiter < 2; ++waiter) {
    async_acquire(semaphore, 1, forever, watchdog,
                  asio::bind_executor(context, [&](const std::exception_ptr& error, Hold hold) {
                    EXPECT_FALSE(error);
                    granted += static_cast<int>(hold.permits());
                  }));
  }
  all.reset();
  context.run();
  EXPECT_EQ(granted, 2);
}

TEST_F(AsioSemaphore, NumberThatItNeverHasIsRefused) {
  try {
    static_cast<void>(async_acquire(semaphore, 3, forever, watchdog, asio::use_awaitable));
    ADD_FAILURE() << "it would have waited for ever";
  } catch (const std::invalid_argument& error) {
    EXPECT_NE(std::string(error.what()).find("3 permits waits for ever: the semaphore has 2"),
              std::string::npos);
  }
}

TEST(AsioExtend, MovesTheDeadlineOfOneKeyAndOfSeveral) {
  asio::io_context context;
  ManualLocks manual;
  run(context, [](Locks locks) -> asio::awaitable<void> {
    for (const Lock& lock : {locks.lock("a"), locks.all_of({locks.lock("b"), locks.lock("c")})}) {
      Hold hold = co_await async_acquire(lock, forever, 10s, asio::use_awaitable);
      EXPECT_LE(hold.remaining(), 10s);
      EXPECT_TRUE(co_await async_extend(hold, 60s, asio::use_awaitable));
      EXPECT_GT(hold.remaining(), 50s);
    }
  }(manual.locks));
}

TEST(AsioExtend, LostHoldIsNotExtended) {
  asio::io_context context;
  const Locks locks = Locks::connect("memory:");
  run(context, [](const Locks& locks) -> asio::awaitable<void> {
    Hold hold = co_await async_acquire(locks.lock("k"), forever, watchdog, asio::use_awaitable);
    EXPECT_TRUE(locks.force_release("k"));
    EXPECT_FALSE(co_await async_extend(hold, 60s, asio::use_awaitable));
    EXPECT_TRUE(hold.lost());
    Hold empty = std::move(hold);
    EXPECT_FALSE(
        co_await async_extend(hold, 60s, asio::use_awaitable));  // NOLINT(*-use-after-move)
  }(locks));
}

}  // namespace
}  // namespace latchkey::tests
