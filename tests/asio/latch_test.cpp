// Latches in coroutines.
#include <gtest/gtest.h>

#include <chrono>
#include <exception>
#include <optional>
#include <string>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/post.hpp>

#include "asio/fixture.hpp"
#include "support/manual_locks.hpp"

namespace latchkey::tests {
namespace {

using namespace std::chrono_literals;
using Kind = Event::Kind;

class AsioLatch : public ::testing::Test {
 protected:
  asio::io_context context;
  ManualLocks manual;
  CountDownLatch latch = manual.locks.count_down_latch("ready");
};

TEST_F(AsioLatch, WaitEndsWhenTheLastOneHasCountedDown) {
  const auto count_down = [&]() -> asio::awaitable<void> {
    EXPECT_EQ(co_await async_count_down(latch, asio::use_awaitable), 1U);
    EXPECT_EQ(co_await async_count(latch, asio::use_awaitable), 1U);
    EXPECT_EQ(co_await async_count_down(latch, asio::use_awaitable), 0U);
  };
  const auto wait = [&]() -> asio::awaitable<void> {
    EXPECT_TRUE(co_await async_try_set_count(latch, 2, asio::use_awaitable));
    EXPECT_FALSE(co_await async_try_set_count(latch, 5, asio::use_awaitable));
    asio::co_spawn(context, count_down(), rethrow);
    co_await async_wait(latch, asio::use_awaitable);
    EXPECT_EQ(latch.count(), 0U);
  };
  run(context, wait());
  EXPECT_TRUE(manual.recorder.await(Kind::latch_opened));
}

TEST_F(AsioLatch, ManyWaitersOfOneLatchAreAllWoken) {
  ASSERT_TRUE(latch.try_set_count(1));
  int woken = 0;
  for (int waiter = 0; waiter < 50; ++waiter) {
    async_wait(latch, asio::bind_executor(context, [&](const std::exception_ptr& error) {
                 EXPECT_FALSE(error);
                 ++woken;
               }));
  }
  static_cast<void>(latch.count_down());
  context.run();
  EXPECT_EQ(woken, 50);
  EXPECT_EQ(manual.locks.list().size(), 0U);
}

TEST_F(AsioLatch, BoundedWaitEndsWithFalse) {
  ASSERT_TRUE(latch.try_set_count(1));
  std::optional<bool> open;
  async_wait_for(latch, 7s,
                 asio::bind_executor(context, [&](const std::exception_ptr& error, bool value) {
                   EXPECT_FALSE(error);
                   open = value;
                 }));
  while (!open) {
    manual.pass(1s);
    context.poll();
    context.restart();
  }
  EXPECT_EQ(open, false);
  ASSERT_TRUE(manual.recorder.await(Kind::latch_timeout));
  EXPECT_GE(manual.recorder.of(Kind::latch_timeout)[0].waited, 7s);
}

TEST_F(AsioLatch, CancellationAndCloseEndTheWait) {
  ASSERT_TRUE(latch.try_set_count(1));
  asio::cancellation_signal signal;
  std::exception_ptr cancelled, closed;
  async_wait(latch, asio::bind_cancellation_slot(
                        signal.slot(), asio::bind_executor(context, [&](std::exception_ptr error) {
                          cancelled = std::move(error);
                          manual.locks.close(0ms);
                        })));
  async_wait(latch, asio::bind_executor(
                        context, [&](std::exception_ptr error) { closed = std::move(error); }));
  asio::post(context, [&] { signal.emit(asio::cancellation_type::total); });
  context.run();
  EXPECT_THROW(rethrow(cancelled), Cancelled);
  EXPECT_THROW(rethrow(closed), Closed);
}

TEST_F(AsioLatch, EndOfTheContextEndsTheWait) {
  ASSERT_TRUE(latch.try_set_count(1));
  {
    asio::io_context ends;
    async_wait(latch, asio::bind_executor(ends, [](const std::exception_ptr&) { ADD_FAILURE(); }));
  }
  static_cast<void>(latch.count_down());
}

// The operation is the last that refers to the Locks: it drops them while its context ends.
TEST(AsioLatchLifetime, LocksMayEndBeforeTheContextOfTheirWaits) {
  for (int round = 0; round < 20; ++round) {
    testing::ManualClock clock;
    asio::io_context ends;
    const Locks locks = Locks::connect("memory:", {.clock = &clock});
    const CountDownLatch latch = locks.count_down_latch("ready");
    ASSERT_TRUE(latch.try_set_count(1));
    const auto fail = [](const auto&...) { ADD_FAILURE(); };
    async_wait(latch, asio::bind_executor(ends, fail));
    async_count_down(latch, asio::bind_executor(ends, fail));
  }
}

// The context waited for itself.
TEST(AsioLatchLifetime, LocksMayEndBeforeTheContextOfTheirAcquires) {
  asio::io_context ends;
  const Locks locks = Locks::connect("memory:");
  const Hold theirs = locks.lock("k").acquire(forever);
  async_acquire(locks.lock("k"), forever, watchdog,
                asio::bind_executor(ends, [](const auto&...) { ADD_FAILURE(); }));
}

TEST_F(AsioLatch, CountThatNoLatchHasIsRefused) {
  run(context, [](CountDownLatch latch) -> asio::awaitable<void> {
    EXPECT_THROW(co_await async_try_set_count(latch, 0, asio::use_awaitable),
                 std::invalid_argument);
  }(latch));
}

}  // namespace
}  // namespace latchkey::tests
