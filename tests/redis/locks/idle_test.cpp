// Locks that a process keeps until another one wants them (Options::cache), on a real server.
// tidy: long-file because each way in which an idle lock begins and ends is one test
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <latchkey/decorate.hpp>
#include <latchkey/error.hpp>
#include <latchkey/locked.hpp>
#include <latchkey/locks.hpp>

#include "support/event_counter.hpp"
#include "support/idle_locks.hpp"
#include "support/recorder.hpp"
#include "support/servers/fault_proxy.hpp"
#include "support/servers/redis_server.hpp"

namespace latchkey::tests {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using enum LockType;

class RedisIdle : public IdleLocksTest {
 protected:
  void SetUp() override {
    if (!connect().capabilities().recalls) GTEST_SKIP() << "the server does not tell of waiters";
  }

  [[nodiscard]] Locks connect(Options options = {}) const {
    return Locks::connect(server_.tcp_uri(), options);
  }
  [[nodiscard]] Locks keeping(std::chrono::milliseconds cache = long_time) const {
    return connect({.cache = cache});
  }
  bool is_locked(std::string_view key) { return client_({"EXISTS", key}).integer() == 1; }
  bool await_free(std::string_view key) {
    return eventually([&] { return !is_locked(key); });
  }
  /// Whether the lock ends soon if this process does.
  bool await_short_lease(std::string_view key) {
    return eventually([&] { return client_({"PTTL", key}).integer() <= 1'000; });
  }

  RedisServer server_;
  RedisClient client_ = server_.client();
};

TEST_F(RedisIdle, ManyCallsOfAProcessAskTheServerOnce) {
  const Locks locks = keeping();
  for (const LockType type : {REENTRANT, READ, WRITE}) {
    const std::string key(to_string(type));
    use(locks, key, type);
    client_({"CONFIG", "RESETSTAT"});
    for (int call = 0; call < 1'000; ++call) use(locks, key, type);
    EXPECT_LE(client_.calls("evalsha") + client_.calls("eval"), 20) << key;
    EXPECT_TRUE(is_locked(key));
    EXPECT_TRUE(await_short_lease(key)) << "others wait no longer if this process dies";
  }
}

TEST_F(RedisIdle, WithoutTheOptionTheLockIsFreeOnceItIsReleased) {
  const Locks locks = connect();
  use(locks, "k");
  EXPECT_FALSE(is_locked("k"));
}

TEST_F(RedisIdle, ItIsFreeWhenItsTimeIsOver) {
  const Locks locks = keeping(200ms);
  use(locks, "k");
  EXPECT_TRUE(await_free("k"));
}

// If this process dies, others wait for the rest.
TEST_F(RedisIdle, OthersWaitNoLongerThanASecondForWhatADeadProcessKept) {
  const Locks locks = keeping();
  for (const LockType type : {REENTRANT, READ, WRITE, FENCED}) {
    const std::string key(to_string(type));
    use(locks, key, type);
    EXPECT_TRUE(await_short_lease(key)) << key;
  }
  int looks = 0, kept = 0;
  const auto end = std::chrono::steady_clock::now() + 2s;
  while (std::chrono::steady_clock::now() < end) {
    for (const LockType type : {REENTRANT, READ, WRITE, FENCED}) {
      const long long left = client_({"PTTL", to_string(type)}).integer();
      ASSERT_LE(left, 1'000) << to_string(type);
      ++looks;
      kept += left > 0 ? 1 : 0;
    }
    std::this_thread::sleep_for(20ms);  // sleeps: between looks at the server
  }
  EXPECT_GT(kept, looks * 3 / 4) << "its lease is renewed while it is kept";
}

TEST_F(RedisIdle, WithAdaptiveAKeyIsKeptThatIsUsedAgainSoon) {
  const Locks locks = keeping(adaptive_cache);
  use(locks, "k");
  EXPECT_FALSE(is_locked("k")) << "nothing is known yet";
  client_({"CONFIG", "RESETSTAT"});
  for (int call = 0; call < 200; ++call) use(locks, "k");
  EXPECT_LE(client_.calls("evalsha") + client_.calls("eval"), 40);
  EXPECT_TRUE(await_free("k"));
}

TEST_F(RedisIdle, ATryOfAnotherProcessGetsNothing) {
  const Locks locks = keeping(), other = connect();
  use(locks, "k");
  EXPECT_EQ(other.lock("k").try_acquire(), std::nullopt);
}

TEST_F(RedisIdle, AProcessThatWaitsGetsItAtOnce) {
  const Locks locks = keeping(), other = connect();
  for (const LockType type : {REENTRANT, FENCED, WRITE, FAIR}) {
    const std::string key = "for " + std::string(to_string(type));
    use(locks, key);
    ASSERT_TRUE(await_short_lease(key));
    EXPECT_TRUE(is_soon([&] { use(other, key, type); })) << key;
  }
}

TEST_F(RedisIdle, AProcessThatWaitsBeforeItIsIdleGetsItAtOnce) {
  const Locks locks = keeping();
  Recorder waits;
  const Locks waiter = connect({.listener = &waits});
  Hold hold = locks.lock("k").acquire();
  EXPECT_TRUE(is_soon([&] {
    std::jthread call([&] { use(waiter, "k"); });
    EXPECT_TRUE(waits.await(Event::Kind::waiting));
    EXPECT_TRUE(hold.release());
  }));
}

TEST_F(RedisIdle, AfterARecallItIsReleasedAtOnceForAWhile) {
  const Locks locks = keeping(), other = connect();
  use(locks, "k");
  use(other, "k");
  use(locks, "k");
  EXPECT_TRUE(is_soon([&] { EXPECT_TRUE(await_free("k")); }));
}

TEST_F(RedisIdle, ASubscriberThatListensAlreadyIsSeen) {
  const Locks locks = keeping();
  RedisClient waiter = server_.client();
  Hold hold = locks.lock("k").acquire();
  waiter({"SUBSCRIBE", "redisson_lock__channel:{k}"});
  EXPECT_TRUE(hold.release());
  EXPECT_TRUE(is_soon([&] { EXPECT_TRUE(await_free("k")); }));
}

// Redisson writes nothing while it waits: it subscribes.
TEST_F(RedisIdle, ASubscriberThatListensLaterIsSeen) {
  const Locks locks = keeping();
  RedisClient waiter = server_.client();
  for (const std::string key : {"redisson_lock__channel", "redisson_rwlock"}) {
    use(locks, key);
    EXPECT_TRUE(await_short_lease(key));
    waiter({"SUBSCRIBE", key + ":{" + key + "}"});
    EXPECT_TRUE(is_soon([&] { EXPECT_TRUE(await_free(key)); })) << key;
  }
}

TEST_F(RedisIdle, ProcessesReadAndKeepTogether) {
  const Locks locks = keeping(), other = keeping(), third = connect();
  for (int round = 0; round < 10; ++round) {
    use(locks, "k", READ);
    use(other, "k", READ);
    use(third, "k", READ);
  }
  client_({"CONFIG", "RESETSTAT"});
  for (int call = 0; call < 500; ++call) {
    use(locks, "k", READ);
    use(other, "k", READ);
  }
  EXPECT_LE(client_.calls("evalsha") + client_.calls("eval"), 20);
}

TEST_F(RedisIdle, AWriteRecallsTheReadsOfAllProcesses) {
  const Locks first = keeping(), second = keeping(), third = keeping(), writer = connect();
  for (const Locks* const each : {&first, &second, &third}) use(*each, "k", READ);
  EXPECT_EQ(writer.lock("k", WRITE).try_acquire(), std::nullopt);
  EXPECT_TRUE(is_soon([&] { use(writer, "k", WRITE); }));
  EXPECT_FALSE(is_locked("k"));
}

TEST_F(RedisIdle, AReadThatOthersDeletedIsNotTakenForLong) {
  const Locks locks = keeping();
  use(locks, "k", READ);
  ASSERT_TRUE(await_short_lease("k"));
  client_({"DEL", "k"});
  EXPECT_TRUE(eventually([&] {  // each call asks whether the lock is there
    static_cast<void>(locks.acquire("k", {.type = READ}));
    return is_locked("k");
  }));
}

TEST_F(RedisIdle, AReadGetsItAtOnce) {
  const Locks locks = keeping(), other = connect();
  use(locks, "k", WRITE);
  EXPECT_TRUE(is_soon([&] { use(other, "k", READ); }));
}

TEST_F(RedisIdle, EachCallHasAFencingTokenOfItsOwn) {
  const Locks locks = keeping(), other = connect();
  std::uint64_t last = 0;
  const auto rises = [&](const Locks& whose) {
    const Hold hold = whose.acquire("k", {.type = FENCED});
    const std::uint64_t token = hold.fencing_token().value_or(0);
    EXPECT_GT(token, last);
    last = token;
  };
  for (int call = 0; call < 600; ++call) rises(locks);
  rises(other);
  rises(locks);
}

TEST_F(RedisIdle, CloseAndTheDestructorGiveItBack) {
  {
    const Locks locks = keeping();
    use(locks, "k");
    EXPECT_TRUE(is_locked("k"));
  }
  EXPECT_FALSE(is_locked("k")) << "the destructor waits for the reply";
  Locks locks = keeping();
  use(locks, "k");
  locks.close(0ms);
  EXPECT_FALSE(is_locked("k"));
}

TEST_F(RedisIdle, WhatIsForcedOrDeletedIsNotTakenAgain) {
  const Locks locks = keeping();
  use(locks, "k");
  locks.force_release("k");
  Hold hold = locks.lock("k").acquire();
  EXPECT_TRUE(is_locked("k"));
  EXPECT_TRUE(hold.release());
  const Locks other = connect();
  ASSERT_TRUE(await_short_lease("k"));
  other.force_release("k");
  EXPECT_TRUE(eventually([&] {  // a call that comes before the server's message loses the lock
    static_cast<void>(locks.acquire("k", {}));
    return is_locked("k");
  }));
}

TEST_F(RedisIdle, ALostConnectionGivesItBack) {
  FaultProxy proxy(server_.port());
  Recorder recorder(false);
  const Locks locks = Locks::connect(proxy.uri(), {.cache = long_time, .listener = &recorder});
  use(locks, "k");
  proxy.cut();
  ASSERT_TRUE(recorder.await(Event::Kind::connection_restored));
  EXPECT_TRUE(is_soon([&] { EXPECT_TRUE(await_free("k")); }));
  EXPECT_EQ(recorder.count(Event::Kind::lost), 0U);
}

TEST_F(RedisIdle, OthersReadThatTheProcessKeepsIt) {
  const Locks locks = connect({.announce = true, .cache = long_time});
  const auto announced = [&] { return locks.inspect("k").holders.at(0).announced; };
  for (const LockType type : {REENTRANT, WRITE}) {
    Hold hold = locks.lock("k", type).acquire();
    EXPECT_TRUE(eventually([&] { return announced().starts_with("a program on "); }));
    EXPECT_TRUE(hold.release());
    EXPECT_TRUE(eventually([&] { return announced().starts_with("the cache on "); }));
    EXPECT_THAT(announced(), HasSubstr("process " + std::to_string(::getpid()) + " ("));
    static_cast<void>(locks.force_release("k"));
  }
}

TEST_F(RedisIdle, ACallCanSayForHowLongItsLockIsKept) {
  const Locks plain = connect();
  EXPECT_TRUE(plain.lock("k").acquire(0ms, Lease(30s).cache(long_time)).release());
  EXPECT_TRUE(await_short_lease("k"));
  EXPECT_TRUE(plain.lock("k").acquire(0ms, 30s).release()) << "which takes the idle lock";
  EXPECT_TRUE(await_free("k")) << "and says nothing of a cache";
  const Locks keeping_all = keeping();
  use(keeping_all, "other");
  EXPECT_TRUE(is_locked("other"));
  EXPECT_TRUE(keeping_all.lock("mine").acquire(0ms, Lease(30s).cache(0ms)).release());
  EXPECT_TRUE(await_free("mine"));
}

TEST_F(RedisIdle, ADecoratedMethodCanSayIt) {
  const Locks locks = connect();
  const auto call = [&](std::string_view key) {
    LOCKED("{key}", WRITE, 0s, 30s).in(locks).cache(long_time) AROUND(key){};
  };
  call("k");
  EXPECT_TRUE(await_short_lease("k"));
  EXPECT_TRUE(is_locked("k"));
}

TEST_F(RedisIdle, TheListenerIsToldOfEachUseAndOfTheRecall) {
  Recorder recorder;
  const Locks locks = connect({.cache = long_time, .listener = &recorder});
  for (int call = 0; call < 3; ++call) use(locks, "k");
  EXPECT_TRUE(await_short_lease("k"));
  use(connect(), "k");
  ASSERT_TRUE(recorder.await(Event::Kind::recalled));
  EXPECT_EQ(recorder.of(Event::Kind::recalled).front().key, "k");
  std::string cached;
  for (const Event& event : recorder.of(Event::Kind::granted)) cached += event.cached ? "1" : "0";
  EXPECT_EQ(cached, "011");
  EXPECT_EQ(recorder.count(Event::Kind::released), 3U) << "a recall ends no hold";
  for (const Event& event : recorder.of(Event::Kind::released)) {
    EXPECT_EQ(event.owner, recorder.of(Event::Kind::granted).front().owner);
  }
}

TEST_F(RedisIdle, AServerThatDoesNotTellRefusesACallsCache) {
  const Locks locks = connect({.watch_holds = false});
  try {
    static_cast<void>(locks.lock("k").acquire(0ms, Lease(30s).cache(1s)));
    FAIL() << "nothing was thrown";
  } catch (const std::invalid_argument& error) {
    EXPECT_THAT(error.what(), HasSubstr("CLIENT TRACKING (Lease::cache)"));
  }
}

TEST_F(RedisIdle, AStoreThatTellsNothingRefusesTheOption) {
  const auto refusal = [](const std::string& uri, Options options) -> std::string {
    options.cache = 100ms;
    try {
      static_cast<void>(Locks::connect(uri, options));
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return {};
  };
  const std::string why =
      " does not tell of those who wait for an idle lock; a Redis 7.0.5 or later does, with "
      "Options::watch_holds, without min_replicas, for a user who may use CLIENT TRACKING "
      "(Options::cache)";
  EXPECT_THAT(refusal(server_.tcp_uri(), {.watch_holds = false}), HasSubstr(why));
  EXPECT_THAT(refusal("redis+set://127.0.0.1:" + std::to_string(server_.port()), {}),
              HasSubstr(why));
  EXPECT_EQ(refusal("memory:", {}), "");
}

// Whether it tells is known from the first connection on.
TEST_F(RedisIdle, AServerThatWasAwayAtFirstTellsOnceItIsThere) {
  for (const bool watches : {true, false}) {
    server_.kill();
    Recorder recorder;
    const Locks locks = connect({.startup = Startup::allow_down,
                                 .watch_holds = watches,
                                 .cache = long_time,
                                 .listener = &recorder});
    EXPECT_THROW(static_cast<void>(locks.lock("k").try_acquire(0ms)), BackendUnavailable);
    server_.start();
    client_ = server_.client();
    EXPECT_TRUE(eventually([&] {
      try {
        use(locks, "k");
      } catch (const BackendUnavailable&) {
        return false;
      }
      return is_locked("k") == watches;
    }));
    // That it cannot be reached, and that it does not tell.
    const std::size_t warnings = watches ? 1 : 2;
    EXPECT_TRUE(eventually([&] { return recorder.count(Event::Kind::warning) == warnings; }));
  }
}

TEST_F(RedisIdle, TheLeastRecentlyUsedGoFirst) {
  Recorder recorder;
  const Locks locks = connect({.cache = long_time, .cache_size = 512, .listener = &recorder});
  constexpr int others = 1'500;
  for (int number = 0; number < others; ++number) {
    use(locks, "hot");
    use(locks, "other:" + std::to_string(number));
  }
  EXPECT_TRUE(eventually([&] { return client_({"DBSIZE"}).integer() <= 512; }));
  EXPECT_TRUE(is_locked("hot"));
  EXPECT_FALSE(is_locked("other:0"));
  EXPECT_TRUE(is_locked("other:" + std::to_string(others - 1)));
  EXPECT_TRUE(locks.flush(10s));
  const std::vector<Event> granted = recorder.of(Event::Kind::granted);
  // All uses of the hot key but the first, and those after one that was interrupted for so long
  // that its renewal was under way.
  EXPECT_GE(std::ranges::count_if(granted, [](const Event& each) { return each.cached; }),
            others * 99 / 100);
}

TEST_F(RedisIdle, TheNumberAndTheTimeHaveLimits) {
  for (const std::uint32_t wrong : {0U, 4'097U}) {
    EXPECT_THROW(static_cast<void>(connect({.cache_size = wrong})), std::invalid_argument);
  }
  EXPECT_THROW(static_cast<void>(keeping(10'001ms)), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(keeping(-1ms)), std::invalid_argument);
}

}  // namespace
}  // namespace latchkey::tests
