// Threads spin while that saves time, and stop when it does not.
#include "redis/multiplexer/adaptive_spin.hpp"

#include <gtest/gtest.h>

namespace latchkey::detail::redis {
namespace {

using namespace std::chrono_literals;

class AdaptiveSpinTest : public ::testing::Test {
 protected:
  /// One of `spinning_threads` threads spins for `length`. Advances the clock.
  AdaptiveSpin::Attempt attempt(Clock::duration length, std::uint32_t yields = 1'000,
                                std::uint32_t spinning_threads = 1) {
    const Clock::time_point begin = now;
    now += length;
    return {begin, now, yields, spinning_threads};
  }
  /// A thread spins for the longest time allowed, without success.
  void fail() { spin.record_failure(attempt(AdaptiveSpin::max_spin)); }
  void succeed(int times) {
    while (times-- > 0) spin.record_success(attempt(20us));
  }
  bool should_spin() { return spin.should_spin(now); }

  AdaptiveSpin spin;
  Clock::time_point now{1'000s};
};

TEST_F(AdaptiveSpinTest, SpinsAtFirst) { EXPECT_TRUE(should_spin()); }

TEST_F(AdaptiveSpinTest, SpinningInVainCostsAHundredthOfTheTime) {
  const Clock::time_point begin = now;
  Clock::duration lost{};
  while (now - begin < 1s) {
    if (should_spin()) {
      fail();
      lost += AdaptiveSpin::max_spin;
    } else {
      now += 10us;
    }
  }
  EXPECT_GT(lost, 5ms);
  EXPECT_LT(lost, 11ms);
}

TEST_F(AdaptiveSpinTest, KeepsSpinningWhileThatSavesMoreThanItCosts) {
  for (int round = 0; round < 1'000; ++round) {
    succeed(12);
    fail();
    ASSERT_TRUE(should_spin()) << round;
  }
}

TEST_F(AdaptiveSpinTest, StopsSoonAfterSpinningCeasesToPayOff) {
  succeed(1'000'000);
  int failures = 0;
  while (should_spin()) fail(), ++failures;
  EXPECT_EQ(failures, AdaptiveSpin::max_credit / AdaptiveSpin::max_spin + 1);
}

TEST_F(AdaptiveSpinTest, TimeLostByManyThreadsAtOnceIsChargedOnce) {
  const AdaptiveSpin::Attempt each = attempt(AdaptiveSpin::max_spin);
  for (int thread = 0; thread < 100; ++thread) spin.record_failure(each);
  EXPECT_FALSE(should_spin());
  now += 100 * AdaptiveSpin::max_spin;
  EXPECT_TRUE(should_spin());
}

TEST_F(AdaptiveSpinTest, ALaterFailureDoesNotShortenThePauseOfAnEarlierOne) {
  fail();
  const Clock::time_point again = now + 100 * AdaptiveSpin::max_spin;
  spin.record_failure(attempt(1us));
  now = again - 1us;
  EXPECT_FALSE(should_spin());
}

TEST_F(AdaptiveSpinTest, ChargesOnlyTheYieldsWhileOtherThreadsRan) {
  spin.record_failure(attempt(AdaptiveSpin::max_spin, 2));
  now += 100 * 2 * AdaptiveSpin::idle_yield;
  EXPECT_TRUE(should_spin());
}

// The reply arrived, but the thread did not run because another one needed the processor.
TEST_F(AdaptiveSpinTest, ALateSuccessIsChargedTheTimeBeyondItsLimit) {
  spin.record_success(attempt(AdaptiveSpin::max_spin + 3 * AdaptiveSpin::grace_per_thread, 1, 3));
  EXPECT_TRUE(should_spin()) << "it is in time, with three spinning threads";
  spin.record_success(
      attempt(AdaptiveSpin::max_spin + 3 * AdaptiveSpin::grace_per_thread + 500us, 1, 3));
  EXPECT_FALSE(should_spin());
  now += 100 * (500us - AdaptiveSpin::sleep_cost) - 1us;
  EXPECT_FALSE(should_spin());
  now += 1us;
  EXPECT_TRUE(should_spin());
}

TEST_F(AdaptiveSpinTest, AProcessSuspendedForHoursSpinsAgainSoon) {
  spin.record_failure(attempt(std::chrono::hours(8)));
  now += 100 * AdaptiveSpin::max_charge;
  EXPECT_TRUE(should_spin());
}

}  // namespace
}  // namespace latchkey::detail::redis
