// When a waiter asks again for a key that is busy.
#include "stores/driver/poll_pacing.hpp"

#include <gtest/gtest.h>

namespace latchkey::detail::stores {
namespace {

using namespace std::chrono_literals;
using TimePoint = Clock::time_point;

constexpr TimePoint wait_begin{1h};
constexpr HoldId first{{1, 2}, 3}, second{{1, 2}, 4};

TEST(PollPacing, AWaiterPausesForAQuarterOfItsWaitBetweenTheBounds) {
  PollPacing pacing(10ms);
  EXPECT_EQ(pacing.pause(first, wait_begin), 2ms);
  EXPECT_EQ(pacing.pause(first, wait_begin + 8ms), 2ms);
  EXPECT_EQ(pacing.pause(first, wait_begin + 20ms), 5ms);
  EXPECT_EQ(pacing.pause(first, wait_begin + 40ms), 10ms);
  EXPECT_EQ(pacing.pause(first, wait_begin + 1h), 10ms);
}

TEST(PollPacing, ALongestPauseBelowTheShortestIsKept) {
  PollPacing pacing(1ms);
  EXPECT_EQ(pacing.pause(first, wait_begin), 1ms);
  EXPECT_EQ(pacing.pause(first, wait_begin + 1s), 1ms);
}

TEST(PollPacing, EachWaiterHasItsOwnWait) {
  PollPacing pacing(10ms);
  static_cast<void>(pacing.pause(first, wait_begin));
  EXPECT_EQ(pacing.pause(second, wait_begin + 1s), 2ms);
  EXPECT_EQ(pacing.pause(first, wait_begin + 1s), 10ms);
}

TEST(PollPacing, AWaitThatHasEndedBeginsAnew) {
  PollPacing pacing(10ms);
  static_cast<void>(pacing.pause(first, wait_begin));
  pacing.forget(first);
  EXPECT_EQ(pacing.pause(first, wait_begin + 1s), 2ms);
}

TEST(PollPacing, WaitersThatHaveGoneWithoutAWordAreForgotten) {
  PollPacing pacing(10ms);
  for (std::uint64_t number = 1; number <= 10'000; ++number) {
    const TimePoint now = wait_begin + number * 1s;
    static_cast<void>(pacing.pause(first, now));
    static_cast<void>(pacing.pause({{7, 7}, number}, now));
    EXPECT_EQ(pacing.pause(first, now), number < 2 ? 2ms : 10ms);
  }
  EXPECT_LT(pacing.waits(), 100U);
}

}  // namespace
}  // namespace latchkey::detail::stores
