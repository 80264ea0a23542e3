// Masters that sentinels monitor: found, lost and found again.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <latchkey/error.hpp>
#include <latchkey/locks.hpp>
#include <latchkey/parker.hpp>
#include <latchkey/testing/backend_contract.hpp>

#include "redis/redis_backend.hpp"
#include "support/recorder.hpp"
#include "support/refusal.hpp"
#include "support/servers/sentinel_group.hpp"
#include "support/stalls.hpp"

namespace latchkey::tests {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using SteadyClock = std::chrono::steady_clock;

class RedisSentinel : public ::testing::Test {
 protected:
  static SentinelGroup& group() {
    static SentinelGroup one({.password = "secret", .sentinel_password = "watch"});
    return one;
  }
  void SetUp() override { group().wait_until_ready(); }

  static Locks connect(const Options& options = {}) {
    return Locks::connect(group().uri(), options);
  }
};

TEST_F(RedisSentinel, AMasterIsFoundByItsName) {
  const Locks locks = connect();
  Hold hold = locks.lock("found").acquire(forever);
  auto client = group().master().client_tcp();
  EXPECT_EQ(client({"EXISTS", "found"}).integer(), 1);
  EXPECT_TRUE(hold.release());
}

TEST_F(RedisSentinel, WrongSentinelSettingsAreNamed) {
  std::string uri = group().uri();
  const std::size_t name = uri.find("/orders");
  std::string other = uri;
  other.replace(name, 7, "/nobody");
  EXPECT_THAT(refusal_of(other), HasSubstr("it monitors no master named 'nobody'"));
  std::string no_password = uri.substr(0, uri.find('?'));
  EXPECT_THAT(refusal_of(no_password), HasSubstr("sentinel_password"));
  EXPECT_THAT(refusal_of("redis://127.0.0.1:" + std::to_string(group().sentinel(0).port())),
              HasSubstr("password"));
}

// A thread that submits reads when the connector is due, while the leader connects and changes
// that: a race for ThreadSanitizer to find.
TEST_F(RedisSentinel, RequestsAreSubmittedWhileTheLeaderConnects) {
  using Entry = testing::contract::CountingSink::Entry;
  const auto backend = detail::redis::make_redis_backend(group().uri(), {.command_timeout = 500ms});
  testing::contract::CountingSink sink;
  std::atomic<bool> over{false};
  std::atomic<int> completed{0};
  std::thread leader([&] {
    while (!over) backend->drive(Parker::mine(), Clock::system().now() + 10ms);
  });
  std::thread submitter([&] {
    std::vector<std::unique_ptr<Entry>> entries(2'000);
    while (!over) {
      for (auto& entry : entries) {
        if (entry != nullptr && entry->completions == 0) continue;
        if (entry != nullptr) ++completed;
        entry = std::make_unique<Entry>();
        entry->parker = &Parker::mine();
        Request& request = entry->request;
        request.verb = Verb::verify;
        request.id = {{1, 2}, 3};
        request.key = "k";
        request.context = entry.get();
        request.sent = Clock::system().now();
        Request* const one[] = {&request};
        backend->submit(one, sink);
        std::this_thread::yield();
      }
    }
    EXPECT_TRUE(eventually([&] {
      backend->drive(Parker::mine(), Clock::system().now() + 10ms);
      return std::ranges::all_of(
          entries, [](const auto& entry) { return entry == nullptr || entry->completions == 1; });
    }));
  });
  auto client = group().master().client_tcp();
  for (int time = 0; time < 50; ++time) {
    const int before = completed;
    client({"CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"});
    EXPECT_TRUE(eventually([&] { return completed > before + 100; }));
  }
  over = true;
  submitter.join();
  leader.join();
}

TEST_F(RedisSentinel, WaitersAndHoldersFollowTheMasterWhenItIsReplaced) {
  const Locks locks = connect();
  Hold hold = connect().lock("followed").acquire(forever);
  std::atomic<bool> granted = false;
  std::thread waiter([&] {
    const Hold next = locks.lock("followed").acquire(20s);
    granted = true;
  });
  group().fail_over();
  const Stalls stalls;
  const auto elected = SteadyClock::now();
  EXPECT_TRUE(locks.lock("new").try_acquire(5s).has_value());
  EXPECT_LT(SteadyClock::now() - elected, 2s + stalls.total());
  EXPECT_FALSE(granted);
  EXPECT_TRUE(hold.release()) << "it was in sync, so the hold is there";
  waiter.join();
  EXPECT_LT(SteadyClock::now() - elected, 5s + stalls.total());
}

TEST_F(RedisSentinel, LocksAreGrantedSoonAfterAKilledMasterWasReplaced) {
  const Locks locks = connect();
  ASSERT_TRUE(locks.lock("warm").try_acquire(5s).has_value());
  const Stalls stalls;
  const Election election = group().kill_master();
  EXPECT_TRUE(locks.lock("new").try_acquire(5s).has_value());
  EXPECT_LT(SteadyClock::now() - election.seen, 2s + stalls.total());
  group().restore();
}

// The frozen master would still grant locks after it thaws.
TEST_F(RedisSentinel, AFrozenMasterIsAbandonedWhenAnotherIsElected) {
  const Locks locks = connect({.command_timeout = 500ms});
  ASSERT_TRUE(locks.lock("warm").try_acquire(5s).has_value());
  const std::uint16_t before = group().master_port();
  group().server_at(before).stop();
  std::atomic<SteadyClock::duration> granted{};
  std::thread waiter([&] {
    const Hold next = locks.lock("frozen").acquire(20s);
    granted = SteadyClock::now().time_since_epoch();
  });
  const Stalls stalls;
  const Election election = group().wait_for_election(before);
  waiter.join();
  EXPECT_LT(granted.load() - election.seen.time_since_epoch(), 2s + stalls.total());
  group().restore();
}

TEST_F(RedisSentinel, OneSentinelIsEnoughIfAnotherIsDownAndAThirdIsFrozen) {
  group().sentinel(0).kill();
  group().sentinel(1).stop();
  const Locks locks = connect();
  EXPECT_TRUE(locks.lock("one is enough").try_acquire(1s).has_value());
  group().restore();
}

// As one does that was cut off from the others before a failover, or set up wrongly.
TEST_F(RedisSentinel, ASentinelThatNamesAnotherMasterIsOutvoted) {
  SentinelGroup wrong_group({.replicas = 0,
                             .sentinels = 1,
                             .quorum = 1,
                             .password = "secret",
                             .sentinel_password = "watch"});
  std::string uri = group().uri();
  uri.insert(uri.find('@') + 1,
             "127.0.0.1:" + std::to_string(wrong_group.sentinel(0).port()) + ",");
  const auto ends_at_the_right_one = [&](const std::string& key) {
    const Locks locks = Locks::connect(uri);
    const Hold hold = locks.lock(key).acquire(1s);
    return group().master().client_tcp()({"EXISTS", key}).integer() == 1;
  };
  EXPECT_TRUE(ends_at_the_right_one("before"));
  group().fail_over();
  EXPECT_TRUE(ends_at_the_right_one("after"));
}

}  // namespace
}  // namespace latchkey::tests
