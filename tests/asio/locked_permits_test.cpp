// LOCKED(...).permits(n) around coroutines, in memory and on Redis.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>

#include <boost/asio/experimental/awaitable_operators.hpp>

#include "asio/locked_fixture.hpp"
#include "support/servers/redis_server.hpp"

namespace latchkey::tests {
namespace {

using namespace std::chrono_literals;

enum class PermitStore : bool { memory, redis };

class AsioLockedPermits : public ::testing::TestWithParam<PermitStore> {
 protected:
  static std::string uri() {
    if (GetParam() == PermitStore::memory) return "memory:";
    static const RedisServer server;
    return server.tcp_uri();
  }
  ~AsioLockedPermits() override { semaphore.destroy(); }

  /// As much as all of them, once the releases have arrived.
  void expect_that_all_are_available() const { EXPECT_TRUE(semaphore.try_acquire(3, 5s)); }

  Locks locks = Locks::connect(uri());
  ::latchkey::testing::ScopedLocks scoped{locks};
  Semaphore semaphore = locks.semaphore("exports", 3);
  asio::io_context context;
};

INSTANTIATE_TEST_SUITE_P(Stores, AsioLockedPermits,
                         ::testing::Values(PermitStore::memory, PermitStore::redis),
                         [](const auto& each) {
                           return each.param == PermitStore::memory ? "memory" : "redis";
                         });

struct Bodies {
  int inside = 0, most = 0, ended = 0;
};

TEST_P(AsioLockedPermits, AsManyBodiesRunAtOnceAsThereArePermits) {
  Bodies bodies;
  for (int each = 0; each < 12; ++each) {
    asio::co_spawn(
        context,
        [](Bodies& bodies) -> asio::awaitable<void> {
          co_await (
              LOCKED("exports", LockType::PERMIT, 10s).permits(3) AROUND()->asio::awaitable<void> {
                bodies.most = std::max(bodies.most, ++bodies.inside);
                co_await pause(5ms);
                --bodies.inside;
                ++bodies.ended;
              });
        }(bodies),
        rethrow);
  }
  context.run();
  EXPECT_EQ(bodies.ended, 12);
  EXPECT_EQ(bodies.most, 3);
  expect_that_all_are_available();
}

TEST_P(AsioLockedPermits, ABodyHasSeveralPermitsAndGivesItsResult) {
  run(context, [](const Semaphore& semaphore) -> asio::awaitable<void> {
    const std::uint32_t taken =
        co_await (LOCKED("exports").permits(3, 2) AROUND()->asio::awaitable<std::uint32_t> {
          co_await pause();
          EXPECT_EQ(semaphore.available(), 1);
          co_return current_hold()->permits();
        });
    EXPECT_EQ(taken, 2U);
    EXPECT_EQ(semaphore.available(), 3);
  }(semaphore));
}

TEST_P(AsioLockedPermits, TheWaitEndsIfTooFewAreAvailable) {
  const Hold two = semaphore.acquire(2, forever);
  run(context, []() -> asio::awaitable<void> {
    EXPECT_THROW(
        co_await (
            LOCKED("exports", LockType::PERMIT, 20ms).permits(3, 2) AROUND()->asio::awaitable<int> {
              co_return 1;
            }),
        LockTimeout);
    const std::optional<int> none =
        co_await (LOCKED("exports", LockType::PERMIT, 0ms)
                      .permits(3, 2)
                      .on_timeout(strategy::skip) AROUND()
                      ->asio::awaitable<std::optional<int>> { co_return 1; });
    EXPECT_EQ(none, std::nullopt);
    EXPECT_EQ(
        co_await (
            LOCKED("exports", LockType::PERMIT, 0ms).permits(3) AROUND()->asio::awaitable<int> {
              co_return 1;
            }),
        1);
  }());
}

TEST_P(AsioLockedPermits, LossCancelsTheBodyAndRequestsItsStop) {
  const auto began = std::chrono::steady_clock::now();
  run(context, []() -> asio::awaitable<void> {
    std::stop_token stop;
    bool aborted = false;
    EXPECT_THROW(co_await (LOCKED("exports", LockType::PERMIT, 0ms, 60ms)
                               .permits(3) AROUND()
                               ->asio::awaitable<void> {
                                 stop = current_hold()->stop_token();
                                 try {
                                   co_await pause(20s);
                                 } catch (const boost::system::system_error& error) {
                                   aborted = error.code() == asio::error::operation_aborted;
                                   throw;
                                 }
                               }),
                 LockLost);
    EXPECT_TRUE(aborted);
    EXPECT_TRUE(stop.stop_requested());
  }());
  EXPECT_LT(std::chrono::steady_clock::now() - began, 10s);
  expect_that_all_are_available();
}

TEST_P(AsioLockedPermits, ACancelledWaitTakesNoPermit) {
  using asio::experimental::awaitable_operators::operator||;  // not hidden by latchkey's
  std::optional<Hold> all = semaphore.acquire(3, forever);
  run(context, []() -> asio::awaitable<void> {
    const auto wait = []() -> asio::awaitable<void> {
      EXPECT_THROW(
          co_await (
              LOCKED("exports", LockType::PERMIT, 20s).permits(3) AROUND()->asio::awaitable<void> {
                ADD_FAILURE() << "it ran without a permit";
                co_return;
              }),
          Cancelled);
    };
    const auto first = co_await (wait() || pause(20ms));
    EXPECT_EQ(first.index(), 1U);
  }());
  EXPECT_EQ(semaphore.available(), 0);
  all.reset();
  expect_that_all_are_available();
}

TEST_P(AsioLockedPermits, ACancelledBodyGivesItsPermitBack) {
  using asio::experimental::awaitable_operators::operator||;  // not hidden by latchkey's
  run(context, []() -> asio::awaitable<void> {
    bool ran = false;
    const auto work = [](bool& ran) -> asio::awaitable<void> {
      co_await (LOCKED("exports").permits(3) AROUND()->asio::awaitable<void> {
        ran = true;
        co_await pause(20s);
      });
    };
    const auto first = co_await (work(ran) || pause(20ms));
    EXPECT_EQ(first.index(), 1U);
    EXPECT_TRUE(ran);
  }());
  expect_that_all_are_available();
}

TEST_P(AsioLockedPermits, ABodyThatIsDestroyedWithItsContextGivesItsPermitBack) {
  {
    asio::io_context short_lived;
    bool runs = false;
    asio::co_spawn(
        short_lived,
        [](bool& runs) -> asio::awaitable<void> {
          co_await (LOCKED("exports").permits(3) AROUND()->asio::awaitable<void> {
            runs = true;
            co_await pause(1h);
          });
        }(runs),
        rethrow);
    while (!runs && short_lived.run_one() != 0) {
    }
    EXPECT_TRUE(runs);
    EXPECT_EQ(semaphore.available(), 2);
  }
  expect_that_all_are_available();
}

}  // namespace
}  // namespace latchkey::tests
