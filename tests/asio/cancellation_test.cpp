// Operations that are cancelled.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>

#include "asio/fixture.hpp"
#include "support/recorder.hpp"
#include "support/servers/redis_server.hpp"

namespace latchkey::tests {
namespace {

using namespace std::chrono_literals;

class AsioCancellation : public ::testing::TestWithParam<asio::cancellation_type> {
 protected:
  /// Starts an acquire that the test can cancel, and returns the error that it ends with.
  std::shared_ptr<std::exception_ptr> wait_for(const Lock& lock) {
    auto error = std::make_shared<std::exception_ptr>();
    async_acquire(lock, forever, watchdog,
                  asio::bind_cancellation_slot(
                      signal.slot(),
                      asio::bind_executor(context, [error](auto why, Hold) { *error = why; })));
    return error;
  }

  asio::io_context context;
  asio::cancellation_signal signal;
  Locks locks = Locks::connect("memory:");
};

INSTANTIATE_TEST_SUITE_P(EveryType, AsioCancellation,
                         ::testing::Values(asio::cancellation_type::terminal,
                                           asio::cancellation_type::partial,
                                           asio::cancellation_type::total));

TEST_P(AsioCancellation, EndsAWait) {
  std::optional<Hold> theirs = locks.lock("k").acquire(forever);
  const auto error = wait_for(locks.lock("k"));
  signal.emit(GetParam());
  context.run();
  try {
    rethrow(*error);
    FAIL() << "it was cancelled";
  } catch (const Cancelled& cancelled) {
    EXPECT_EQ(std::string(cancelled.what()),
              "the wait for the REENTRANT lock 'k' on memory: was cancelled by its cancellation "
              "slot");
  }
  theirs.reset();
  EXPECT_TRUE(locks.inspect("k").holders.empty());
  EXPECT_TRUE(locks.inspect("k").queue.empty());
}

TEST_P(AsioCancellation, EndsAWaitForSeveralAndGivesThemBack) {
  const Hold theirs = locks.lock("b").acquire(forever);
  const auto error = wait_for(locks.all_of({locks.lock("a"), locks.lock("b")}));
  EXPECT_EQ(locks.inspect("a").holders.size(), 1U);
  signal.emit(GetParam());
  context.run();
  EXPECT_THROW(rethrow(*error), Cancelled);
  EXPECT_TRUE(locks.inspect("a").holders.empty());
}

TEST_P(AsioCancellation, AfterTheGrantHasNoEffect) {
  const auto error = wait_for(locks.lock("k"));
  signal.emit(GetParam());
  context.run();
  EXPECT_FALSE(*error);
  EXPECT_TRUE(locks.inspect("k").holders.empty()) << "the handler dropped its hold";
}

TEST(AsioTimeout, LosingOperationOfACoroutineGivesBack) {
  using namespace asio::experimental::awaitable_operators;
  asio::io_context context;
  Locks locks = Locks::connect("memory:");
  const Hold theirs = locks.lock("k").acquire(forever);
  run(context, [](Locks& locks) -> asio::awaitable<void> {
    asio::steady_timer timer(co_await asio::this_coro::executor, 20ms);
    const auto first =
        co_await (async_acquire(locks.lock("k"), forever, watchdog, asio::use_awaitable) ||
                  timer.async_wait(asio::use_awaitable));
    EXPECT_EQ(first.index(), 1U);
  }(locks));
  EXPECT_TRUE(locks.inspect("k").queue.empty());
}

// Asio's operator would keep the error back until the timer ends, and then drop it.
TEST(AsioTimeout, AnErrorOfTheAcquireEndsTheWaitForTheFirstOfTwo) {
  using namespace asio::experimental::awaitable_operators;
  asio::io_context context;
  Locks locks = Locks::connect("memory:");
  const Hold theirs = locks.lock("k").acquire(forever);
  std::jthread closer;
  bool closed = false;
  run(context, [&](Locks& locks) -> asio::awaitable<void> {
    asio::steady_timer timer(co_await asio::this_coro::executor, 1h);
    closer = std::jthread([&] {
      eventually([&] { return !locks.inspect("k").queue.empty(); });
      locks.close(0s);
    });
    try {
      const auto first =
          co_await (timer.async_wait(asio::use_awaitable) ||
                    async_acquire(locks.lock("k"), forever, watchdog, asio::use_awaitable));
      ADD_FAILURE() << "ended with alternative " << first.index();
    } catch (const Closed&) {
      closed = true;
    }
  }(locks));
  EXPECT_TRUE(closed);
}

TEST(AsioTimeout, TheFirstOfTwoAcquiresIsTheResultAndTheOtherIsGivenBack) {
  using namespace asio::experimental::awaitable_operators;
  asio::io_context context;
  Locks locks = Locks::connect("memory:");
  const Hold theirs = locks.lock("busy").acquire(forever);
  run(context, [](Locks& locks) -> asio::awaitable<void> {
    auto first =
        co_await (async_acquire(locks.lock("busy"), forever, watchdog, asio::use_awaitable) ||
                  async_try_acquire(locks.lock("free"), 1h, watchdog, asio::use_awaitable));
    EXPECT_EQ(first.index(), 1U);
    EXPECT_EQ(std::get<1>(first).value().key(), "free");
  }(locks));
  EXPECT_TRUE(locks.inspect("busy").queue.empty());
}

/// Many waits on few keys, half of them cancelled at random moments.
class CancellationStorm {
 public:
  CancellationStorm(Locks locks, std::size_t waits) : locks_(std::move(locks)), waits_(waits) {}

