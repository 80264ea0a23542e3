// Locks shared by C++ and Java: real Redisson on the other side.
#include "interop/interop.hpp"
#include "support/stalls.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace latchkey::tests {
namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

TEST_P(Exclusive, JavaAndCppExcludeEachOther) {
  for (const std::string& key : keys()) {
    {
      const Hold hold = held(key).acquire(0ms, 30s);
      EXPECT_EQ(java("a", "try", wanted_, key, "0 1000"), "false");
      EXPECT_EQ(java("a", "locked", held_, key), "true");
    }
    ASSERT_EQ(java("a", "try", held_, key, "0 30000"), "true");
    EXPECT_FALSE(wanted(key).try_acquire());
    EXPECT_EQ(java("a", "unlock", held_, key), "true");
    EXPECT_TRUE(wanted(key).try_acquire());
  }
}

TEST_P(Exclusive, AReleaseWakesTheOtherSide) {
  std::vector<Duration> cpp, other;
  for (int round = 0; round < 5; ++round) {
    for (const std::string& key : keys()) {
      ASSERT_EQ(java("a", "try", held_, key, "0 30000"), "true");
      auto granted = start_cpp(key, wanted_);
      await_listeners(key, wanted_, 1);
      const auto released = steady_clock::now();
      EXPECT_EQ(java("a", "unlock", held_, key), "true");
      cpp.push_back(granted.get() - released);
      await_listeners(key, wanted_, 0);

      std::optional<Hold> hold = held(key).acquire(0ms, 30s);
      auto answer = start_java("b", "try", wanted_, key, "20000 30000");
      await_listeners(key, wanted_, 1);
      const auto ours = steady_clock::now();
      hold.reset();
      EXPECT_EQ(answer.get(), "true");
      other.push_back(steady_clock::now() - ours);
      EXPECT_EQ(java("b", "unlock", wanted_, key), "true");
      await_listeners(key, wanted_, 0);
    }
  }
  expect_woken("C++ by Java", cpp);
  expect_woken("Java by C++", other);
}

TEST_P(Exclusive, ReentriesAreCountedOnBothSides) {
  for (const std::string& key : keys()) {
    ASSERT_EQ(java("a", "try", held_, key, "0 30000"), "true");
    ASSERT_EQ(java("a", "try", held_, key, "0 30000"), "true");
    EXPECT_EQ(java("a", "count", held_, key), "2");
    EXPECT_EQ(java("a", "unlock", held_, key), "true");
    EXPECT_FALSE(wanted(key).try_acquire());
    EXPECT_EQ(java("a", "unlock", held_, key), "true");

    std::optional<Hold> outer = held(key).acquire(0ms, 30s);
    std::optional<Hold> inner = held(key).acquire(0ms, 30s);
    inner.reset();
    EXPECT_EQ(java("a", "try", wanted_, key, "0 1000"), "false");
    outer.reset();
    EXPECT_EQ(java("a", "try", wanted_, key, "0 1000"), "true");
    EXPECT_EQ(java("a", "unlock", wanted_, key), "true");
  }
}

TEST_P(Exclusive, AnExpiredLeaseGrantsTheLockToTheOtherSide) {
  for (const std::string& key : keys()) {
    ASSERT_EQ(java("a", "try", held_, key, "0 300"), "true");
    EXPECT_TRUE(wanted(key).try_acquire(20s, 30s));

    const Hold hold = held(key).acquire(0ms, 300ms);
    EXPECT_EQ(java("b", "try", wanted_, key, "20000 30000"), "true");
    EXPECT_TRUE(hold.lost()) << "it knew before the other was in";
    EXPECT_EQ(java("b", "unlock", wanted_, key), "true");
  }
}

TEST_P(Exclusive, AForcedReleaseByTheOtherSideIsDetected) {
  std::vector<Hold> holds;
  for (const std::string& key : keys()) holds.push_back(held(key).acquire(0ms, 3s));
  for (const std::string& key : keys()) EXPECT_EQ(java("a", "force", held_, key), "true");
  for (const Hold& hold : holds) EXPECT_TRUE(eventually([&] { return hold.lost(); }));

  for (const std::string& key : keys()) {
    ASSERT_EQ(java("a", "try", held_, key, "5000 30000"), "true");
    EXPECT_TRUE(locks_.force_release(key));
    EXPECT_EQ(java("a", "unlock", held_, key), held_ == LockType::FAIR
                                                   ? "true"  // Redisson says so of an expired one
                                                   : "error IllegalMonitorStateException");
  }
}

