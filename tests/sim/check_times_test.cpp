// The common times at which holds are checked.
#include <gtest/gtest.h>

#include <chrono>
#include <set>

#include "locks/coordinator/remote_hold.hpp"

namespace latchkey::detail {
namespace {

using namespace std::chrono_literals;

TEST(CommonCheckTime, IsEarlierByLessThanAnEighthOfTheInterval) {
  for (const Clock::duration interval :
       {Clock::duration(3'333'333), Clock::duration(10ms), Clock::duration(200ms),
        Clock::duration(10s), Clock::duration(8h)}) {
    for (const Clock::duration phase : {0ns, 1ns, 77'777'777ns, Clock::duration(9h)}) {
      for (int number = 0; number < 1'000; ++number) {
        const Clock::time_point at(1'000s + number * (interval / 7));
        const Clock::time_point common = common_check_time(at, interval, phase);
        ASSERT_LE(common, at);
        ASSERT_LT(at - common, interval / 8);
        ASSERT_EQ(common_check_time(common, interval, phase), common);
      }
    }
  }
}

TEST(CommonCheckTime, OfHoldsThatWereTakenAtDifferentTimesIsOftenTheSame) {
  std::set<Clock::time_point> times;
  for (int number = 0; number < 10'000; ++number) {
    times.insert(common_check_time(Clock::time_point(1'000s + number * 1ms), 10s, 123ms));
  }
  EXPECT_LE(times.size(), 17U);
}

TEST(CommonCheckTime, OfALongIntervalIsOneOfAShortInterval) {
  for (int number = 0; number < 1'000; ++number) {
    const Clock::time_point common =
        common_check_time(Clock::time_point(number * 777ms), 20s, 123ms);
    EXPECT_EQ(common_check_time(common, 1s, 123ms), common);
  }
}

TEST(CommonCheckTime, OfNeverIsNever) {
  EXPECT_EQ(common_check_time(Clock::never(), 10s, 5ms), Clock::never());
}

}  // namespace
}  // namespace latchkey::detail
