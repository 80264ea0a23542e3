// A client of Redisson takes a lock away from latchkey, while processes of latchkey wait for it in
// the process queue: these hear of it at once.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include <latchkey/locks.hpp>

#include "redis/scripts/redisson.hpp"
#include "support/recorder.hpp"
#include "support/servers/redis_server.hpp"

namespace latchkey::tests {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;
using SteadyClock = std::chrono::steady_clock;

/// Clients with a connection each, as in processes of their own, and one of Redisson.
class ForeignRelease : public ::testing::TestWithParam<LockType> {
 protected:
  /// A call that waits on a thread of its own; the result is when it was granted the lock.
  struct Waiter {
    Recorder recorder;
    Locks locks;
    std::promise<void> may_release;
    std::future<SteadyClock::time_point> granted;

    Waiter(const std::string& uri, const std::string& key, LockType type)
        : locks(Locks::connect(uri, {.listener = &recorder})) {
      granted = std::async(std::launch::async, [this, key, type] {
        Hold hold = locks.lock(key, type).acquire(patience, 30s);
        const auto now = SteadyClock::now();
        may_release.get_future().wait();
        static_cast<void>(hold.release());  // Redisson may have deleted it
        return now;
      });
      EXPECT_TRUE(recorder.await(Event::Kind::waiting, 1));
    }
  };

  SteadyClock::time_point force_unlock(const std::string& key) {
    const auto sent = SteadyClock::now();
    const bool write = GetParam() == LockType::WRITE;
    EXPECT_EQ((write ? java_.force_unlock_write(key) : java_.force_unlock(key)).integer(), 1);
    return sent;
  }
  static milliseconds between(SteadyClock::time_point from, SteadyClock::time_point to) {
    return std::chrono::duration_cast<milliseconds>(to - from);
  }
  static milliseconds median(std::vector<milliseconds> times) {
    std::ranges::nth_element(times, times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2));
    return times[times.size() / 2];
  }

  RedisServer server_;
  JavaClient java_{server_.client(), "4f1c2d3e-0a1b-4c2d-8e3f-001122334455:1"};
};

// The waiter asked after 0.5 to 1.1 s.
TEST_P(ForeignRelease, TheFirstInLineTakesALockThatRedissonDeletesAtOnce) {
  const Locks holder = Locks::connect(server_.unix_uri());
  std::vector<milliseconds> took;
  for (int round = 0; round < 9; ++round) {
    const std::string key = "deleted:" + std::to_string(round);
    const Hold hold = holder.lock(key, GetParam()).acquire(0ms, 30s);
    Waiter waiter(server_.unix_uri(), key, GetParam());
    // sleeps: the lock is held for longer than a critical section lasts
    std::this_thread::sleep_for(
        150ms);  // the lock is held for longer than a critical section lasts
    const auto deleted = force_unlock(key);
    waiter.may_release.set_value();
    took.push_back(between(deleted, waiter.granted.get()));
  }
  EXPECT_LT(median(took), 250ms);
}

// The second becomes the first without a word to it.
TEST_P(ForeignRelease, SoDoesTheNextOneAfterAHandOver) {
  const Locks holder = Locks::connect(server_.unix_uri());
  std::vector<milliseconds> took;
  for (int round = 0; round < 9; ++round) {
    const std::string key = "deleted:" + std::to_string(round);
    Hold hold = holder.lock(key, GetParam()).acquire(0ms, 30s);
    Waiter first(server_.unix_uri(), key, GetParam()), second(server_.unix_uri(), key, GetParam());
    // sleeps: the lock is held for longer than a critical section lasts
    std::this_thread::sleep_for(150ms);
    EXPECT_TRUE(hold.release());
    ASSERT_TRUE(first.recorder.await(Event::Kind::granted, 1));
    const auto deleted = force_unlock(key);
    first.may_release.set_value();
    second.may_release.set_value();
    took.push_back(between(deleted, std::max(first.granted.get(), second.granted.get())));
  }
  EXPECT_LT(median(took), 250ms);
}

// Those that listen look like clients of Redisson to PUBLISH, to which a release leaves the lock.
TEST_P(ForeignRelease, AReleaseStillGrantsToTheFirstInLine) {
  const Locks holder = Locks::connect(server_.unix_uri());
  RedisClient monitor = server_.client();
  for (int round = 0; round < 9; ++round) {
    const std::string key = "released:" + std::to_string(round);
    Hold hold = holder.lock(key, GetParam()).acquire(0ms, 30s);
    Waiter waiter(server_.unix_uri(), key, GetParam());
    const std::string channel =
        (GetParam() == LockType::WRITE ? "redisson_rwlock:{" : "redisson_lock__channel:{") + key +
        '}';
    ASSERT_TRUE(eventually([&] {
      return monitor({"PUBSUB", "NUMSUB", channel, channel + ":in_line"}).list() ==
             std::vector<std::string>{channel, "1", channel + ":in_line", "1"};
    }));
    EXPECT_TRUE(hold.release());
    EXPECT_EQ(monitor({"EXISTS", key}).integer(), 1) << "it was granted by the release";
    waiter.may_release.set_value();
    waiter.granted.get();
    EXPECT_TRUE(eventually([&] {
      return monitor({"PUBSUB", "NUMSUB", channel}).list() ==
             std::vector<std::string>{channel, "0"};
    })) << "nobody waits";
  }
}

INSTANTIATE_TEST_SUITE_P(Types, ForeignRelease,
                         ::testing::Values(LockType::REENTRANT, LockType::FENCED, LockType::WRITE),
                         [](const auto& type) { return std::string(to_string(type.param)); });

}  // namespace
}  // namespace latchkey::tests
