// The strategies of a LOCKED around a coroutine whose lock is busy or lost.
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>

#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/thread_pool.hpp>

#include "asio/locked_fixture.hpp"
#include "support/failing_backend.hpp"

namespace latchkey::tests {
namespace {

using namespace std::chrono_literals;

/// The key "busy" is somebody else's.
class AsioLockedStrategies : public AsioLockedTest {
 protected:
  Hold theirs = locks.lock("busy").acquire(forever);
};

TEST_F(AsioLockedStrategies, Raise) {
  run(context, []() -> asio::awaitable<void> {
    EXPECT_THROW(co_await (LOCKED("busy", LockType::REENTRANT, 0ms) AROUND()->asio::awaitable<int> {
                   co_return 1;
                 }),
                 LockTimeout);
  }());
}

TEST_F(AsioLockedStrategies, Skip) {
  run(context, []() -> asio::awaitable<void> {
    const std::optional<int> none =
        co_await (LOCKED("busy", LockType::REENTRANT, 0ms)
                      .on_timeout(strategy::skip) AROUND()
                      ->asio::awaitable<std::optional<int>> { co_return 1; });
    EXPECT_EQ(none, std::nullopt);
    bool ran = false;
    co_await (LOCKED("busy", LockType::REENTRANT, 0ms)
                  .on_timeout(strategy::skip) AROUND()
                  ->asio::awaitable<void> {
                    ran = true;
                    co_return;
                  });
    EXPECT_FALSE(ran);
  }());
}

TEST_F(AsioLockedStrategies, SkipWith) {
  run(context, []() -> asio::awaitable<void> {
    const std::string text = co_await (LOCKED("busy", LockType::REENTRANT, 0ms)
                                           .on_timeout(strategy::skip_with("busy")) AROUND()
                                           ->asio::awaitable<std::string> { co_return "ran"; });
    EXPECT_EQ(text, "busy");
  }());
}

TEST_F(AsioLockedStrategies, FallbackTakesTheArguments) {
  run(context, []() -> asio::awaitable<void> {
    const int amount = 4;
    const auto twice = [](int value) { return 2 * value; };
    const int result = co_await (LOCKED("busy", LockType::REENTRANT, 0ms)
                                     .on_timeout(strategy::fallback(twice)) AROUND(amount)
                                     ->asio::awaitable<int> { co_return amount; });
    EXPECT_EQ(result, 8);
  }());
}

TEST_F(AsioLockedStrategies, RunUnlocked) {
  run(context, []() -> asio::awaitable<void> {
    const bool held = co_await (LOCKED("busy", LockType::REENTRANT, 0ms)
                                    .on_timeout(strategy::run_unlocked_dangerously) AROUND()
                                    ->asio::awaitable<bool> {
                                      co_await pause();
                                      co_return current_hold() != nullptr;
                                    });
    EXPECT_FALSE(held);
  }());
}

TEST_F(AsioLockedStrategies, When) {
  run(context, []() -> asio::awaitable<void> {
    const int amount = 4;
    const auto large = [](int value) { return value > 100; };
    EXPECT_EQ(co_await (LOCKED("busy", LockType::REENTRANT, 0ms)
                            .when(large) AROUND(amount)
                            ->asio::awaitable<int> { co_return amount; }),
              4);
    const int much = 400;
    EXPECT_THROW(co_await (LOCKED("busy", LockType::REENTRANT, 0ms)
                               .when(large) AROUND(much)
                               ->asio::awaitable<int> { co_return much; }),
                 LockTimeout);
  }());
}

TEST_F(AsioLockedStrategies, NoThrowSkips) {
  run(context, []() -> asio::awaitable<void> {
    EXPECT_EQ(co_await (LOCKED("busy", LockType::REENTRANT, 0ms)
                            .no_throw() AROUND()
                            ->asio::awaitable<std::optional<int>> { co_return 1; }),
              std::nullopt);
    const std::string empty;
    EXPECT_EQ(
        co_await (
            LOCKED("k:{empty}").no_throw() AROUND(empty)->asio::awaitable<std::optional<int>> {
              co_return 1;
            }),
        std::nullopt);
  }());
}

TEST_F(AsioLockedStrategies, UnavailableBackend) {
  Faults faults;
  const Locks failing(std::make_unique<FailingBackend>(faults));
  asio::thread_pool pool(1);
  use_thread_pool(failing, pool);
  faults.silent = true;
  run(context, [](Locks failing) -> asio::awaitable<void> {
    EXPECT_EQ(co_await (LOCKED("k", LockType::REENTRANT, 0ms)
                            .in(failing)
                            .on_unavailable(strategy::skip_with(7)) AROUND()
                            ->asio::awaitable<int> { co_return 1; }),
              7);
    EXPECT_THROW(
        co_await (
            LOCKED("other", LockType::REENTRANT, 0ms).in(failing)AROUND()->asio::awaitable<int> {
              co_return 1;
            }),
        BackendUnavailable);
  }(failing));
}

// The body's work is done, and what became of the lock is unknown.
TEST_F(AsioLockedStrategies, UnconfirmedRelease) {
  Faults faults;
  const Locks failing(std::make_unique<FailingBackend>(faults));
  asio::thread_pool pool(1);
  use_thread_pool(failing, pool);
  run(context, [](Locks failing, Faults& faults) -> asio::awaitable<void> {
    EXPECT_THROW(co_await (LOCKED("k")
                               .in(failing)
                               .on_unconfirmed_release(strategy::raise) AROUND()
                               ->asio::awaitable<void> {
                                 faults.silent = true;
                                 co_return;
                               }),
                 ReleaseUnconfirmed);
    faults.silent = false;
    EXPECT_EQ(co_await (LOCKED("other").in(failing)AROUND()->asio::awaitable<int> {
                faults.silent = true;
                co_return 1;
              }),
              1);
    faults.silent = false;
  }(failing, faults));
}

// --- loss ---

TEST_F(AsioLockedStrategies, LossCancelsTheBody) {
  const auto began = std::chrono::steady_clock::now();
  run(context, []() -> asio::awaitable<void> {
    bool aborted = false;
    EXPECT_THROW(
        co_await (LOCKED("k", LockType::REENTRANT, 0ms, 60ms) AROUND()->asio::awaitable<void> {
          try {
            co_await pause(20s);
          } catch (const boost::system::system_error& error) {
            aborted = error.code() == asio::error::operation_aborted;
            throw;
          }
        }),
        LockLost);
    EXPECT_TRUE(aborted);
  }());
  EXPECT_LT(std::chrono::steady_clock::now() - began, 10s);
}

TEST_F(AsioLockedStrategies, LossIsThrownThoughTheBodyHidIt) {
  run(context, []() -> asio::awaitable<void> {
    EXPECT_THROW(
        co_await (LOCKED("k", LockType::REENTRANT, 0ms, 60ms) AROUND()->asio::awaitable<int> {
          try {
            co_await pause(20s);
          } catch (const boost::system::system_error&) {
          }
          co_return 1;
        }),
        LockLost);
  }());
}

TEST_F(AsioLockedStrategies, LossEndsTheWaitForAnInnerLock) {
  run(context, []() -> asio::awaitable<void> {
    try {
      co_await (LOCKED("k", LockType::REENTRANT, 0ms, 60ms) AROUND()->asio::awaitable<void> {
        co_await (LOCKED("busy", LockType::REENTRANT, 20s) AROUND()->asio::awaitable<void> {
          co_return;
        });
      });
      ADD_FAILURE() << "nothing was thrown";
    } catch (const LockLost& error) {
      EXPECT_EQ(error.key(), "k");
    }
  }());
}

TEST_F(AsioLockedStrategies, ReportedLossLeavesTheBodyAlone) {
  run(context, []() -> asio::awaitable<void> {
    EXPECT_EQ(co_await (LOCKED("k", LockType::REENTRANT, 0ms, 60ms)
                            .on_lost(strategy::report) AROUND()
                            ->asio::awaitable<int> {
                              co_await pause(150ms);
                              co_return 1;
                            }),
              1);
  }());
}

// --- cancellation of the coroutine that awaits ---

TEST_F(AsioLockedStrategies, CancellationEndsTheWait) {
  using asio::experimental::awaitable_operators::operator||;  // not hidden by latchkey's
  run(context, []() -> asio::awaitable<void> {
    const auto wait = []() -> asio::awaitable<void> {
      EXPECT_THROW(
          co_await (LOCKED("busy", LockType::REENTRANT, 20s) AROUND()->asio::awaitable<void> {
            co_return;
          }),
          Cancelled);
    };
    co_await (wait() || pause(5ms));
  }());
}

TEST_F(AsioLockedStrategies, CancellationEndsTheBody) {
  using asio::experimental::awaitable_operators::operator||;  // not hidden by latchkey's
  run(context, [](Locks locks) -> asio::awaitable<void> {
    const auto work = []() -> asio::awaitable<void> {
      try {
        co_await (LOCKED("k") AROUND()->asio::awaitable<void> { co_await pause(20s); });
        ADD_FAILURE() << "nothing was thrown";
      } catch (const boost::system::system_error& error) {
        EXPECT_EQ(error.code(), asio::error::operation_aborted);
      }
    };
    co_await (work() || pause(5ms));
    EXPECT_EQ(holders_of(locks, "k"), 0U);
  }(locks));
}

TEST_F(AsioLockedStrategies, BodyThatFinishesDespiteACancellationGivesItsResult) {
  using asio::experimental::awaitable_operators::operator||;  // not hidden by latchkey's
  run(context, []() -> asio::awaitable<void> {
    const auto work = []() -> asio::awaitable<int> {
      co_return co_await (LOCKED("k") AROUND()->asio::awaitable<int> {
        try {
          co_await pause(20s);
        } catch (const boost::system::system_error&) {
        }
        co_return 3;
      });
    };
    const auto result = co_await (work() || pause(5ms));
    EXPECT_EQ(result.index(), 1U) << "the pause was the first";
  }());
}

TEST_F(AsioLockedStrategies, ContextThatEndsReleasesTheLock) {
  {
    asio::io_context ending;
    asio::co_spawn(
        ending,
        []() -> asio::awaitable<void> {
          co_await (LOCKED("k") AROUND()->asio::awaitable<void> { co_await pause(20s); });
        }(),
        rethrow);
    ending.run_for(20ms);
    EXPECT_EQ(holders_of(locks, "k"), 1U);
  }
  EXPECT_TRUE(locks.lock("k").try_acquire(5s));
}

}  // namespace
}  // namespace latchkey::tests
