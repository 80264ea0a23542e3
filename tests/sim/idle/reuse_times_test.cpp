// ReuseTimes: how soon a process comes back to the keys that it has released.
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>

#include "locks/coordinator/reuse_times.hpp"

namespace latchkey::detail {
namespace {

using namespace std::chrono_literals;

TEST(ReuseEstimate, ExpectsNothingBeforeTheFirstTime) {
  EXPECT_EQ(ReuseEstimate().expected(), 0ms);
}

TEST(ReuseEstimate, TheFirstTimeCountsThreefold) {
  ReuseEstimate estimate;
  estimate.add(100ms);
  EXPECT_EQ(estimate.expected(), 300ms) << "100 ms, and 4 times a deviation of half of it";
}

// RFC 6298: deviation 3/4 * 50 + 1/4 * |100 - 180| = 57.5, smoothed 7/8 * 100 + 1/8 * 180 = 110.
TEST(ReuseEstimate, SmoothsTheTimesAndTheirDeviation) {
  ReuseEstimate estimate;
  estimate.add(100ms);
  estimate.add(180ms);
  EXPECT_EQ(estimate.expected(), 340ms);
}

TEST(ReuseEstimate, EqualTimesLeaveTheLeastMargin) {
  ReuseEstimate estimate;
  for (int count = 0; count < 50; ++count) estimate.add(100ms);
  EXPECT_EQ(estimate.expected(), 110ms);
}

TEST(ReuseEstimate, AShortTimeIsExpectedWithTheLeastMargin) {
  ReuseEstimate estimate;
  estimate.add(20us);
  EXPECT_EQ(estimate.expected(), 11ms) << "rounded up";
}

TEST(ReuseEstimate, ExpectsNothingLaterThanASecond) {
  ReuseEstimate estimate;
  estimate.add(334ms);
  EXPECT_EQ(estimate.expected(), 0ms);
  for (int count = 0; count < 50; ++count) estimate.add(334ms);
  EXPECT_EQ(estimate.expected(), 344ms) << "the deviation is small now";
}

class ReuseTimesTest : public ::testing::Test {
 protected:
  void use_after(Clock::duration time, std::size_t hash = 7) {
    times.on_release(hash, LockType::WRITE, now);
    now += time;
    times.on_call(hash, LockType::WRITE, now);
  }

  ReuseTimes times;
  Clock::time_point now{1h};
};

TEST_F(ReuseTimesTest, LearnsEachKeyByItself) {
  EXPECT_EQ(times.expected(7), 0ms);
  use_after(100ms, 7);
  use_after(50ms, 8);
  EXPECT_EQ(times.expected(7), 300ms);
  EXPECT_EQ(times.expected(8), 150ms);
  EXPECT_EQ(times.expected(9), 0ms);
}

TEST_F(ReuseTimesTest, OnlyTheFirstCallAfterARelease) {
  times.on_call(7, LockType::WRITE, now);
  EXPECT_EQ(times.expected(7), 0ms) << "before any release";
  use_after(100ms);
  now += 50ms;
  times.on_call(7, LockType::WRITE, now);
  EXPECT_EQ(times.expected(7), 300ms) << "it waits for the call before it";
}

TEST_F(ReuseTimesTest, ALongTimeForgetsTheOnesBefore) {
  use_after(1ms);
  use_after(1'001ms);
  EXPECT_EQ(times.expected(7), 0ms);
  use_after(2ms);
  EXPECT_EQ(times.expected(7), 12ms) << "as the first one";
}

TEST_F(ReuseTimesTest, ACallOfAnotherTypeForgetsTheTimes) {
  use_after(1ms);
  times.on_release(7, LockType::WRITE, now);
  times.on_call(7, LockType::READ, now + 1ms);
  EXPECT_EQ(times.expected(7), 0ms);
}

TEST_F(ReuseTimesTest, TimesThatGrowAreExpectedNoLongerUntilTheyAreEven) {
  for (int count = 0; count < 20; ++count) use_after(2ms);
  use_after(800ms);
  use_after(800ms);
  EXPECT_EQ(times.expected(7), 0ms);
  for (int count = 0; count < 50; ++count) use_after(800ms);
  EXPECT_GT(times.expected(7), 800ms);
}

TEST_F(ReuseTimesTest, AKeyTakesThePlaceOfTheOneThatWasReleasedLongestAgo) {
  for (std::size_t key = 1; key <= 4; ++key) use_after(10ms, key << 20);
  use_after(10ms, 1 << 20);
  use_after(10ms, 5 << 20);
  EXPECT_EQ(times.expected(2 << 20), 0ms);
  for (const std::size_t key : {1U, 3U, 4U, 5U}) EXPECT_GT(times.expected(key << 20), 0ms) << key;
}

}  // namespace
}  // namespace latchkey::detail
