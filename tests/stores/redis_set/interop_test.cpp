// redis+set:// and the real redsync, redis-py, redlock-py and redlock of npm: each respects the
// locks of the other.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <future>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <latchkey/detail/testing/contract/probe.hpp>
#include <latchkey/locks.hpp>

#include "redis/redis_backend.hpp"
#include "stores/redis_set/lock_peer.hpp"
#include "support/recorder.hpp"
#include "support/servers/redis_client.hpp"
#include "support/servers/redis_server.hpp"
#include "support/stalls.hpp"

namespace latchkey::tests {
namespace {

using namespace std::chrono_literals;
using SteadyClock = std::chrono::steady_clock;

struct Side {
  const char* name;
  const char* client;
  const char* query;       ///< the options of latchkey's URI
  std::size_t value_size;  ///< the size of the value that both write
  std::size_t servers;     ///< several: Redlock, which latchkey calls a quorum
};

class SetInterop : public ::testing::TestWithParam<Side> {
 protected:
  void SetUp() override {
    const PeerProgram program = program_of(GetParam().client);
    if (!program.missing.empty()) GTEST_SKIP() << program.missing;
    std::vector<std::string> addresses;
    for (std::size_t count = 0; count < GetParam().servers; ++count) {
      servers_.push_back(std::make_unique<RedisServer>());
      addresses.push_back("127.0.0.1:" + std::to_string(servers_.back()->port()));
    }
    peer = std::make_unique<LockPeer>(program, addresses);
  }

  static PeerProgram program_of(std::string_view client) {
    if (client == "redsync") return PeerProgram::redsync();
    if (client == "redlock of npm") return PeerProgram::node();
    return PeerProgram::python(std::string(client));
  }
  [[nodiscard]] std::string uri_of(const RedisServer& server) const {
    return "redis+set://127.0.0.1:" + std::to_string(server.port()) + GetParam().query;
  }
  [[nodiscard]] Locks connect() const {
    if (servers_.size() == 1) return Locks::connect(uri_of(*servers_.front()));
    std::string uri = "quorum:";
    for (const auto& server : servers_) uri += " " + uri_of(*server);
    return Locks::connect(uri);
  }
  /// The value of the lock on a majority of the servers.
  [[nodiscard]] std::string value() const {
    std::map<std::string, std::size_t> counts;
    for (const auto& server : servers_) ++counts[server->client()({"GET", "k"}).text()];
    const auto most =
        std::ranges::max_element(counts, {}, [](const auto& each) { return each.second; });
    EXPECT_GT(2 * most->second, servers_.size());
    return most->first;
  }
  /// The last of several servers may lag behind.
  [[nodiscard]] ::testing::AssertionResult becomes_empty() const {
    const bool empty = eventually([&] {
      return std::ranges::all_of(
          servers_, [](const auto& server) { return server->client()({"DBSIZE"}).integer() == 0; });
    });
    if (empty) return ::testing::AssertionSuccess();
    auto result = ::testing::AssertionFailure();
    for (const auto& server : servers_) {
      result << server->client()({"GET", "k"}).text() << " for "
             << server->client()({"PTTL", "k"}).integer() << " ms; ";
    }
    return result;
  }
  /// A peer gives up after these attempts: one, or as many as 20 s have.
  std::string lock_now() { return peer->send("lock k 30000 1"); }
  std::string lock_soon() { return peer->send("lock k 30000 60"); }