TEST_P(Interop, BothWatchdogsOutliveTheirPeriod) {
  std::vector<std::function<void()>> checks;
  for (const Kind& kind : kinds) {
    for (const std::string& key : deployment_.keys(name() + ".java." + kind.name)) {
      ASSERT_EQ(java("a", "lock", kind.held, key, "-1"), "true");
      checks.emplace_back([&, key] {
        EXPECT_FALSE(locks_.lock(key, kind.wanted).try_acquire()) << key;
        EXPECT_EQ(java("a", "unlock", kind.held, key), "true") << key;
      });
    }
  }
  std::vector<Hold> holds;
  for (const Kind& kind : kinds) {
    for (const std::string& key : deployment_.keys(name() + ".cpp." + kind.name)) {
      holds.push_back(locks_.lock(key, kind.held).acquire(5s));
      checks.emplace_back(
          [&, key] { EXPECT_EQ(java("a", "try", kind.wanted, key, "0 1000"), "false") << key; });
    }
  }
  // sleeps: the watchdogs of both keep the locks for longer than a lease
  std::this_thread::sleep_for(2 * watchdog_period);
  for (const auto& check : checks) check();
  for (const Hold& hold : holds) EXPECT_FALSE(hold.lost()) << hold.key();
}

TEST_P(Interop, AMixedFairQueueIsServedInOrder) {
  const std::vector<std::string> arrivals{"java1", "cpp1", "java2", "cpp2", "cpp3", "java3"};
  for (const std::string& key : keys()) {
    RedisClient client = deployment_.master_of(key);
    std::optional<Hold> first = locks_.lock(key, LockType::FAIR).acquire(0ms, 30s);
    std::mutex mutex;
    std::vector<std::string> order;
    const auto served = [&](const std::string& who) {
      const std::lock_guard guard(mutex);
      order.push_back(who);
    };
    std::vector<std::thread> waiters;
    long long length = 0;
    for (const std::string& who : arrivals) {
      waiters.emplace_back([&, locks = deployment_.connect()] {
        if (who.starts_with("java")) {
          EXPECT_EQ(java(who, "try", LockType::FAIR, key, "30000 30000"), "true");
          served(who);
          EXPECT_EQ(java(who, "unlock", LockType::FAIR, key), "true");
        } else {
          const auto hold = locks.lock(key, LockType::FAIR).try_acquire(30s, 30s);
          EXPECT_TRUE(hold);
          served(who);
        }
      });
      ++length;
      EXPECT_TRUE(eventually([&] {
        return client({"LLEN", "redisson_lock_queue:{" + key + "}"}).integer() == length;
      }));
    }
    const Stalls stalls;
    const auto begun = steady_clock::now();
    first.reset();
    for (std::thread& waiter : waiters) waiter.join();
    EXPECT_EQ(order, arrivals);
    EXPECT_LT(steady_clock::now() - begun, 3s + stalls.total())
        << "each is woken when it is its turn";
  }
}

TEST_P(Interop, JavaAndCppReadersHoldTogether) {
  for (const std::string& key : keys()) {
    Lock reading = locks_.lock(key, LockType::READ);
    Lock writing = locks_.with_owner(Owner::make()).lock(key, LockType::WRITE);
    ASSERT_EQ(java("a", "try", LockType::READ, key, "0 30000"), "true");
    std::optional<Hold> ours = reading.acquire(0ms, 30s);
    EXPECT_FALSE(writing.try_acquire());
    EXPECT_EQ(java("b", "try", LockType::WRITE, key, "0 1000"), "false");

    EXPECT_EQ(java("a", "unlock", LockType::READ, key), "true");
    EXPECT_EQ(java("b", "try", LockType::WRITE, key, "0 1000"), "false") << "ours is there still";
    EXPECT_FALSE(ours->lost());
    EXPECT_TRUE(ours->extend(30s)) << "Java's unlock erased nothing of ours";

    ASSERT_EQ(java("a", "try", LockType::READ, key, "0 30000"), "true");
    ours.reset();
    EXPECT_FALSE(writing.try_acquire()) << "Java's is there still";
    EXPECT_EQ(java("a", "unlock", LockType::READ, key), "true");
    EXPECT_TRUE(writing.try_acquire());
  }
}

