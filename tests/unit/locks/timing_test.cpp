// The times of holds: deadlines, margins, renewals at a third, and re-entries that ask for more.
#include <gtest/gtest.h>

#include <chrono>

#include <latchkey/locks.hpp>

#include "support/manual_locks.hpp"

namespace latchkey {
namespace {

using namespace std::chrono_literals;
using tests::ManualLocks;
using Kind = Event::Kind;

class DeadlineTest : public ::testing::Test, public ManualLocks {};

// sent + lease - max(5 ms, lease / 100)
TEST_F(DeadlineTest, IsTheLeaseWithoutItsMargin) {
  const auto remaining = [&](std::chrono::milliseconds lease) {
    return locks.lock("k").acquire(0ms, lease).remaining();
  };
  EXPECT_EQ(remaining(10ms), 5ms);
  EXPECT_EQ(remaining(100ms), 95ms);
  EXPECT_EQ(remaining(500ms), 495ms);
  EXPECT_EQ(remaining(501ms), 495ms);  // 495.99
  EXPECT_EQ(remaining(10s), 9'900ms);
  EXPECT_EQ(remaining(30s), 29'700ms);
  EXPECT_EQ(locks.lock("k").acquire(forever).remaining(),
            29'700ms);  // the watchdog's period
}

TEST_F(DeadlineTest, IsExactToTheNanosecond) {
  const Hold hold = locks.lock("k").acquire(0ms, 500ms);
  clock.advance(495ms - 1ns);
  EXPECT_FALSE(hold.lost());
  EXPECT_EQ(hold.remaining(), 0ms);  // less than one
  clock.advance(1ns);
  EXPECT_TRUE(hold.lost());
}

TEST_F(DeadlineTest, ComesBeforeTheBackendCanGrantToAnother) {
  const Hold hold = locks.lock("k").acquire(0ms, 500ms);
  clock.advance(497ms);
  EXPECT_TRUE(hold.lost());
  EXPECT_TRUE(locks.inspect("k").locked);
  clock.advance(3ms);
  EXPECT_TRUE(another().lock("k").try_acquire(0ms, 10s).has_value());
}

TEST_F(DeadlineTest, AnExplicitLeaseIsVerifiedAndNeverExtended) {
  const Hold hold = locks.lock("k").acquire(0ms, 9s);
  pass(3s);
  EXPECT_EQ(hold.remaining(), 5'910ms);
  pass(3s);
  EXPECT_EQ(hold.remaining(), 2'910ms);
  EXPECT_EQ(recorder.count(Kind::renewed), 0U);
  pass(3s);
  EXPECT_TRUE(hold.lost());
}

TEST_F(DeadlineTest, AReentrySendsNothingWhileTwoThirdsRemain) {
  const Hold outer = locks.lock("k").acquire(0ms, 30s);
  pass(9s);
  const Hold same = locks.lock("k").acquire(0ms, 30s);
  EXPECT_EQ(same.remaining(), 20'700ms);
  const Hold shorter = locks.lock("k").acquire(0ms, 10s);
  EXPECT_EQ(shorter.remaining(), 20'700ms);
  EXPECT_EQ(recorder.count(Kind::renewed), 0U);
}

TEST_F(DeadlineTest, AReentryWithALongerLeaseAwaitsOneRenewal) {
  const Hold outer = locks.lock("k").acquire(0ms, 10s);
  const Hold inner = locks.lock("k").acquire(0ms, 60s);
  EXPECT_EQ(inner.remaining(), 59'400ms);
  EXPECT_EQ(outer.remaining(), 59'400ms);  // they share one remote hold
  EXPECT_TRUE(recorder.await(Kind::renewed));
}

TEST_F(DeadlineTest, AWatchdogInsideAnExplicitLeaseRenewsAsLongAsItIsHeld) {
  const Hold outer = locks.lock("k").acquire(0ms, 12s);
  {
    const Hold inner = locks.lock("k").acquire(forever);
    for (int third = 0; third < 9; ++third) pass(10s);
    EXPECT_FALSE(inner.lost());
    EXPECT_FALSE(outer.lost());
  }
  pass(30s);
  EXPECT_TRUE(outer.lost());
}

class WatchdogTest : public ::testing::Test, public ManualLocks {};

TEST_F(WatchdogTest, RenewsEveryThirdOfItsPeriod) {
  const Hold hold = locks.lock("k").acquire(forever);
  pass(10s - 1ms);
  EXPECT_EQ(recorder.count(Kind::renewed), 0U);
  EXPECT_EQ(hold.remaining(), 19'701ms);
  pass(1ms);
  EXPECT_TRUE(recorder.await(Kind::renewed, 1));
  EXPECT_EQ(hold.remaining(), 29'700ms);
  pass(10s);
  EXPECT_TRUE(recorder.await(Kind::renewed, 2));
  EXPECT_EQ(hold.remaining(), 29'700ms);
}

TEST_F(WatchdogTest, KeepsAHoldForManyPeriods) {
  Lock lock = locks.lock("k", LockType::WRITE);
  lock.lock();
  Hold read = locks.lock("r", LockType::READ).acquire(forever);
  for (int third = 0; third < 300; ++third) {
    pass(10s);
    ASSERT_TRUE(locks.inspect("k").locked);
  }
  EXPECT_TRUE(recorder.await(Kind::renewed, 600));
  EXPECT_TRUE(read.release());
  EXPECT_TRUE(lock.release());
  EXPECT_EQ(recorder.count(Kind::lost), 0U);
}

TEST_F(WatchdogTest, StopsWithTheRelease) {
  locks.lock("k").acquire(forever).release();
  Hold other = locks.lock("other").acquire(0ms, 1h);  // gives the timer something to do
  for (int third = 0; third < 12; ++third) pass(10s);
  EXPECT_TRUE(other.release());
  EXPECT_EQ(recorder.count(Kind::renewed), 0U);
  EXPECT_TRUE(locks.list().empty());
}

TEST_F(WatchdogTest, AFrozenProcessFindsItsHoldsLost) {
  const Hold hold = locks.lock("k").acquire(forever);
  clock.await_sleepers(1);
  clock.advance(1h);
  EXPECT_TRUE(hold.lost());
  EXPECT_TRUE(recorder.await(Kind::lost));
  pass(1h);
  EXPECT_TRUE(hold.lost());
  EXPECT_EQ(recorder.count(Kind::renewed), 0U);
}

TEST(WatchdogPeriodTest, IsTakenFromTheOptions) {
  latchkey::testing::ManualClock clock;
  tests::Recorder recorder;
  const Locks locks =
      Locks::connect("memory:", {.watchdog = 300ms, .clock = &clock, .listener = &recorder});
  const Hold hold = locks.lock("k").acquire(forever);
  EXPECT_EQ(hold.remaining(), 295ms);
  ASSERT_TRUE(clock.await_sleepers(1));
  clock.advance(100ms);
  EXPECT_TRUE(recorder.await(Kind::renewed));
  EXPECT_TRUE(tests::eventually([&] { return hold.remaining() == 295ms; }));
}

}  // namespace
}  // namespace latchkey
