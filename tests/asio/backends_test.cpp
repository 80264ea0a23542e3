// Coroutines over backends without an event loop of their own.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include <boost/asio/thread_pool.hpp>

#include <latchkey/simple_backend.hpp>

#include "asio/fixture.hpp"
#include "unit/backend/toy_backend.hpp"

namespace latchkey::tests {
namespace {

using namespace std::chrono_literals;

asio::awaitable<void> add_up(Locks locks, int& sum) {
  Hold hold = co_await async_acquire(locks.lock("k"), 30s, 30s, asio::use_awaitable);
  ++sum;
  EXPECT_TRUE(co_await async_release(std::move(hold), asio::use_awaitable));
}

void expect_sum(const Locks& locks, int coroutines) {
  asio::io_context context;
  int sum = 0;
  for (int each = 0; each < coroutines; ++each) {
    asio::co_spawn(context, add_up(locks, sum), rethrow);
  }
  context.run();
  EXPECT_EQ(sum, coroutines);
}

Locks toy_locks() {
  return Locks(std::make_unique<toy::ToyBackend>(std::make_shared<toy::Store>(Clock::system())));
}

TEST(AsioQuorum, CoroutinesShareAKey) {
  expect_sum(Locks::connect("quorum:memory:asio-a memory:asio-b memory:asio-c"), 20);
}

TEST(AsioSimpleBackend, NeedsAThreadPool) {
  const Locks locks = toy_locks();
  asio::io_context context;
  run(context, [](Locks locks) -> asio::awaitable<void> {
    try {
      static_cast<void>(
          co_await async_acquire(locks.lock("k"), forever, watchdog, asio::use_awaitable));
      ADD_FAILURE() << "the attempt would have blocked the executor";
    } catch (const NotConfigured& error) {
      EXPECT_NE(std::string(error.what()).find("latchkey::use_thread_pool(locks, pool)"),
                std::string::npos);
    }
  }(locks));
}

TEST(AsioSimpleBackend, ThreadPoolRunsItsAttempts) {
  asio::thread_pool pool(2);
  const Locks locks = toy_locks();
  use_thread_pool(locks, pool);
  expect_sum(locks, 20);
  pool.join();
}

}  // namespace
}  // namespace latchkey::tests