TEST_P(Interop, AWritersReleaseWakesAllReaders) {
  std::vector<Duration> times;
  for (const std::string& key : keys()) {
    for (const bool java_writes : {true, false}) {
      std::optional<Hold> ours;
      if (java_writes) {
        ASSERT_EQ(java("w", "try", LockType::WRITE, key, "0 30000"), "true");
      } else {
        ours = locks_.lock(key, LockType::WRITE).acquire(0ms, 30s);
      }
      auto java1 = start_java("a", "try", LockType::READ, key, "20000 30000");
      auto java2 = start_java("b", "try", LockType::READ, key, "20000 30000");
      auto cpp1 = start_cpp(key, LockType::READ), cpp2 = start_cpp(key, LockType::READ);
      await_listeners(key, LockType::READ, 3);  // Java's readers share a channel
      // sleeps: all attempts after the subscriptions are answered, too
      std::this_thread::sleep_for(200ms);
      const auto released = steady_clock::now();
      ours.reset();
      if (java_writes) {
        EXPECT_EQ(java("w", "unlock", LockType::WRITE, key), "true");
      }
      EXPECT_EQ(java1.get(), "true");
      EXPECT_EQ(java2.get(), "true");
      times.push_back(steady_clock::now() - released);
      times.push_back(cpp1.get() - released);
      times.push_back(cpp2.get() - released);
      EXPECT_EQ(java("a", "unlock", LockType::READ, key), "true");
      EXPECT_EQ(java("b", "unlock", LockType::READ, key), "true");
      await_listeners(key, LockType::READ, 0);
    }
  }
  expect_woken("all readers", times);
}

// Redisson writes nothing while it waits. The server is asked who listens.
TEST_P(Interop, JavaThatWaitsForAnIdleLockGetsItAtOnce) {
  const Locks keeping = deployment_.connect();
  if (!keeping.capabilities().recalls) GTEST_SKIP() << "the server does not tell of waiters";
  using enum LockType;
  for (const LockType kept : {REENTRANT, WRITE, READ, FENCED}) {
    const LockType wanted = kept == READ ? WRITE : kept;
    std::vector<Duration> free, idle;
    const auto time_java = [&](const std::string& key, std::vector<Duration>& times) {
      const auto asked = steady_clock::now();
      EXPECT_EQ(java("a", "try", wanted, key, "20000 30000"), "true");
      times.push_back(steady_clock::now() - asked);
      EXPECT_EQ(java("a", "unlock", wanted, key), "true");
    };
    for (int round = -20; round < 100; ++round) {
      if (round == 0) free.clear(), idle.clear();  // by now Java has compiled what it runs
      const std::string key = name() + std::to_string(round) + std::string(to_string(kept));
      time_java(key + "free", free);
      EXPECT_TRUE(keeping.lock(key, kept).acquire(0ms, Lease(30s).cache(10s)).release());
      time_java(key, idle);
    }
    expect_woken("Java, free", free);
    expect_woken("Java, " + std::string(to_string(kept)), idle);
  }
}

TEST_P(Interop, FencingTokensIncreaseAcrossJavaAndCpp) {
  for (const std::string& key : keys()) {
    std::uint64_t last = 0;
    for (int round = 0; round < 5; ++round) {
      Hold hold = locks_.lock(key, LockType::FENCED).acquire(5s, 30s);
      ASSERT_TRUE(hold.fencing_token());
      EXPECT_GT(*hold.fencing_token(), last);
      last = *hold.fencing_token();
      EXPECT_TRUE(hold.release());
      const std::string token = java("a", "token", LockType::FENCED, key, "30000");
      EXPECT_GT(std::stoull(token), last);
      last = std::stoull(token);
      EXPECT_EQ(java("a", "unlock", LockType::FENCED, key), "true");
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Server, Interop, ::testing::Values(DeploymentKind::server),
                         [](const auto&) { return std::string("server"); });
INSTANTIATE_TEST_SUITE_P(Server, Exclusive,
                         ::testing::Combine(::testing::Values(DeploymentKind::server),
                                            ::testing::ValuesIn(kinds)),
                         [](const auto& each) {
                           return std::string(std::get<Kind>(each.param).name);
                         });

}  // namespace
}  // namespace latchkey::tests
