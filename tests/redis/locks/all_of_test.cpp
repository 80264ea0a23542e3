// Several locks at once on a real server.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <latchkey/error.hpp>
#include <latchkey/locks.hpp>

#include "support/recorder.hpp"
#include "support/servers/redis_server.hpp"

namespace latchkey::tests {
namespace {

using namespace std::chrono_literals;

class RedisAllOf : public ::testing::Test {
 protected:
  [[nodiscard]] Locks connect() const {
    return Locks::connect(server_.tcp_uri(), {.command_timeout = 1s});
  }
  [[nodiscard]] static Lock all(const Locks& locks, LockType type = LockType::WRITE) {
    std::vector<Lock> members;
    for (const char* key : {"c", "a", "e", "b", "d"}) members.push_back(locks.lock(key, type));
    return locks.all_of(std::move(members));
  }
  /// How many scripts the server has run.
  long long scripts() { return client_.calls("evalsha"); }
  [[nodiscard]] bool empty() { return client_({"KEYS", "*"}).list().empty(); }

  RedisServer server_;
  RedisClient client_ = server_.client();
};

TEST_F(RedisAllOf, AcquireTakesOneScriptAndReleaseLeavesNoKey) {
  const Locks locks = connect();
  {
    const Hold warm = all(locks).acquire(forever);
  }
  const long long before = scripts();
  Hold hold = all(locks).acquire(0ms, 30s);
  EXPECT_EQ(scripts() - before, 1);
  EXPECT_EQ(client_({"KEYS", "*"}).list().size(), 5U);
  EXPECT_TRUE(hold.release());
  EXPECT_EQ(scripts() - before, 6);
  EXPECT_TRUE(empty());
}

TEST_F(RedisAllOf, AWaiterHoldsNothingWhileOneKeyIsBusy) {
  const Locks locks = connect(), theirs = connect();
  Hold busy = theirs.lock("d", LockType::WRITE).acquire(0ms, 60s);
  auto mine = std::async(std::launch::async, [&] { return all(locks).acquire(40s, 30s); });
  ASSERT_TRUE(eventually([&] { return !client_({"PUBSUB", "CHANNELS", "*"}).list().empty(); }));
  auto keys = client_({"KEYS", "*"}).list();
  std::ranges::sort(keys);
  EXPECT_EQ(keys, (std::vector<std::string>{"d", "latchkey_process_queue:{d}",
                                            "latchkey_process_queue:{d}:places"}));
  EXPECT_TRUE(busy.release());
  const Hold hold = mine.get();
  EXPECT_FALSE(hold.lost());
  EXPECT_EQ(client_({"KEYS", "*"}).list().size(), 5U);
}

TEST_F(RedisAllOf, FairKeysAreAcquiredOneByOneInOrder) {
  const Locks locks = connect(), theirs = connect();
  Hold busy = theirs.lock("d", LockType::FAIR).acquire(0ms, 60s);
  auto mine =
      std::async(std::launch::async, [&] { return all(locks, LockType::FAIR).acquire(40s, 30s); });
  ASSERT_TRUE(eventually([&] { return locks.inspect("d").queue.size() == 1; }));
  EXPECT_TRUE(locks.inspect("a").locked && locks.inspect("b").locked && locks.inspect("c").locked);
  EXPECT_FALSE(locks.inspect("e").locked);
  EXPECT_TRUE(busy.release());
  {
    const Hold hold = mine.get();
    EXPECT_FALSE(hold.lost());
  }
  EXPECT_TRUE(empty());
}

// The server of the awaited key is killed and restarts with the data that it had.
TEST_F(RedisAllOf, AWaitSurvivesTheRestartOfOneServer) {
  RedisServer other({.config = {"appendonly yes"}});
  const Locks here = connect(), there = Locks::connect(other.tcp_uri(), {.command_timeout = 2s});
  const Locks theirs = Locks::connect(other.tcp_uri(), {.command_timeout = 2s});
  Hold busy = theirs.lock("b").acquire(0ms, 60s);
  auto mine = std::async(std::launch::async, [&] {
    return here.all_of({here.lock("a"), there.lock("b"), here.lock("c")}).acquire(60s, 30s);
  });
  ASSERT_TRUE(eventually([&] { return here.inspect("a").locked; }));
  other.kill();
  other.start();
  ASSERT_TRUE(eventually([&] {
    try {
      return busy.release() || true;
    } catch (const BackendUnavailable&) {
      return true;  // it is released once the server is up again
    }
  }));
  {
    const Hold hold = mine.get();
    EXPECT_FALSE(hold.lost());
  }
  EXPECT_TRUE(empty());
  RedisClient client = other.client();
  EXPECT_TRUE(eventually([&] { return client({"KEYS", "*"}).list().empty(); }));
}

// It threw BackendUnavailable, "no answer; waited 0 ms": a request that was just sent had no reply.
TEST_F(RedisAllOf, OneAttemptBehindAnotherCallOfTheProcessIsBusy) {
  Recorder recorder;
  const Locks locks =
      Locks::connect(server_.tcp_uri(), {.command_timeout = 30s, .listener = &recorder});
  server_.stop();
  auto other = std::async(std::launch::async, [&] { return locks.lock("d").acquire(forever); });
  ASSERT_TRUE(recorder.await(Event::Kind::attempt));
  EXPECT_FALSE(all(locks).try_acquire(0ms));
  server_.resume();
  const Hold hold = other.get();
  EXPECT_FALSE(hold.lost());
}

TEST_F(RedisAllOf, AnErrorNamesTheKeyThatFailed) {
  const Locks locks = connect();
  client_({"SET", "d", "mine"});
  try {
    static_cast<void>(all(locks).acquire(0ms));
    FAIL() << "d is no lock";
  } catch (const BackendRefused& error) {
    EXPECT_EQ(error.key(), "d");
  }
  EXPECT_EQ(client_({"KEYS", "*"}).list(), std::vector<std::string>{"d"});
}

// The attempts that a call makes inside are not the user's.
TEST_F(RedisAllOf, ContendedCallsThatAreGrantedReportNoFailure) {
  using Kind = Event::Kind;
  constexpr std::size_t threads = 4, rounds = 50, keys = 2;
  Recorder recorder;
  const Locks locks = Locks::connect(server_.tcp_uri(), {.listener = &recorder});
  {
    std::vector<std::jthread> callers;
    for (std::size_t caller = 0; caller < threads; ++caller) {
      callers.emplace_back([&, caller] {
        for (std::size_t round = 0; round < rounds; ++round) {
          const std::string first = std::to_string((caller + round) % 4);
          const std::string second = std::to_string((caller + round + 1) % 4);
          const Hold both =
              locks
                  .all_of({locks.lock(first, LockType::WRITE), locks.lock(second, LockType::WRITE)})
                  .acquire(60s, 30s);
        }
      });
    }
  }
  ASSERT_TRUE(locks.flush(60s));
  constexpr std::size_t all = threads * rounds * keys;
  EXPECT_EQ(recorder.count(Kind::attempt), all);
  EXPECT_EQ(recorder.count(Kind::granted), all);
  EXPECT_EQ(recorder.count(Kind::released), all);
  for (const Kind kind : {Kind::timeout, Kind::busy, Kind::unavailable, Kind::lost}) {
    EXPECT_EQ(recorder.count(kind), 0U) << to_string(kind);
  }
}

}  // namespace
}  // namespace latchkey::tests