  void run(asio::io_context& context, int threads) {
    for (std::size_t index = 0; index < waits_; ++index) {
      start(context, index);
    }
    run_on(context, threads);
  }

  std::atomic<std::size_t> granted{0};
  std::atomic<std::size_t> cancelled{0};

 private:
  /// The state of one wait; its handlers run on a strand.
  struct WaitState {
    explicit WaitState(asio::io_context& context)
        : strand(asio::make_strand(context)), timer(strand) {}
    asio::strand<asio::io_context::executor_type> strand;
    asio::steady_timer timer;
    asio::cancellation_signal signal;
  };

  void start(asio::io_context& context, std::size_t index) {
    auto state = std::make_shared<WaitState>(context);
    asio::post(state->strand, [this, state, index] {
      if (index % 2 == 0) cancel_after(state, std::chrono::microseconds(index % 20'000));
      auto handler = [this, state](const std::exception_ptr& error, const Hold& hold) {
        state->timer.cancel();
        ++(error ? cancelled : granted);
        // Whether it is still held depends on how long the handler waited for a thread.
        EXPECT_EQ(hold.key().empty(), error != nullptr);
      };
      async_acquire(
          locks_.lock("storm:" + std::to_string(index % 20)), forever, watchdog,
          asio::bind_cancellation_slot(state->signal.slot(),
                                       asio::bind_executor(state->strand, std::move(handler))));
    });
  }

  static void cancel_after(const std::shared_ptr<WaitState>& state,
                           std::chrono::microseconds time) {
    state->timer.expires_after(time);
    state->timer.async_wait([state](const boost::system::error_code& error) {
      if (!error) state->signal.emit(asio::cancellation_type::total);
    });
  }

  Locks locks_;
  const std::size_t waits_;
};

TEST(AsioStorm, LeavesNothingInMemory) {
  for (const int threads : {1, 4}) {
    asio::io_context context;
    Locks locks = Locks::connect("memory:");
    CancellationStorm storm(locks, 100'000);
    storm.run(context, threads);
    EXPECT_EQ(storm.granted + storm.cancelled, 100'000U);
    EXPECT_TRUE(locks.list().empty());
  }
}

TEST(AsioStorm, LeavesNothingOnRedis) {
  const RedisServer server;
  asio::io_context context;
  const Locks locks = Locks::connect(server.unix_uri());
  CancellationStorm storm(locks, 100'000);
  storm.run(context, 2);
  EXPECT_EQ(storm.granted + storm.cancelled, 100'000U);
  auto client = server.client();
  EXPECT_TRUE(eventually([&] { return client({"DBSIZE"}).integer() == 0; }));
  EXPECT_TRUE(eventually([&] { return client({"PUBSUB", "CHANNELS"}).list().empty(); }));
}

}  // namespace
}  // namespace latchkey::tests
