// Coroutines that wait for locks of other processes of their machine.
#include <gtest/gtest.h>

#include <chrono>

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>

#include "asio/fixture.hpp"
#include "host/holder_process.hpp"
#include "host/host_fixture.hpp"

namespace latchkey::tests {
namespace {

using namespace std::chrono_literals;

TEST(AsioHost, ACoroutineHasTheLockOfAProcessThatWasKilled) {
  const TestSegment segment;
  HolderProcess holder(segment.uri(), [](Locks& own) { own.lock("k").lock(); });
  const Locks locks = Locks::connect(segment.uri());
  asio::io_context context;
  int granted = 0;
  asio::co_spawn(
      context,
      [](Locks its, int& count) -> asio::awaitable<void> {
        Hold hold = co_await async_acquire(its.lock("k"), 30s, 30s, asio::use_awaitable);
        ++count;
        EXPECT_TRUE(co_await async_release(std::move(hold), asio::use_awaitable));
      }(locks, granted),
      rethrow);
  context.run_for(100ms);
  EXPECT_EQ(granted, 0);
  holder.kill();
  context.run_for(10s);
  EXPECT_EQ(granted, 1);
}

asio::awaitable<void> count_under_lock(Locks locks, int& busy, int& count) {
  for (int turn = 0; turn < 50; ++turn) {
    Hold hold = co_await async_acquire(locks.lock("k"), 30s, 30s, asio::use_awaitable);
    EXPECT_EQ(++busy, 1);
    asio::steady_timer timer(co_await asio::this_coro::executor, 100us);
    co_await timer.async_wait(asio::use_awaitable);
    --busy;
    ++count;
    EXPECT_TRUE(co_await async_release(std::move(hold), asio::use_awaitable));
  }
}

// One thread runs both, so one that blocked it while the other held the lock would wait for ever.
TEST(AsioHost, CoroutinesOfTwoLocksTakeTurnsOnOneThread) {
  const TestSegment segment;
  const Locks one = Locks::connect(segment.uri()), other = Locks::connect(segment.uri());
  asio::io_context context;
  int busy = 0, count = 0;
  asio::co_spawn(context, count_under_lock(one, busy, count), rethrow);
  asio::co_spawn(context, count_under_lock(other, busy, count), rethrow);
  context.run();
  EXPECT_EQ(count, 100);
}

}  // namespace
}  // namespace latchkey::tests