  std::vector<std::unique_ptr<RedisServer>> servers_;
  std::unique_ptr<LockPeer> peer;
};

TEST_P(SetInterop, WhatLatchkeyHoldsIsBusyForThePeerUntilItIsReleased) {
  const Locks locks = connect();
  Hold hold = locks.lock("k").acquire(5s, 30s);
  const std::string own = value();
  EXPECT_EQ(own.size(), GetParam().value_size) << own;
  EXPECT_EQ(lock_now(), "busy");
  EXPECT_EQ(peer->send("steal k"), "false");
  EXPECT_EQ(value(), own);
  EXPECT_TRUE(hold.release());
  const std::string theirs = lock_now();
  EXPECT_EQ(theirs, value());
  EXPECT_EQ(peer->send("unlock k"), "true");
  EXPECT_TRUE(becomes_empty());
}

TEST_P(SetInterop, WhatThePeerHoldsIsBusyForLatchkeyUntilItIsReleased) {
  const Locks locks = connect();
  const std::string theirs = lock_now();
  EXPECT_EQ(theirs, value());
  EXPECT_FALSE(locks.lock("k").try_acquire(300ms, 30s));
  for (const auto& server : servers_) {
    latchkey::testing::Probe probe(detail::redis::make_redis_backend(uri_of(*server), {}), {});
    const HoldId thief = probe.fresh_id();
    for (const Verb verb : {Verb::release, Verb::leave, Verb::verify}) {
      EXPECT_EQ(probe.send(verb, "k", LockType::REENTRANT, thief).kind, Outcome::Kind::gone);
    }
    const LockInfo info = probe.inspect("k");
    ASSERT_LE(info.holders.size(), 1U);
    EXPECT_TRUE(info.holders.empty() || info.holders[0].id == theirs);
  }
  EXPECT_EQ(value(), theirs);
  EXPECT_EQ(peer->send("unlock k"), "true");
  EXPECT_TRUE(locks.lock("k").try_acquire(0ms, 30s));
}

TEST_P(SetInterop, EachWaitsForTheReleaseOfTheOther) {
  const Locks locks = connect();
  ASSERT_NE(lock_now(), "busy");
  auto waiting = std::async(std::launch::async, [&] { return locks.lock("k").acquire(20s, 30s); });
  EXPECT_EQ(waiting.wait_for(300ms), std::future_status::timeout);
  const Stalls stalls;
  const auto released = SteadyClock::now();
  EXPECT_EQ(peer->send("unlock k"), "true");
  Hold hold = waiting.get();
  EXPECT_LT(SteadyClock::now() - released, 1s + stalls.total());
  const std::string own = value();
  auto theirs = std::async(std::launch::async, [&] { return lock_soon(); });
  EXPECT_EQ(theirs.wait_for(300ms), std::future_status::timeout);
  EXPECT_TRUE(hold.release());
  EXPECT_EQ(theirs.get().size(), GetParam().value_size);
  EXPECT_EQ(peer->send("unlock k"), "true");
  EXPECT_TRUE(becomes_empty()) << "latchkey wrote " << own;
}

TEST_P(SetInterop, NeitherIsInsideWhileTheOtherIs) {
  constexpr int rounds = 20;
  const Locks locks = connect();
  std::atomic<int> inside = 0, overlaps = 0, done = 0;
  const auto section = [&] {
    if (inside.fetch_add(1) != 0) ++overlaps;
    std::this_thread::sleep_for(2ms);  // sleeps: this is the time inside the lock
    --inside;
    ++done;
  };
  std::thread ours([&] {
    for (int round = 0; round < rounds; ++round) {
      const Hold hold = locks.lock("k").acquire(60s, 30s);
      section();
    }
  });
  for (int round = 0; round < rounds; ++round) {
    if (lock_soon() == "busy") continue;
    section();
    EXPECT_EQ(peer->send("unlock k"), "true");
  }
  ours.join();
  EXPECT_EQ(overlaps, 0);
  EXPECT_GT(done, rounds);
}

TEST_P(SetInterop, ALeaseThatEndsIsOverForBoth) {
  const Locks locks = connect();
  ASSERT_NE(peer->send("lock k 1000 1"), "busy");
  Hold hold = locks.lock("k").acquire(20s, 3s);
  const std::string own = value();
  EXPECT_EQ(peer->send("unlock k"), "false") << "it frees what it has lost";
  EXPECT_EQ(value(), own);
  EXPECT_EQ(lock_soon().size(), GetParam().value_size) << "latchkey's lease has ended";
  const std::string theirs = value();
  EXPECT_TRUE(hold.lost());
  EXPECT_FALSE(hold.release());
  EXPECT_EQ(value(), theirs);
  EXPECT_EQ(peer->send("unlock k"), "true");
  EXPECT_TRUE(becomes_empty());
}

INSTANTIATE_TEST_SUITE_P(
    Clients, SetInterop,
    ::testing::Values(Side{"Redsync", "redsync", "?format=redsync", 24, 1},
                      Side{"RedsyncOnThreeServers", "redsync", "?format=redsync", 24, 3},
                      Side{"RedlockPy", "redlock-py", "?format=redlock", 22, 1},
                      Side{"RedlockPyOnThreeServers", "redlock-py", "?format=redlock", 22, 3}),
    [](const auto& tested) { return std::string(tested.param.name); });

// The tokens of redis-py and of npm's redlock have 32 digits, latchkey's hold ids are longer.
class SetInteropOfTwoFormats : public SetInterop {};

TEST_P(SetInteropOfTwoFormats, EachRespectsTheOther) {
  const Locks locks = connect();
  Hold hold = locks.lock("k").acquire(5s, 30s);
  EXPECT_EQ(lock_now(), "busy");
  EXPECT_EQ(peer->send("steal k"), "false");
  EXPECT_TRUE(hold.release());
  EXPECT_EQ(lock_now().size(), 32U);
  EXPECT_FALSE(locks.lock("k").try_acquire(300ms, 30s));
  if (servers_.size() == 1) {
    EXPECT_EQ(locks.list("*"), std::vector<std::string>{"k"});
  }
  EXPECT_EQ(peer->send("unlock k"), "true");
  EXPECT_TRUE(locks.lock("k").try_acquire(0ms, 30s));
}

TEST_P(SetInteropOfTwoFormats, ALeaseThatEndsIsOverForBoth) {
  const Locks locks = connect();
  ASSERT_NE(peer->send("lock k 1000 1"), "busy");
  Hold hold = locks.lock("k").acquire(20s, 3s);
  EXPECT_EQ(peer->send("unlock k"), "false") << "it frees what it has lost";
  EXPECT_EQ(lock_soon().size(), 32U) << "latchkey's lease has ended";
  const std::string theirs = value();
  EXPECT_TRUE(hold.lost());
  EXPECT_FALSE(hold.release());
  EXPECT_EQ(value(), theirs);
}

INSTANTIATE_TEST_SUITE_P(Clients, SetInteropOfTwoFormats,
                         ::testing::Values(Side{"RedisPy", "redis-py", "", 32, 1},
                                           Side{"RedlockOfNpm", "redlock of npm", "", 32, 1},
                                           Side{"RedlockOfNpmOnThreeServers", "redlock of npm", "",
                                                32, 3}),
                         [](const auto& tested) { return std::string(tested.param.name); });

/// The commands that RedMutex of redis-plus-plus 1.3 sends, by hand.
class RedMutexCommands {
 public:
  explicit RedMutexCommands(const RedisServer& server) : client_(server.client()) {}

