// Redisson's known defects that its client causes, by their numbers in its wire description. Those
// that its scripts cause are in redis/scripts/defects_test.cpp.
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <future>
#include <optional>

#include <latchkey/locks.hpp>

#include "support/recorder.hpp"
#include "support/servers/redis_server.hpp"

namespace latchkey::tests {
namespace {

using namespace std::chrono_literals;

class RedissonClientDefects : public ::testing::Test {
 protected:
  RedisServer server_;
};

TEST_F(RedissonClientDefects, D2_AReadReleasedInsideAWriteKeepsTheWatchdogRunning) {
  constexpr auto period = 1500ms;
  Recorder recorder;
  const Locks ours = Locks::connect(server_.tcp_uri(), {.watchdog = period, .listener = &recorder});
  const Locks theirs = Locks::connect(server_.tcp_uri());
  Hold write = ours.lock("k", LockType::WRITE).acquire(forever);
  EXPECT_TRUE(ours.lock("k", LockType::READ).acquire(forever).release());
  // One for each third of a period: after four the lease that the READ left has ended.
  ASSERT_TRUE(recorder.await(Event::Kind::renewed, 4));
  EXPECT_FALSE(write.lost());
  EXPECT_EQ(theirs.lock("k", LockType::WRITE).try_acquire(), std::nullopt);
  EXPECT_TRUE(write.release());
  ours.close(1s);
}

TEST_F(RedissonClientDefects, D4_ReleasingAWriteWakesAllWaitingReaders) {
  const Locks holder = Locks::connect(server_.tcp_uri());
  std::array<Recorder, 2> recorders;
  const std::array<Locks, 2> readers{
      Locks::connect(server_.tcp_uri(), {.listener = &recorders[0]}),
      Locks::connect(server_.tcp_uri(), {.listener = &recorders[1]})};
  constexpr std::size_t rounds = 20;
  const auto start = std::chrono::steady_clock::now();
  for (std::size_t round = 1; round <= rounds; ++round) {
    Hold write = holder.lock("k", LockType::WRITE).acquire(0ms, 30s);
    std::array<std::future<bool>, 2> waiting;
    for (std::size_t index = 0; index < readers.size(); ++index) {
      waiting[index] = std::async(std::launch::async, [&, index] {
        return readers[index].lock("k", LockType::READ).acquire(patience, 30s).release();
      });
    }
    for (Recorder& recorder : recorders) {
      ASSERT_TRUE(recorder.await(Event::Kind::waiting, round));
    }
    EXPECT_TRUE(write.release());
    for (std::future<bool>& each : waiting) EXPECT_TRUE(each.get());
  }
  // A reader that is not woken finds out by its poll, after 0.8 s at the earliest.
  EXPECT_LT(std::chrono::steady_clock::now() - start, rounds * 800ms / 2);
  for (const Locks& locks : readers) locks.close(1s);
}

}  // namespace
}  // namespace latchkey::tests
