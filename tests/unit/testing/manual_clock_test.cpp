// ManualClock: a clock that moves only when a test advances it.
#include <latchkey/testing/manual_clock.hpp>

#include <gtest/gtest.h>

#include <stdexcept>
#include <thread>
#include <vector>

namespace latchkey::testing {
namespace {

using std::chrono::seconds;

TEST(ManualClock, StandsStillUntilItIsAdvanced) {
  ManualClock clock;
  const auto start = clock.now();
  EXPECT_EQ(start, ManualClock().now()) << "the same in each run";
  EXPECT_EQ(clock.now(), start);
  clock.advance(seconds(3));
  EXPECT_EQ(clock.now(), start + seconds(3));
  EXPECT_THROW(clock.advance(-seconds(1)), std::invalid_argument);
}

TEST(ManualClock, APastDeadlineDoesNotWait) {
  ManualClock clock;
  std::mutex mutex;
  std::condition_variable condition;
  std::unique_lock lock(mutex);
  clock.wait_until(lock, condition, clock.now());
  EXPECT_TRUE(lock.owns_lock());
}

TEST(ManualClock, WakesEverySleeper) {
  ManualClock clock;
  constexpr int threads = 4, rounds = 200;
  const auto start = clock.now();
  std::vector<std::thread> sleepers;
  for (int index = 0; index < threads; ++index) {
    sleepers.emplace_back([&] {
      std::mutex mutex;
      std::condition_variable condition;
      for (int round = 1; round <= rounds; ++round) {
        std::unique_lock lock(mutex);
        while (clock.now() < start + seconds(round)) {
          clock.wait_until(lock, condition, start + seconds(round));
        }
      }
    });
  }
  // As fast as it goes: some sleepers are on their way to sleep, and must not miss it.
  for (int round = 0; round < rounds; ++round) clock.advance(seconds(1));
  for (std::thread& sleeper : sleepers) sleeper.join();
  EXPECT_EQ(clock.sleepers(), 0U);
}

TEST(ManualClock, CountsSleepers) {
  ManualClock clock;
  EXPECT_FALSE(clock.await_sleepers(1, std::chrono::milliseconds(1)));
  std::mutex mutex;
  std::condition_variable condition;
  const auto deadline = clock.now() + seconds(2);
  std::thread sleeper([&] {
    std::unique_lock lock(mutex);
    while (clock.now() < deadline) clock.wait_until(lock, condition, deadline);
  });
  EXPECT_TRUE(clock.await_sleepers(1));
  clock.advance(seconds(1));
  EXPECT_TRUE(clock.await_sleepers(1)) << "woken too early, it sleeps again";
  clock.advance(seconds(1));
  sleeper.join();
  EXPECT_EQ(clock.sleepers(), 0U);
}

TEST(ManualClock, SkipsTheWaitsOfTheThreadThatAskedForIt) {
  ManualClock clock;
  const auto start = clock.now();
  std::mutex mutex;
  std::condition_variable condition;
  std::unique_lock lock(mutex);
  {
    const auto skipping = clock.skip_waits();
    clock.wait_until(lock, condition, start + seconds(5));
    EXPECT_EQ(clock.now(), start + seconds(5));
    EXPECT_TRUE(lock.owns_lock());
    clock.wait_until(lock, condition, start + seconds(2));
    EXPECT_EQ(clock.now(), start + seconds(5)) << "a deadline that has passed";
    std::jthread other([&] {
      std::mutex own;
      std::unique_lock held(own);
      while (clock.now() < start + seconds(6)) clock.wait_until(held, condition, clock.never());
    });
    EXPECT_TRUE(clock.await_sleepers(1)) << "others wait";
    clock.wait_until(lock, condition, start + seconds(6));
  }
  EXPECT_EQ(clock.now(), start + seconds(6));
}

}  // namespace
}  // namespace latchkey::testing
