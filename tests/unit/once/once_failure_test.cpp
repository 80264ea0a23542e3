// OncePer: bodies that throw, processes that freeze, and stores that fail.
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>

#include <latchkey/cron.hpp>
#include <latchkey/error.hpp>
#include <latchkey/once_per.hpp>

#include "support/failing_backend.hpp"
#include "unit/once/once_fixture.hpp"

namespace latchkey {
namespace {

using namespace std::chrono_literals;
using Kind = Event::Kind;
using tests::eventually;
using tests::OnceTest;

constexpr OncePerOptions skipping{.on_failure = OnFailure::skip_instant};

class OnceFailureTest : public OnceTest {
 protected:
  static void fail() { throw std::runtime_error("the printer burns"); }
};

TEST_F(OnceFailureTest, AFailedInstantIsRunAgain) {
  const OncePer here = one.locks.once_per("report", period);
  EXPECT_THROW(here.run(fail), std::runtime_error);
  ASSERT_TRUE(one.recorder.await(Kind::once_failed));
  EXPECT_EQ(one.recorder.of(Kind::once_failed)[0].text, "2024-01-01T00:00:00Z: the printer burns");
  EXPECT_TRUE(other.locks.once_per("report", period).run([] {}));
  EXPECT_FALSE(here.run([] {}));
}

TEST_F(OnceFailureTest, AFailedInstantIsSkippedIfThatIsChosen) {
  const OncePer here = one.locks.once_per("report", period, skipping);
  const OncePer there = other.locks.once_per("report", period, skipping);
  EXPECT_THROW(here.run(fail), std::runtime_error);
  EXPECT_TRUE(one.recorder.await(Kind::once_failed));
  EXPECT_EQ(there.run([] {}).outcome, OnceOutcome::taken);
  pass(period - 1ms);
  EXPECT_EQ(there.run([] {}).outcome, OnceOutcome::taken) << "to the end of the instant";
  EXPECT_EQ(here.run([] {}).outcome, OnceOutcome::taken);
}

TEST_F(OnceFailureTest, WhoeverWaitsForARunThatFailsRunsTheInstant) {
  const OncePer here = one.locks.once_per("report", period);
  const OncePer there = other.locks.once_per("report", period, {.wait = 1min});
  bool ran = false;
  std::thread waiter;
  EXPECT_THROW(here.run([&] {
    waiter = std::thread([&] { ran = static_cast<bool>(there.run([] {})); });
    ASSERT_TRUE(other.recorder.await(Kind::waiting));
    fail();
  }),
               std::runtime_error);
  waiter.join();
  EXPECT_TRUE(ran);
}

TEST_F(OnceFailureTest, AWaitEndsWhenItIsTooLateForTheInstant) {
  const OncePer here = one.locks.once_per("report", period);
  const OncePer there =
      other.locks.once_per("report", period, {.start_within = 10s, .wait = latchkey::forever});
  ASSERT_TRUE(here.run([] {}));
  const auto skip_waits = clock.skip_waits();
  const auto began = clock.now();
  EXPECT_FALSE(there.run([] {}));
  EXPECT_EQ(clock.now() - began, 10s);
}

// It waited past the next instant, which it could then miss.
TEST_F(OnceFailureTest, AWaitOfACronJobEndsWithItsInstant) {
  const Cron often("*/5 * * * *");
  const OncePer here = one.locks.once_per("report", often);
  const OncePer there = other.locks.once_per("report", often, {.wait = 10min});
  ASSERT_TRUE(here.run([] {}));
  const auto next = there.next_instant();
  const auto skip_waits = clock.skip_waits();
  EXPECT_FALSE(there.run([] {}));
  EXPECT_EQ(clock.wall(), next);
}

// The process is frozen between the request and its reply. By then the mark of another run has
// ended, so that the grant is no proof.
TEST_F(OnceFailureTest, AGrantThatArrivesAfterItsInstantRunsNothing) {
  for (const OnFailure on_failure : {OnFailure::retry, OnFailure::skip_instant}) {
    const OncePer job = one.locks.once_per("report", period, {.on_failure = on_failure});
    one.clock.jump_after_reads = 2;  // before the request, and after the reply
    one.clock.jump = period;
    EXPECT_EQ(job.run([] { FAIL() << "the instant is over"; }).outcome, OnceOutcome::late);
    EXPECT_TRUE(one.locks.list().empty()) << "the grant was given back";
    one.clock.error = 0ms;
  }
}

TEST_F(OnceFailureTest, AFrozenRunIsToldAndAnotherOneMayFollow) {
  const OncePer here = one.locks.once_per("report", period);
  const OncePer there = other.locks.once_per("report", period);
  EXPECT_THROW(here.run([&](const OnceRun& run) {
    clock.advance(31s);  // longer than the lease, at once: nothing was renewed
    EXPECT_TRUE(run.lost());
    EXPECT_TRUE(eventually([&] { return run.stop.stop_requested(); }));
    EXPECT_TRUE(there.run([] {}));
  }),
               LockLost);
  ASSERT_TRUE(one.recorder.await(Kind::once_failed));
}

TEST_F(OnceFailureTest, AFrozenRunThatNobodyFollowedMarksItsInstant) {
  const OncePer here = one.locks.once_per("report", period);
  try {
    here.run([&] { clock.advance(31s); });
    FAIL() << "others could have run it";
  } catch (const LockLost& lost) {
    EXPECT_TRUE(lost.body_ran());
  }
  EXPECT_EQ(other.locks.once_per("report", period).run([] {}).outcome, OnceOutcome::taken);
}

TEST_F(OnceFailureTest, ARunThatIsSkippedOnFailureMayFreeze) {
  const OncePer here = one.locks.once_per("report", period, skipping);
  const OncePer there = other.locks.once_per("report", period, skipping);
  EXPECT_TRUE(here.run([&] {
    clock.advance(period - 1ms);
    EXPECT_EQ(there.run([] {}).outcome, OnceOutcome::taken);
  }));
  EXPECT_TRUE(one.recorder.of(Kind::lost).empty());
}

TEST_F(OnceFailureTest, ABodyLongerThanItsMarkHasStillRunOnce) {
  const OncePer here = one.locks.once_per("report", period, skipping);
  EXPECT_TRUE(here.run([&] { clock.advance(2 * period); }));
}

TEST_F(OnceFailureTest, AForcedReleaseIsALoss) {
  for (const OncePerOptions& options : {OncePerOptions{}, skipping}) {
    const std::string key = options.on_failure == OnFailure::retry ? "retried" : "skipped";
    const OncePer here = one.locks.once_per(key, period, options);
    EXPECT_THROW(here.run([&](const OnceRun& run) {
      const std::string of_instant = other.locks.list("latchkey_once:" + key + ":*").at(0);
      EXPECT_TRUE(other.locks.force_release(of_instant));
      for (int check = 0; check < 8 && !run.stop.stop_requested(); ++check) {
        pass(options.on_failure == OnFailure::retry ? 10s : 60s);
        clock.await_sleepers(1);
      }
      EXPECT_TRUE(eventually([&] { return run.stop.stop_requested(); }));
    }),
                 LockLost);
  }
}

TEST(OnceBackend, OneThatKeepsNothingLockedIsRefused) {
  tests::Faults faults;
  const Locks locks(std::make_unique<tests::FailingBackend>(faults));
  try {
    static_cast<void>(locks.once_per("report", 15min));
    FAIL() << "it does not offer expire";
  } catch (const std::invalid_argument& error) {
    EXPECT_EQ(std::string(error.what()),
              "failing keeps no key locked after its holder has ended, which OncePer needs; "
              "expected memory:, redis://, postgresql:// or mysql://");
  }
}

}  // namespace
}  // namespace latchkey
