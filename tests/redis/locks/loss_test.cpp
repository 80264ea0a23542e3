// Losses on a real server. Expiry is detected before the server can grant to another owner. A loss
// on the server is detected within lease/3; until then fencing tokens protect the resource.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <latchkey/error.hpp>
#include <latchkey/locks.hpp>

#include "support/recorder.hpp"
#include "support/servers/fault_proxy.hpp"
#include "support/servers/redis_server.hpp"
#include "support/stalls.hpp"

namespace latchkey::tests {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;
using std::chrono::system_clock;

/// A resource that remembers the largest token and refuses smaller ones.
class FencedStore {
 public:
  bool write(std::uint64_t token) {
    if (token < largest_) return false;
    largest_ = token;
    return true;
  }

 private:
  std::uint64_t largest_ = 0;
};

class RedisLoss : public ::testing::Test {
 protected:
  [[nodiscard]] Locks connect(Recorder* recorder = nullptr) const {
    return Locks::connect(server_.tcp_uri(), {.command_timeout = 1s, .listener = recorder});
  }

  RedisServer server_;
  RedisClient client_ = server_.client();
};

// When the key expires, to the millisecond. The server uses the same clock as system_clock.
system_clock::time_point expiry_of(RedisClient& client, const std::string& key) {
  return system_clock::time_point(milliseconds(client({"PEXPIRETIME", key}).integer()));
}

// Polls lost() from margin/2 before the instant at which the server could grant to another.
// Returns whether it was ever held: not if this thread was kept waiting for a whole lease.
bool watch_one_lease(const Hold& hold, system_clock::time_point expiry, milliseconds margin,
                     std::atomic<int>& wrong, std::atomic<int>& judged) {
  bool was_held = false;
  for (;;) {
    const auto now = system_clock::now();
    const bool lost = hold.lost();
    was_held |= !lost;
    if (now >= expiry - margin / 2) {
      ++judged;
      if (!lost) ++wrong;
    }
    if (now >= expiry) break;
    std::this_thread::yield();
  }
  return was_held;
}

TEST_F(RedisLoss, ExpiryIsKnownBeforeTheServerCouldGrantToAnother) {
  if (client_({"PEXPIRETIME", "nothing"}).is_error()) GTEST_SKIP() << "needs PEXPIRETIME: Redis 7";
  constexpr int runs = 1'000, threads = 8;
  constexpr milliseconds lease = 60ms, margin = 5ms;
  const Locks locks = connect();
  std::atomic<int> refused{0}, held{0}, wrong{0}, judged{0};
  std::vector<std::thread> running;
  for (int thread = 0; thread < threads; ++thread) {
    running.emplace_back([&, thread] {
      RedisClient client = server_.client();
      const std::string key = "lease:" + std::to_string(thread);
      for (int run = 0; run < runs / threads; ++run) {
        const std::optional<Hold> hold = locks.lock(key).try_acquire(5s, lease);
        if (!hold) {
          ++refused;
          continue;
        }
        if (watch_one_lease(*hold, expiry_of(client, key), margin, wrong, judged)) ++held;
      }
    });
  }
  for (std::thread& each : running) each.join();
  EXPECT_EQ(refused, 0);
  EXPECT_EQ(wrong, 0);
  EXPECT_GE(judged, runs);
  EXPECT_GT(held, runs / 2);
}

TEST_F(RedisLoss, ExpiryIsKnownThoughTheServerIsFrozen) {
  Recorder recorder(false);
  const Locks locks = connect(&recorder);
  Hold hold = locks.lock("k").acquire(0ms, 500ms);
  server_.stop();
  EXPECT_TRUE(eventually([&] { return hold.lost(); }));
  EXPECT_TRUE(recorder.await(Event::Kind::lost));
  server_.resume();
  EXPECT_FALSE(hold.release());
  EXPECT_TRUE(locks.lock("k").try_acquire(5s));
}

TEST_F(RedisLoss, ExpiryIsKnownThoughTheLinkIsDown) {
  FaultProxy proxy(server_.port());
  Recorder recorder(false);
  const Locks locks = Locks::connect(proxy.uri(), {.command_timeout = 1s, .listener = &recorder});
  const Hold hold = locks.lock("k").acquire(0ms, 500ms);
  const std::stop_token stop = hold.stop_token();
  proxy.refuse(true);
  proxy.cut();
  EXPECT_TRUE(eventually([&] { return hold.lost() && stop.stop_requested(); }));
  EXPECT_TRUE(recorder.await(Event::Kind::lost));
}

struct Ending {
  const char* name;
  void (*end)(RedisServer& server, const Locks& others);
};

class RedisLossOnTheServer : public RedisLoss, public ::testing::WithParamInterface<Ending> {};

// Until the next check both owners are inside. The first learns of it within lease/3 and a second.
TEST_P(RedisLossOnTheServer, IsDetectedWithinAThirdOfTheLease) {
  for (const bool watched : {false, true}) {
    SCOPED_TRACE(watched ? "watchdog" : "explicit lease");
    Recorder recorder(false);
    constexpr milliseconds lease = 3s;
    const Locks locks = Locks::connect(
        server_.tcp_uri(), {.watchdog = lease, .command_timeout = 1s, .listener = &recorder});
    const Locks others = connect();
    const std::string key = watched ? "watched" : "leased";
    Hold hold = locks.lock(key, LockType::FENCED).acquire(0ms, watched ? Lease(watchdog) : lease);
    const std::stop_token stop = hold.stop_token();
    FencedStore store;
    ASSERT_TRUE(store.write(*hold.fencing_token()));

    GetParam().end(server_, others);
    const Stalls stalls;
    const auto ended = std::chrono::steady_clock::now();
    const Hold second = others.lock(key, LockType::FENCED).acquire(10s, 10s);
    ASSERT_TRUE(second.fencing_token());
    EXPECT_TRUE(store.write(*second.fencing_token()));
    EXPECT_FALSE(store.write(*hold.fencing_token())) << "the first owner's late write";

    EXPECT_TRUE(eventually([&] { return hold.lost() && stop.stop_requested(); }));
    EXPECT_LT(std::chrono::steady_clock::now() - ended, lease / 3 + 1s + stalls.total());
    EXPECT_TRUE(recorder.await(Event::Kind::lost));
    EXPECT_FALSE(hold.release());
    EXPECT_FALSE(second.lost()) << "the late release frees nothing of the second owner";
  }
}

INSTANTIATE_TEST_SUITE_P(By, RedisLossOnTheServer,
                         ::testing::Values(Ending{"deleted_key",
                                                  [](RedisServer& server, const Locks& others) {
                                                    RedisClient client = server.client();
                                                    for (const std::string& key : others.list("*"))
                                                      client({"DEL", key});
                                                  }},
                                           Ending{"forced_release",
                                                  [](RedisServer&, const Locks& others) {
                                                    for (const std::string& key : others.list("*"))
                                                      others.force_release(key);
                                                  }},
                                           Ending{"empty_restart",
                                                  [](RedisServer& server, const Locks&) {
                                                    server.kill();
                                                    server.start();
                                                  }}),
                         [](const auto& ending) { return std::string(ending.param.name); });

// Whether the watchdog renews the hold or an explicit lease is verified.
TEST_F(RedisLoss, AKeyReplacedByAnotherTypeIsDetectedWithinAThirdOfTheLease) {
  constexpr milliseconds third = 2s;
  const Locks locks = Locks::connect(server_.tcp_uri(), {.watchdog = 3 * third});
  std::vector<Hold> holds;
  for (const LockType type :
       {LockType::REENTRANT, LockType::FENCED, LockType::FAIR, LockType::READ, LockType::WRITE}) {
    for (const Lease lease : {Lease(watchdog), Lease(3 * third)}) {
      const std::string key = "replaced:" + std::to_string(holds.size());
      holds.push_back(locks.lock(key, type).acquire(0ms, lease));
    }
  }
  for (std::size_t number = 0; number < holds.size(); ++number) {
    const std::string key(holds[number].key());
    client_({"DEL", key});
    client_({number % 4 < 2 ? "SET" : "RPUSH", key, "x"});
  }
  const Stalls stalls;
  const auto replaced = std::chrono::steady_clock::now();
  EXPECT_TRUE(eventually(
      [&] { return std::ranges::all_of(holds, [](const Hold& hold) { return hold.lost(); }); }));
  EXPECT_LT(std::chrono::steady_clock::now() - replaced, third + 1s + stalls.total());
  for (Hold& hold : holds) EXPECT_FALSE(hold.release()) << hold.key();
}

TEST_F(RedisLoss, AReleaseThatFindsAnotherTypeIsALossAndNotRefused) {
  const Locks locks = connect();
  for (const LockType type :
       {LockType::REENTRANT, LockType::FENCED, LockType::FAIR, LockType::READ, LockType::WRITE}) {
    SCOPED_TRACE(to_string(type));
    Hold hold = locks.lock("k", type).acquire(0ms, 60s);
    client_({"SET", "k", "x"});
    EXPECT_FALSE(hold.release());
    client_({"FLUSHALL"});
  }
  ReadWriteLock both = locks.read_write("k");
  Hold write = both.write().acquire(0ms, 60s);
  const Hold read = both.read().acquire(0ms, 60s);
  client_({"SET", "k", "x"});
  EXPECT_FALSE(write.release()) << "it was to become a READ";
  EXPECT_TRUE(read.lost());
}

}  // namespace
}  // namespace latchkey::tests
