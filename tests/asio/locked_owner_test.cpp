// Whose hold it is: what code inside a coroutine finds, on whichever thread it runs.
#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <string>
#include <thread>

#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>

#include "asio/locked_fixture.hpp"
#include "support/recorder.hpp"

namespace latchkey::tests {
namespace {

using namespace std::chrono_literals;

using AsioLockedOwner = AsioLockedTest;

/// Resumes the coroutine on another thread than the one that it runs on.
asio::awaitable<void> hop(asio::thread_pool& pool) {
  const std::thread::id before = std::this_thread::get_id();
  while (std::this_thread::get_id() == before) {
    co_await asio::post(pool.get_executor(), asio::use_awaitable);
    co_await asio::post(co_await asio::this_coro::executor, asio::use_awaitable);
  }
}

TEST_F(AsioLockedOwner, HoldIsCurrentOnEveryThread) {
  asio::thread_pool pool(2);
  std::atomic<int> hops = 0;
  for (int each = 0; each < 8; ++each) {
    asio::co_spawn(
        pool,
        [](asio::thread_pool& pool, int each, std::atomic<int>& hops) -> asio::awaitable<void> {
          const std::string key = "k" + std::to_string(each);
          co_await (LOCKED("k{each}") AROUND(each)->asio::awaitable<void> {
            for (int round = 0; round < 10; ++round) {
              EXPECT_EQ(current_hold()->key(), key);
              EXPECT_NO_THROW(ASSERT_HELD("k{each}", each));
              co_await hop(pool);
              ++hops;
            }
          });
          EXPECT_EQ(current_hold(), nullptr);
          EXPECT_THROW(assert_held(key), NotHeld);
        }(pool, each, hops),
        rethrow);
  }
  pool.join();
  EXPECT_EQ(hops, 80);
}

TEST_F(AsioLockedOwner, OtherCoroutinesOfTheThreadHoldNothing) {
  bool held = false;
  asio::co_spawn(
      context,
      [](bool& held) -> asio::awaitable<void> {
        co_await (LOCKED("k") AROUND()->asio::awaitable<void> {
          held = true;
          co_await pause(20ms);
          held = false;
          EXPECT_NE(current_hold(), nullptr);
        });
      }(held),
      rethrow);
  asio::co_spawn(
      context,
      [](bool& held) -> asio::awaitable<void> {
        while (!held) co_await pause();
        EXPECT_EQ(current_hold(), nullptr);
        EXPECT_THROW(assert_held("k"), NotHeld);
      }(held),
      rethrow);
  context.run();
}

TEST_F(AsioLockedOwner, NestedCallsSeeTheHoldsAroundThem) {
  run(context, []() -> asio::awaitable<void> {
    co_await (LOCKED("outer") AROUND()->asio::awaitable<void> {
      co_await (LOCKED("inner") AROUND()->asio::awaitable<void> {
        co_await pause();
        EXPECT_EQ(current_hold()->key(), "inner");
        EXPECT_NO_THROW(assert_held("outer"));
        const int result = LOCKED("blocking", LockType::REENTRANT, 0ms) AROUND() {
          EXPECT_EQ(current_hold()->key(), "blocking");
          EXPECT_NO_THROW(assert_held("outer"));
          return 1;
        };
        EXPECT_EQ(result, 1);
        EXPECT_EQ(current_hold()->key(), "inner");
      });
      EXPECT_EQ(current_hold()->key(), "outer");
      EXPECT_THROW(assert_held("inner"), NotHeld);
    });
    EXPECT_EQ(current_hold(), nullptr);
  }());
}

TEST_F(AsioLockedOwner, HoldIsCurrentOnAStrandAndInWhatTheBodyAwaits) {
  const auto strand = asio::make_strand(context);
  asio::co_spawn(
      strand,
      []() -> asio::awaitable<void> {
        co_await (LOCKED("k") AROUND()->asio::awaitable<void> {
          const auto helper = []() -> asio::awaitable<void> {
            co_await pause();
            EXPECT_NO_THROW(assert_held("k"));
          };
          co_await helper();
          co_await asio::co_spawn(co_await asio::this_coro::executor, helper(),
                                  asio::use_awaitable);
        });
      }(),
      rethrow);
  context.run();
}

// Its executor remembers the call, but not as one that holds.
TEST_F(AsioLockedOwner, CoroutineThatOutlivesTheBodyHoldsNothing) {
  int checked = 0;
  run(context, [](int& checked) -> asio::awaitable<void> {
    const auto late = [](int& checked) -> asio::awaitable<void> {
      co_await pause(20ms);
      EXPECT_EQ(current_hold(), nullptr);
      ++checked;
      co_await (LOCKED("other") AROUND()->asio::awaitable<void> {
        EXPECT_EQ(current_hold()->key(), "other");
        EXPECT_THROW(assert_held("k"), NotHeld);
        ++checked;
        co_return;
      });
    };
    co_await (LOCKED("k") AROUND()->asio::awaitable<void> {
      asio::co_spawn(co_await asio::this_coro::executor, late(checked), asio::detached);
    });
  }(checked));
  EXPECT_EQ(checked, 2);
}

TEST_F(AsioLockedOwner, LockOrderIsCheckedAfterHops) {
  Recorder recorder;
  const Locks checked = Locks::connect("memory:", {.check_order = true, .listener = &recorder});
  asio::thread_pool pool(2);
  asio::co_spawn(
      pool,
      [](asio::thread_pool& pool, Locks checked) -> asio::awaitable<void> {
        co_await (LOCKED("first").in(checked)AROUND()->asio::awaitable<void> {
          co_await hop(pool);
          co_await (LOCKED("second").in(checked)AROUND()->asio::awaitable<void> { co_return; });
        });
        co_await (LOCKED("second").in(checked)AROUND()->asio::awaitable<void> {
          co_await hop(pool);
          co_await (LOCKED("first").in(checked)AROUND()->asio::awaitable<void> { co_return; });
        });
      }(pool, checked),
      rethrow);
  pool.join();
  checked.flush(5s);
  EXPECT_EQ(recorder.count(Event::Kind::order), 1U);
}

TEST_F(AsioLockedOwner, BlockingCallInABodyIsReportedOnce) {
  Recorder recorder;
  const Locks watched = Locks::connect("memory:", {.listener = &recorder});
  const Hold theirs = watched.with_owner(Owner::make()).lock("busy").acquire(forever);
  run(context, [](Locks watched) -> asio::awaitable<void> {
    for (int round = 0; round < 2; ++round) {
      co_await (LOCKED("k").in(watched)AROUND()->asio::awaitable<void> {
        co_await pause();
        EXPECT_FALSE(watched.lock("busy").try_acquire(5ms).has_value());
      });
    }
  }(watched));
  watched.flush(5s);
  EXPECT_EQ(recorder.count(Event::Kind::warning), 1U);
}

}  // namespace
}  // namespace latchkey::tests
