// OncePer: who runs an instant, and for how long it stays taken.
#include <latchkey/once_per.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>

#include <latchkey/error.hpp>

#include "unit/once/once_fixture.hpp"

namespace latchkey {
namespace {

using namespace std::chrono_literals;
using Kind = Event::Kind;
using tests::OnceProcess;
using tests::OnceTest;

TEST_F(OnceTest, OneProcessRunsAnInstantAndTheOthersLearnWho) {
  const OncePer here = one.locks.once_per("report", period);
  const OncePer there = other.locks.once_per("report", period);
  const OnceResult<int> ran = here.run([] { return 7; });
  EXPECT_EQ(ran.outcome, OnceOutcome::ran);
  EXPECT_EQ(ran.value, 7);
  EXPECT_EQ(ran.instant, clock.wall());
  const OnceResult<int> taken = there.run([] { return 8; });
  EXPECT_EQ(taken.outcome, OnceOutcome::taken);
  EXPECT_EQ(taken.value, std::nullopt);
  EXPECT_NE(taken.runner, "") << "the store knows who";
  EXPECT_EQ(here.run([] { return 9; }).outcome, OnceOutcome::taken) << "nor does it itself";
  pass(period);
  EXPECT_EQ(there.run([] { return 8; }).value, 8) << "the next instant";
}

TEST_F(OnceTest, TheEventsSayWhatBecameOfARun) {
  ASSERT_TRUE(one.locks.once_per("report", period).run([&] { clock.advance(2s); }));
  EXPECT_FALSE(other.locks.once_per("report", period).run([] {}));
  ASSERT_TRUE(one.recorder.await(Kind::once_ran));
  const Event ran = one.recorder.of(Kind::once_ran)[0];
  EXPECT_EQ(ran.key, "report");
  EXPECT_EQ(ran.text, "2024-01-01T00:00:00Z");
  EXPECT_EQ(ran.held, 2s);
  ASSERT_TRUE(other.recorder.await(Kind::once_taken));
  EXPECT_NE(other.recorder.of(Kind::once_taken)[0].holder, "");
}

TEST_F(OnceTest, InstantsAreMultiplesOfThePeriodPlusTheOffset) {
  const OncePer nightly = one.locks.once_per("nightly", 24h, {.offset = 3h});
  using std::chrono::sys_days;
  const auto day = sys_days(std::chrono::year(2024) / 1 / 1);
  EXPECT_EQ(nightly.current_instant(), day - 21h) << "yesterday's, 03:00";
  EXPECT_EQ(nightly.next_instant(), day + 3h);
  clock.set_wall(day + 3h - 1ms);
  EXPECT_EQ(nightly.next_instant(), day + 3h);
  clock.set_wall(day + 3h);
  EXPECT_EQ(nightly.current_instant(), day + 3h);
  EXPECT_EQ(nightly.next_instant(), day + 27h);
  clock.set_wall(std::chrono::system_clock::time_point(-1ms));
  EXPECT_EQ(nightly.current_instant(), std::chrono::system_clock::time_point(-21h));
}

TEST_F(OnceTest, AClockThatIsBehindOrAheadRunsNoInstantTwice) {
  const OncePerOptions options{.clock_error = 5s};
  clock.set_wall(clock.wall() + 10s);
  one.clock.error = 5s;
  other.clock.error = -5s;
  const OncePer here = one.locks.once_per("report", period, options);
  const OncePer there = other.locks.once_per("report", period, options);
  EXPECT_TRUE(here.run([] {}));
  // The other one's clock still shows this instant when a full period has passed.
  pass(period - 10s);
  EXPECT_EQ(there.current_instant(), here.current_instant() - period);
  EXPECT_EQ(there.run([] {}).outcome, OnceOutcome::taken);
  pass(4'999ms);
  EXPECT_EQ(there.run([] {}).outcome, OnceOutcome::taken) << "to its last moment";
}

TEST_F(OnceTest, TheKeyOfAnInstantIsFreeOnceNobodyCanBeginIt) {
  const OncePer job = one.locks.once_per("report", period, {.clock_error = 5s});
  ASSERT_TRUE(job.run([] {}));
  const auto locked = [&] { return !other.locks.list("latchkey_once:report:*").empty(); };
  EXPECT_TRUE(locked());
  pass(period + 10s);
  EXPECT_TRUE(locked()) << "the period and twice the error";
  pass(period / 10);
  EXPECT_FALSE(locked());
}

TEST_F(OnceTest, TheMarkOutlivesTheLocksThatSetIt) {
  {
    OnceProcess gone(clock, store);
    ASSERT_TRUE(gone.locks.once_per("report", period).run([] {}));
  }
  EXPECT_EQ(other.locks.once_per("report", period).run([] {}).outcome, OnceOutcome::taken);
  {
    OnceProcess closed(clock, store);
    ASSERT_TRUE(closed.locks.once_per("closed", period).run([] {}));
    closed.locks.close(0ms);
  }
  EXPECT_EQ(other.locks.once_per("closed", period).run([] {}).outcome, OnceOutcome::taken);
}

TEST_F(OnceTest, AWatchdogKeepsALongRunFromOthers) {
  const OncePer here = one.locks.once_per("report", period);
  const OncePer there = other.locks.once_per("report", period);
  EXPECT_TRUE(here.run([&] {
    for (int third = 0; third < 12; ++third) {
      pass(10s);
      clock.await_sleepers(1);
    }
    EXPECT_EQ(there.run([] {}).outcome, OnceOutcome::taken) << "after 2 min, 4 leases";
  }));
}

TEST_F(OnceTest, ALateStartRunsNothing) {
  const OncePer job = one.locks.once_per("report", period, {.start_within = 1min});
  clock.set_wall(clock.wall() + 1min);
  const OnceResult<void> late = job.run([] { FAIL() << "it is too late"; });
  EXPECT_EQ(late.outcome, OnceOutcome::late);
  EXPECT_EQ(late.instant, job.current_instant());
  EXPECT_TRUE(one.recorder.await(Kind::once_late));
  EXPECT_TRUE(one.locks.list().empty()) << "nothing was sent";
  clock.set_wall(clock.wall() - 1ms);
  EXPECT_TRUE(job.run([] {}));
}

TEST_F(OnceTest, ABodyMayAskForItsInstantAndAStopToken) {
  const OncePer job = one.locks.once_per("report", period);
  EXPECT_TRUE(job.run([&](const OnceRun& run) {
    EXPECT_EQ(run.instant, job.current_instant());
    EXPECT_FALSE(run.stop.stop_requested());
    EXPECT_FALSE(run.lost());
  }));
}

TEST_F(OnceTest, JobsWithOtherPeriodsShareTheInstantsOfBoth) {
  EXPECT_TRUE(one.locks.once_per("report", 15min).run([] {}));
  EXPECT_FALSE(other.locks.once_per("report", 1h).run([] {})) << "a period changes by and by";
  EXPECT_TRUE(other.locks.once_per("report:2", 1h).run([] {}));
}

TEST_F(OnceTest, WrongOptionsAreNamed) {
  const auto text = [&](std::chrono::milliseconds length, const OncePerOptions& options) {
    try {
      static_cast<void>(one.locks.once_per("k", length, options));
    } catch (const std::invalid_argument& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(text(9ms, {.clock_error = 0ms}),
            "the period of a OncePer is 9 ms; expected 10 to 31622400000 ms");
  EXPECT_EQ(text(1h, {.offset = 1h}),
            "OncePerOptions::offset is 3600000 ms; expected 0 to 3599999 ms");
  EXPECT_EQ(text(1s, {.clock_error = 2s}),
            "OncePerOptions::clock_error is 2000 ms; expected 0 to 1000 ms");
  EXPECT_EQ(text(1h, {.start_within = 2h}),
            "OncePerOptions::start_within is 7200000 ms; expected 1 to 3600000 ms");
  EXPECT_TRUE(text(1h, {.on_failure = OnFailure::skip_instant, .wait = 1s})
                  .starts_with("OncePerOptions::wait has nothing to wait for"));
  EXPECT_THROW(static_cast<void>(one.locks.once_per("", 1h)), KeyError);
  EXPECT_THROW(static_cast<void>(one.locks.once_per(std::string(1'000, 'k'), 1h)), KeyError);
}

}  // namespace
}  // namespace latchkey
