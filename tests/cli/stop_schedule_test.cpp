// StopSchedule: when a command that loses its lock gets SIGTERM, and when SIGKILL.
#include "cli/run/stop_schedule.hpp"

#include <gtest/gtest.h>

#include <chrono>

namespace latchkey::cli {
namespace {

using namespace std::chrono_literals;
using Phase = StopSchedule::Phase;

constexpr Clock::time_point start{1000s};

TEST(StopSchedule, LeavesTheCommandAloneWhileTheDeadlineIsFarAway) {
  StopSchedule schedule(5s, 30s);
  EXPECT_EQ(schedule.advance(start, start + 30s, false), Phase::running);
  EXPECT_EQ(schedule.due(start + 30s), start + 30s - 5s - StopSchedule::longest_margin);
}

TEST(StopSchedule, TerminatesSoEarlyThatTheKillFallsBeforeTheDeadline) {
  StopSchedule schedule(5s, 30s);
  const Clock::time_point deadline = start + 30s;
  const Clock::time_point told = schedule.due(deadline);
  EXPECT_EQ(schedule.advance(told - 1ms, deadline, false), Phase::running);
  EXPECT_EQ(schedule.advance(told, deadline, false), Phase::terminating);
  EXPECT_EQ(schedule.due(deadline), deadline - StopSchedule::longest_margin);
  EXPECT_EQ(schedule.advance(schedule.due(deadline), deadline, false), Phase::killing);
}

TEST(StopSchedule, GrantsTheGraceTimeAfterALossIfTheDeadlineIsFarAway) {
  StopSchedule schedule(5s, 30s);
  EXPECT_EQ(schedule.advance(start, start + 20s, true), Phase::terminating);
  EXPECT_EQ(schedule.due(start + 20s), start + 5s);
}

TEST(StopSchedule, KillsAtTheDeadlineWhenALossIsKnownLate) {
  StopSchedule schedule(5s, 30s);
  EXPECT_EQ(schedule.advance(start, start + 1s, true), Phase::terminating);
  EXPECT_EQ(schedule.due(start + 1s), start + 1s - StopSchedule::longest_margin);
}

TEST(StopSchedule, KillsAtOnceWhenTheDeadlineHasPassed) {
  StopSchedule schedule(5s, 30s);
  EXPECT_EQ(schedule.advance(start, start - 1s, true), Phase::killing);
}

TEST(StopSchedule, LimitsTheGraceTimeToAThirdOfTheLease) {
  StopSchedule schedule(5s, 3s);
  EXPECT_EQ(schedule.due(start + 3s), start + 3s - 1s - StopSchedule::longest_margin);
}

TEST(StopSchedule, LeavesTimeForARenewalOfAShortLease) {
  StopSchedule schedule(5s, 600ms);  // renewed every 200 ms
  EXPECT_EQ(schedule.advance(start, start + 390ms, false), Phase::running);
}

TEST(StopSchedule, DoesNotTakeBackATerminationWhenARenewalArrives) {
  StopSchedule schedule(5s, 30s);
  EXPECT_EQ(schedule.advance(start, start + 1s, false), Phase::terminating);
  EXPECT_EQ(schedule.advance(start + 10ms, start + 30s, false), Phase::terminating);
}

}  // namespace
}  // namespace latchkey::cli
