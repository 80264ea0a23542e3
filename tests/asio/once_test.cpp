// Jobs that run once for each instant, as coroutines.
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include <latchkey/once_per.hpp>

#include "asio/fixture.hpp"
#include "support/manual_locks.hpp"

namespace latchkey::tests {
namespace {

using namespace std::chrono_literals;
using Kind = Event::Kind;

/// A body that ends only if it is cancelled.
asio::awaitable<void> endless() {
  asio::steady_timer never(co_await asio::this_coro::executor,
                           asio::steady_timer::time_point::max());
  co_await never.async_wait(asio::use_awaitable);
}

class AsioOnce : public ::testing::Test {
 protected:
  asio::io_context context;
  ManualLocks manual;
  OncePer report = manual.locks.once_per("report", 15min);
};

TEST_F(AsioOnce, OneRunOfAnInstantGetsTheResultOfItsBody) {
  const auto use = [&]() -> asio::awaitable<void> {
    const auto count = [](const OnceRun& run) -> asio::awaitable<int> {
      EXPECT_FALSE(run.lost());
      co_return 7;
    };
    const OnceResult<int> first = co_await async_run(report, count);
    EXPECT_EQ(first.outcome, OnceOutcome::ran);
    EXPECT_EQ(first.value, 7);
    const OnceResult<int> second = co_await async_run(report, count);
    EXPECT_EQ(second.outcome, OnceOutcome::taken);
    EXPECT_FALSE(second.value);
    manual.clock.advance(15min);
    EXPECT_TRUE(co_await async_run(report, count));
  };
  run(context, use());
  EXPECT_TRUE(manual.recorder.await(Kind::once_ran, 2));
}

TEST_F(AsioOnce, BlockingRunAndCoroutineShareTheirInstants) {
  EXPECT_TRUE(report.run([] {}));
  const auto use = [&]() -> asio::awaitable<void> {
    const auto body = []() -> asio::awaitable<void> { co_return; };
    EXPECT_FALSE(co_await async_run(report, body));
  };
  run(context, use());
}

TEST_F(AsioOnce, BodyThatThrowsFreesTheInstant) {
  const auto use = [&]() -> asio::awaitable<void> {
    const auto fails = []() -> asio::awaitable<void> {
      throw std::runtime_error("no paper");
      co_return;
    };
    const auto body = []() -> asio::awaitable<void> { co_return; };
    EXPECT_THROW(co_await async_run(report, fails), std::runtime_error);
    EXPECT_TRUE(co_await async_run(report, body));
  };
  run(context, use());
  ASSERT_TRUE(manual.recorder.await(Kind::once_failed));
  EXPECT_NE(manual.recorder.of(Kind::once_failed)[0].text.find("no paper"), std::string::npos);
}

TEST_F(AsioOnce, WaitsForARunThatMayFail) {
  const OncePer settle = manual.locks.once_per("settle", 1h, {.wait = 10min});
  std::string order;
  const auto fails = [&]() -> asio::awaitable<void> {
    order += "1";
    co_await asio::post(asio::use_awaitable);
    throw std::runtime_error("failed");
  };
  const auto body = [&]() -> asio::awaitable<void> {
    order += "2";
    co_return;
  };
  const auto first = [&]() -> asio::awaitable<void> {
    EXPECT_THROW(co_await async_run(settle, fails), std::runtime_error);
  };
  const auto second = [&]() -> asio::awaitable<void> {
    EXPECT_TRUE(co_await async_run(settle, body));
  };
  asio::co_spawn(context, first(), rethrow);
  asio::co_spawn(context, second(), rethrow);
  context.run();
  EXPECT_EQ(order, "12");
}

TEST(AsioOnceLoss, LossOfTheLockCancelsTheBody) {
  asio::io_context context;
  const Locks locks = Locks::connect("memory:", {.watchdog = 300ms});
  const OncePer report = locks.once_per("report", 24h);
  const auto use = [&]() -> asio::awaitable<void> {
    const auto body = [&](const OnceRun& run) -> asio::awaitable<void> {
      EXPECT_TRUE(locks.force_release(run.hold.key()));
      co_await endless();
    };
    try {
      co_await async_run(report, body);
      ADD_FAILURE() << "it ran to its end";
    } catch (const LockLost& error) {
      EXPECT_TRUE(error.body_ran());
    }
    // Nobody else has taken it, so it is marked nevertheless.
    const auto again = []() -> asio::awaitable<void> { co_return; };
    EXPECT_FALSE(co_await async_run(report, again));
  };
  run(context, use());
}

TEST_F(AsioOnce, CancellationOfTheCallerReachesTheBody) {
  asio::cancellation_signal signal;
  bool ended = false;
  const auto use = [&]() -> asio::awaitable<void> {
    const auto body = [&]() -> asio::awaitable<void> {
      asio::post(context, [&] { signal.emit(asio::cancellation_type::terminal); });
      co_await endless();
    };
    co_await async_run(report, body);
  };
  asio::co_spawn(context, use(),
                 asio::bind_cancellation_slot(signal.slot(), [&](const std::exception_ptr& error) {
                   EXPECT_THROW(rethrow(error), boost::system::system_error);
                   ended = true;
                 }));
  context.run();
  EXPECT_TRUE(ended);
  EXPECT_TRUE(report.run([] {})) << "the run failed, so its instant is free";
}

TEST_F(AsioOnce, EndOfTheContextIsAFailureOfTheRun) {
  {
    asio::io_context ends;
    const auto use = [&]() -> asio::awaitable<void> {
      const auto body = []() -> asio::awaitable<void> { co_await endless(); };
      co_await async_run(report, body);
    };
    asio::co_spawn(ends, use(), [](const std::exception_ptr&) { ADD_FAILURE(); });
    ends.poll();
  }
  EXPECT_TRUE(report.run([] {}));
}

}  // namespace
}  // namespace latchkey::tests
