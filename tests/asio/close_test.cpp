// Closing Locks from a coroutine whose executor also runs their holders.
#include <gtest/gtest.h>

#include <chrono>
#include <exception>
#include <memory>
#include <optional>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>

#include "asio/fixture.hpp"
#include "support/recorder.hpp"

namespace latchkey::tests {
namespace {

using namespace std::chrono_literals;

/// Longer than any test takes: a close that waits for it has not seen what it waited for.
constexpr auto too_long = 10min;

class AsioClose : public ::testing::Test {
 protected:
  asio::io_context context;
  Recorder recorder;
  Locks locks = Locks::connect("memory:", {.listener = &recorder});
};

// It did not: close(5s) on the executor's thread blocked the holder that it waited for.
TEST_F(AsioClose, CloseWaitsForAHolderThatRunsOnTheSameThread) {
  bool released = false, closed = false;
  const auto holder = [&]() -> asio::awaitable<void> {
    Hold hold = co_await async_acquire(locks.lock("k"), forever, watchdog, asio::use_awaitable);
    async_close(locks, too_long, asio::bind_executor(context, [&](const std::exception_ptr& error) {
                  EXPECT_FALSE(error);
                  EXPECT_TRUE(released);
                  closed = true;
                }));
    // The close refuses others before this coroutine goes on to release.
    for (bool refuses = false; !refuses;) {
      try {
        static_cast<void>(
            co_await async_try_acquire(locks.lock("other"), 0ms, 30s, asio::use_awaitable));
      } catch (const Closed&) {
        refuses = true;
      }
    }
    EXPECT_FALSE(hold.lost());
    released = true;
    EXPECT_TRUE(co_await async_release(std::move(hold), asio::use_awaitable));
  };
  run(context, holder());
  EXPECT_TRUE(released);
  EXPECT_TRUE(closed);
}

TEST_F(AsioClose, HoldsThatRemainAfterTheDrainAreLost) {
  run(context, [](Locks& locks) -> asio::awaitable<void> {
    const Hold hold =
        co_await async_acquire(locks.lock("k"), forever, watchdog, asio::use_awaitable);
    co_await async_close(locks, 1ms, asio::use_awaitable);
    EXPECT_TRUE(hold.lost());
  }(locks));
}

TEST_F(AsioClose, CancellationEndsTheDrain) {
  const std::optional<Hold> never_released = locks.lock("k").acquire(forever);
  asio::cancellation_signal signal;
  bool closed = false;
  async_close(locks, too_long,
              asio::bind_cancellation_slot(
                  signal.slot(), asio::bind_executor(context, [&](const std::exception_ptr& error) {
                    EXPECT_FALSE(error);
                    closed = true;
                  })));
  asio::post(context, [&] { signal.emit(asio::cancellation_type::partial); });
  context.run();
  EXPECT_TRUE(closed);
  EXPECT_TRUE(never_released->lost());
}

TEST_F(AsioClose, ListenerHasAllEventsAtTheEnd) {
  run(context, [](Locks& locks) -> asio::awaitable<void> {
    Hold hold = co_await async_acquire(locks.lock("k"), forever, watchdog, asio::use_awaitable);
    co_await async_release(std::move(hold), asio::use_awaitable);
    co_await async_close(locks, too_long, asio::use_awaitable);
  }(locks));
  EXPECT_EQ(recorder.of(Event::Kind::released).size(), 1U);
}

TEST_F(AsioClose, EndOfTheContextEndsTheDrain) {
  const Hold never_released = locks.lock("k").acquire(forever);
  {
    asio::io_context ends;
    async_close(locks, too_long,
                asio::bind_executor(ends, [](const std::exception_ptr&) { ADD_FAILURE(); }));
  }
  EXPECT_TRUE(never_released.lost());
}

TEST_F(AsioClose, ClosesWhatNobodyElseRefersTo) {
  std::optional<Locks> last = Locks::connect("memory:");
  async_close(*std::exchange(last, std::nullopt), too_long,
              asio::bind_executor(context, asio::detached));
  context.run();
}

}  // namespace
}  // namespace latchkey::tests