  bool try_lock(const std::string& value, const std::string& ttl_ms) {
    return client_({"SET", "k", value, "PX", ttl_ms, "NX"}).text() == "OK";
  }
  /// Whether the key had this value and is gone.
  bool unlock(const std::string& value) {
    client_({"WATCH", "k"});
    if (client_({"GET", "k"}).text() != value) {
      client_({"UNWATCH"});
      return false;
    }
    client_({"MULTI"});
    client_({"DEL", "k"});
    return client_({"EXEC"}).list() == std::vector<std::string>{"1"};
  }

 private:
  RedisClient client_;
};

TEST(SetInteropRedMutex, EachRespectsTheOther) {
  const RedisServer server;
  RedMutexCommands theirs(server);
  const Locks locks = Locks::connect("redis+set://127.0.0.1:" + std::to_string(server.port()));
  Hold hold = locks.lock("k").acquire(5s, 30s);
  EXPECT_FALSE(theirs.try_lock("x", "30000"));
  EXPECT_FALSE(theirs.unlock("x"));
  EXPECT_TRUE(hold.release());
  EXPECT_TRUE(theirs.try_lock("x", "30000"));
  EXPECT_FALSE(locks.lock("k").try_acquire(300ms, 30s));
  EXPECT_TRUE(theirs.unlock("x"));
  EXPECT_TRUE(theirs.try_lock("y", "1000"));
  Hold next = locks.lock("k").acquire(20s, 30s);
  EXPECT_FALSE(theirs.unlock("y")) << "its lease has ended";
  EXPECT_FALSE(next.lost());
  EXPECT_TRUE(next.release());
}

}  // namespace
}  // namespace latchkey::tests
