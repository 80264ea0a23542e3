// DueTimes: how long the timer thread may sleep.
#include "locks/space/due_times.hpp"

#include <gtest/gtest.h>

#include <chrono>

namespace latchkey::detail {
namespace {

using std::chrono::seconds;

constexpr Clock::time_point start{seconds(1'000)};

/// Whether the timer thread was woken. Returns at once if it was.
bool woken(DueTimes& times) {
  Clock& clock = Clock::system();
  return times.parker().park_until(clock, later(clock.now(), seconds(10)));
}

TEST(DueTimes, NothingIsDueAtFirst) {
  DueTimes times;
  EXPECT_FALSE(times.is_due(0, start));
  EXPECT_EQ(times.prepare_sleep(), Clock::never());
}

TEST(DueTimes, SleepsUntilTheEarliestGroup) {
  DueTimes times;
  times.lower(3, start + seconds(2));
  times.lower(7, start + seconds(1));
  EXPECT_EQ(times.prepare_sleep(), start + seconds(1));
  EXPECT_TRUE(times.is_due(7, start + seconds(1)));
  EXPECT_FALSE(times.is_due(3, start + seconds(1)));
}

TEST(DueTimes, ALaterTimeDoesNotMoveAGroup) {
  DueTimes times;
  times.note(3, start + seconds(1));
  times.note(3, start + seconds(2));
  EXPECT_EQ(times.prepare_sleep(), start + seconds(1));
}

TEST(DueTimes, AClearedGroupIsNotDue) {
  DueTimes times;
  times.note(3, start);
  times.clear(3);
  EXPECT_FALSE(times.is_due(3, start));
  EXPECT_EQ(times.prepare_sleep(), Clock::never());
}

TEST(DueTimes, AnEarlierTimeWakesTheSleeper) {
  DueTimes times;
  times.note(3, start + seconds(2));
  EXPECT_TRUE(woken(times));  // the first time wakes the thread from wait_for_work
  EXPECT_EQ(times.prepare_sleep(), start + seconds(2));
  times.note(7, start + seconds(1));
  EXPECT_TRUE(woken(times));
}

TEST(DueTimes, ATimeAfterTheEndOfTheSleepWakesNoThread) {
  DueTimes times;
  times.lower(3, start + seconds(1));
  EXPECT_EQ(times.prepare_sleep(), start + seconds(1));
  times.note(7, start + seconds(2));
  EXPECT_FALSE(times.parker().park_until(Clock::system(), Clock::system().now()));
}

}  // namespace
}  // namespace latchkey::detail
