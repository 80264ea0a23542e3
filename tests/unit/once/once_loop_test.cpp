// OncePer::run_until: the loop of a scheduler, and jobs at the instants of cron expressions.
#include <latchkey/once_per.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <iostream>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <stop_token>
#include <streambuf>
#include <string>
#include <thread>
#include <vector>

#include <latchkey/cron.hpp>

#include "once/once_schedule.hpp"
#include "unit/once/once_fixture.hpp"

namespace latchkey {
namespace {

using namespace std::chrono_literals;
using Kind = Event::Kind;
using tests::OnceTest;

class OnceLoopTest : public OnceTest {
 protected:
  /// Advances the clock in small steps until `done` says so.
  template <class Done>
  void pass_until(Clock::duration step, Done&& done) {
    while (!done()) {
      clock.await_sleepers(1);
      clock.advance(step);
    }
  }
};

TEST_F(OnceLoopTest, RunsAtEachInstantUntilAStopIsRequested) {
  const OncePer report = one.locks.once_per("report", period);
  std::atomic<int> runs = 0;
  std::jthread loop([&](const std::stop_token& stop) { report.run_until(stop, [&] { ++runs; }); });
  for (int instant = 1; instant <= 4; ++instant) {
    if (instant > 1) pass(period);
    EXPECT_TRUE(tests::eventually([&] { return runs == instant; }));
  }
  loop.request_stop();
  loop.join();
  EXPECT_FALSE(report.run([] {})) << "the last instant is taken";
}

TEST_F(OnceLoopTest, StopRequestEndsTheSleepAtOnce) {
  const OncePer yearly = one.locks.once_per("yearly", 24h * 365);
  std::jthread loop([&](const std::stop_token& stop) { yearly.run_until(stop, [] {}); });
  ASSERT_TRUE(one.recorder.await(Kind::once_ran));
  loop.request_stop();
  loop.join();  // the test's own limit ends it otherwise
}

TEST_F(OnceLoopTest, FailedRunIsToldAndTriedAgainWithinItsInstant) {
  const OncePer daily = one.locks.once_per("daily", 24h);
  std::atomic<int> runs = 0;
  std::jthread loop([&](const std::stop_token& stop) {
    daily.run_until(stop, [&] {
      if (++runs < 3) throw std::runtime_error("no paper");
    });
  });
  pass_until(500ms, [&] { return runs >= 3; });
  ASSERT_TRUE(one.recorder.await(Kind::once_ran));
  loop.request_stop();
  loop.join();
  EXPECT_EQ(one.recorder.of(Kind::once_failed).size(), 2U);
  EXPECT_LT(clock.wall() - daily.current_instant(), 1h) << "it did not wait for the next instant";
}

TEST_F(OnceLoopTest, SkippedInstantIsNotTriedAgain) {
  const OncePer daily = one.locks.once_per("daily", 24h, {.on_failure = OnFailure::skip_instant});
  std::atomic<int> runs = 0;
  std::jthread loop([&](const std::stop_token& stop) {
    daily.run_until(stop, [&] {
      ++runs;
      throw std::runtime_error("no paper");
    });
  });
  pass_until(500ms, [&] { return one.recorder.of(Kind::once_taken).size() == 1; });
  loop.request_stop();
  loop.join();
  EXPECT_EQ(runs, 1);
}

TEST_F(OnceLoopTest, ClosedLocksEndIt) {
  const OncePer daily = one.locks.once_per("daily", 24h);
  one.locks.close(0ms);
  daily.run_until({}, [] { ADD_FAILURE(); });
}

TEST_F(OnceLoopTest, AFailureBeforeTheBodyNamesTheKeyAsItWasGiven) {
  tests::Recorder recorder;
  const Locks locks(detail::make_memory_backend("memory:" + store, {.clock = &clock}),
                    {.prefix = "app:", .clock = &clock, .listener = &recorder});
  const OncePer daily = locks.once_per("daily", 24h);
  const std::string of_instant = detail::once_key("daily", daily.current_instant());
  const Hold other = locks.semaphore(of_instant, 1).acquire(1, forever);
  std::jthread loop([&](const std::stop_token& stop) {
    daily.run_until(stop, [] { ADD_FAILURE() << "the key is a semaphore"; });
  });
  ASSERT_TRUE(recorder.await(Kind::once_failed));
  loop.request_stop();
  loop.join();
  EXPECT_EQ(recorder.of(Kind::once_failed)[0].key, "daily");
}

// It named the instant that had come meanwhile.
TEST_F(OnceLoopTest, AFailureAfterTheNextInstantNamesTheOneThatFailed) {
  const Locks silent(detail::make_memory_backend("memory:" + store, {.clock = &clock}),
                     {.clock = &clock});  // without a listener
  const OncePer report = silent.once_per("report", period);
  std::ostringstream told;
  std::streambuf* const before = std::clog.rdbuf(told.rdbuf());
  std::stop_source stop;
  report.run_until(stop.get_token(), [&] {
    clock.advance(period);
    stop.request_stop();
    throw std::runtime_error("no paper");
  });
  EXPECT_TRUE(silent.flush(tests::patience));
  std::clog.rdbuf(before);
  EXPECT_NE(told.str().find("failed at 2024-01-01T00:00:00Z: no paper"), std::string::npos)
      << told.str();
}

TEST_F(OnceLoopTest, CronJobRunsOncePerInstantAndItsKeyEndsWithIt) {
  const Cron quarter("*/15 * * * *");
  const OncePer here = one.locks.once_per("quarter", quarter);
  const OncePer there = other.locks.once_per("quarter", quarter);
  EXPECT_EQ(here.period(), 0ms);
  EXPECT_EQ(here.next_instant() - here.current_instant(), 15min);
  EXPECT_TRUE(here.run([] {}));
  EXPECT_EQ(there.run([] {}).outcome, OnceOutcome::taken);
  pass(15min);
  EXPECT_EQ(there.run([] {}).outcome, OnceOutcome::ran);
  pass(20min);
  EXPECT_EQ(one.locks.list("*").size(), 0U) << "no key outlives its instant for long";
}

TEST_F(OnceLoopTest, CronJobBeginsWithinADayAtMost) {
  const OncePer yearly = one.locks.once_per("yearly", Cron("0 0 1 1 *"));
  EXPECT_TRUE(yearly.run([] {}));
  const OncePer late = one.locks.once_per("late", Cron("0 0 30 12 *"));
  EXPECT_EQ(late.run([] {}).outcome, OnceOutcome::late) << "the instant was two days ago";
}

TEST_F(OnceLoopTest, OffsetIsNotForCron) {
  try {
    static_cast<void>(one.locks.once_per("k", Cron("@daily"), {.offset = 3h}));
    FAIL();
  } catch (const std::invalid_argument& error) {
    EXPECT_NE(std::string(error.what()).find("OncePerOptions::offset is for periods"),
              std::string::npos);
  }
}

}  // namespace
}  // namespace latchkey
