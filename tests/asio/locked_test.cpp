// LOCKED around coroutines: results, arguments and strategies.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/dispatch.hpp>

#include "asio/locked_fixture.hpp"

namespace latchkey::tests {
namespace {

using namespace std::chrono_literals;

struct Account {
  int id = 0;
};

using AsioLocked = AsioLockedTest;

TEST_F(AsioLocked, BodyRunsUnderTheLockAndGivesItsResult) {
  run(context, [](Locks locks) -> asio::awaitable<void> {
    const Account account{7};
    const std::string result =
        co_await (LOCKED("account:{account.id}", LockType::WRITE, 1s, 30s) AROUND(account)
                      ->asio::awaitable<std::string> {
                        EXPECT_EQ(holders_of(locks, "account:7"), 1U);
                        co_await pause();
                        EXPECT_EQ(holders_of(locks, "account:7"), 1U);
                        co_return "done";
                      });
    EXPECT_EQ(result, "done");
    EXPECT_EQ(holders_of(locks, "account:7"), 0U);
  }(locks));
}

TEST_F(AsioLocked, ResultMayBeVoidOrMoveOnly) {
  run(context, []() -> asio::awaitable<void> {
    int runs = 0;
    co_await (LOCKED("k") AROUND()->asio::awaitable<void> {
      ++runs;
      co_return;
    });
    EXPECT_EQ(runs, 1);
    const auto value = co_await (LOCKED("k") AROUND()->asio::awaitable<std::unique_ptr<int>> {
      co_return std::make_unique<int>(5);
    });
    EXPECT_EQ(*value, 5);
  }());
}

TEST_F(AsioLocked, ResultNeedsNoDefaultConstructor) {
  struct Receipt {
    explicit Receipt(int given) : number(given) {}
    int number;
  };
  run(context, []() -> asio::awaitable<void> {
    const Receipt receipt =
        co_await (LOCKED("k") AROUND()->asio::awaitable<Receipt> { co_return Receipt(3); });
    EXPECT_EQ(receipt.number, 3);
  }());
}

TEST_F(AsioLocked, BodiesExcludeEachOtherOnOneThread) {
  int inside = 0;
  int runs = 0;
  for (int each = 0; each < 20; ++each) {
    asio::co_spawn(
        context,
        [](int& inside, int& runs) -> asio::awaitable<void> {
          co_await (LOCKED("k", LockType::REENTRANT, 10s) AROUND()->asio::awaitable<void> {
            EXPECT_EQ(inside++, 0);
            co_await pause();
            --inside;
            ++runs;
          });
        }(inside, runs),
        rethrow);
  }
  context.run();
  EXPECT_EQ(runs, 20);
}

TEST_F(AsioLocked, ExceptionOfTheBodyReleasesTheLock) {
  run(context, [](Locks locks) -> asio::awaitable<void> {
    try {
      co_await (LOCKED("k") AROUND()->asio::awaitable<void> {
        co_await pause();
        throw std::runtime_error("of the body");
      });
      ADD_FAILURE() << "the exception was lost";
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "of the body");
    }
    EXPECT_EQ(holders_of(locks, "k"), 0U);
  }(locks));
}

TEST_F(AsioLocked, ErrorsSayWhetherTheBodyRan) {
  run(context, [](Locks locks) -> asio::awaitable<void> {
    const Hold theirs = locks.lock("busy").acquire(forever);
    try {
      co_await (LOCKED("outer") AROUND()->asio::awaitable<void> {
        co_await (LOCKED("busy", LockType::REENTRANT, 5ms) AROUND()->asio::awaitable<void> {
          ADD_FAILURE() << "the body ran without its lock";
          co_return;
        });
      });
      ADD_FAILURE() << "nothing was thrown";
    } catch (const LockTimeout& error) {
      EXPECT_EQ(error.key(), "busy");
      EXPECT_TRUE(error.body_ran()) << "the outer one has";
      EXPECT_NE(error.method().find("ErrorsSayWhetherTheBodyRan"), std::string::npos)
          << error.method();
    }
  }(locks));
}

TEST_F(AsioLocked, SeveralKeysAreHeldTogether) {
  run(context, [](Locks locks) -> asio::awaitable<void> {
    const Account from{1};
    const Account to{2};
    const std::vector<int> ids{3, 4};
    co_await (LOCKED(KEYS("account:{from.id}", "account:{to.id}", "account:{ids[*]}"),
                     LockType::WRITE) AROUND(from, to, ids)
                  ->asio::awaitable<void> {
                    for (const char* key : {"account:1", "account:2", "account:3", "account:4"}) {
                      EXPECT_EQ(holders_of(locks, key), 1U) << key;
                      EXPECT_NO_THROW(assert_held(key));
                    }
                    co_return;
                  });
    EXPECT_TRUE(locks.list().empty());
  }(locks));
}

TEST_F(AsioLocked, KeyErrorIsThrownBeforeTheBody) {
  run(context, []() -> asio::awaitable<void> {
    const std::string empty;
    EXPECT_THROW(co_await (LOCKED("k:{empty}") AROUND(empty)->asio::awaitable<void> {
                   ADD_FAILURE() << "the body ran";
                   co_return;
                 }),
                 KeyError);
  }());
}

TEST_F(AsioLocked, HandedOnOwnerReenters) {
  run(context, [](Locks mine) -> asio::awaitable<void> {
    int depth = 0;
    co_await (LOCKED("k").in(mine)AROUND()->asio::awaitable<void> {
      ++depth;
      co_await (LOCKED("k", LockType::REENTRANT, 0ms).in(mine)AROUND()->asio::awaitable<void> {
        ++depth;
        co_await pause();
      });
      EXPECT_EQ(holders_of(mine, "k"), 1U);
      EXPECT_THROW(co_await (LOCKED("k", LockType::REENTRANT, 0ms)
                                 .in(mine)
                                 .reentry(Reentry::refuse) AROUND()
                                 ->asio::awaitable<void> { co_return; }),
                   WouldDeadlock);
    });
    EXPECT_EQ(depth, 2);
    EXPECT_EQ(holders_of(mine, "k"), 0U);
  }(locks.with_owner(Owner::make())));
}

// It ran on a strand of its own, at the same time as coroutines that the outer body had spawned.
TEST_F(AsioLocked, BodyOfACallInsideABodySharesItsStrand) {
  run(context, []() -> asio::awaitable<void> {
    co_await (LOCKED("outer") AROUND()->asio::awaitable<void> {
      const asio::any_io_executor outer = co_await asio::this_coro::executor;
      bool shares = false;
      co_await (LOCKED("inner") AROUND()->asio::awaitable<void> {
        co_await pause();
        asio::dispatch(outer, [&] { shares = true; });
        EXPECT_TRUE(shares) << "what runs on the same strand runs at once";
      });
      EXPECT_TRUE(shares);
    });
  }());
}

TEST_F(AsioLocked, HeldAtMostLimitsTheWatchdog) {
  run(context, [](Locks locks) -> asio::awaitable<void> {
    co_await (LOCKED("k", LockType::WRITE, 1s, watchdog)
                  .held_at_most(10s) AROUND()
                  ->asio::awaitable<void> {
                    EXPECT_LE(*locks.inspect("k").holders.front().left, 11s);
                    co_return;
                  });
    Hold hold = co_await async_acquire(locks.lock("k"), 1s, watchdog.held_at_most(10s),
                                       asio::use_awaitable);
    EXPECT_LE(hold.remaining(), 10s);
    EXPECT_FALSE(co_await async_extend(hold, 20s, asio::use_awaitable));
    EXPECT_FALSE(hold.lost());
  }(locks));
}

TEST_F(AsioLocked, LockDelayKeepsTheLockForLongerThanItsHolderBelieves) {
  run(context, [](Locks locks) -> asio::awaitable<void> {
    co_await (LOCKED("k", LockType::WRITE, 1s, 10s).lock_delay(1h) AROUND()->asio::awaitable<void> {
      EXPECT_GT(*locks.inspect("k").holders.front().left, 1h);
      EXPECT_LE(current_hold()->remaining(), 10s);
      co_return;
    });
    EXPECT_TRUE(locks.inspect("k").holders.empty()) << "the body has ended";
    Lock both = locks.all_of({locks.lock("a"), locks.lock("b")});
    const Hold hold =
        co_await async_acquire(both, 1s, Lease(10s).lock_delay(1h), asio::use_awaitable);
    EXPECT_GT(*locks.inspect("a").holders.front().left, 1h);
    EXPECT_GT(*locks.inspect("b").holders.front().left, 1h);
  }(locks));
}

TEST_F(AsioLocked, FencedGivesAWriteAndEachOfSeveralKeysAToken) {
  run(context, [](Locks) -> asio::awaitable<void> {
    std::uint64_t first = 0;
    co_await (LOCKED("b", LockType::WRITE).fenced() AROUND()->asio::awaitable<void> {
      first = current_hold()->fencing_token().value_or(0);
      EXPECT_EQ(current_hold()->fence()->type, LockType::WRITE);
      co_return;
    });
    EXPECT_GT(first, 0U);
    co_await (LOCKED(KEYS("b", "a")).fenced() AROUND()->asio::awaitable<void> {
      EXPECT_EQ(current_hold()->type(), LockType::FENCED);
      EXPECT_GT(current_hold()->fencing_token(std::size_t{0}), first);
      EXPECT_EQ(current_hold()->fence(std::size_t{1})->key, "a");
      co_return;
    });
  }(locks));
}

TEST_F(AsioLocked, HoldForKeepsTheKeyLocked) {
  run(context, [](Locks locks) -> asio::awaitable<void> {
    co_await (LOCKED("k").hold_for(10s) AROUND()->asio::awaitable<void> { co_return; });
    EXPECT_FALSE(co_await async_try_acquire(locks.lock("k"), 0ms, 30s, asio::use_awaitable));
  }(locks));
}

}  // namespace
}  // namespace latchkey::tests
