// Losses are reported to the listener under every guard, and the program continues.
#include <gtest/gtest.h>

#include <future>
#include <mutex>
#include <shared_mutex>

#include <latchkey/error.hpp>

#include "support/manual_locks.hpp"

namespace latchkey {
namespace {

using namespace std::chrono_literals;
using tests::ManualLocks;
using Kind = Event::Kind;

class LossTest : public ::testing::Test, public ManualLocks {
 protected:
  /// The process stands still for longer than the watchdog's lease; then somebody else comes.
  void lose(const char* key) {
    clock.await_sleepers(1);
    clock.advance(31s);
    Hold theirs = another().lock(key, LockType::WRITE).acquire(0ms, 10s);
    EXPECT_TRUE(theirs.release());
  }

  void expect_one_loss(LockType type) {
    ASSERT_TRUE(recorder.await(Kind::lost));
    const auto losses = recorder.of(Kind::lost);
    ASSERT_EQ(losses.size(), 1U);
    EXPECT_EQ(losses[0].key, "k");
    EXPECT_EQ(losses[0].type, type);
    EXPECT_EQ(losses[0].owner, Owner::this_thread().number());
    EXPECT_EQ(losses[0].held, 31s);
    EXPECT_EQ(losses[0].text, "its lease ended");
    EXPECT_EQ(recorder.count(Kind::unlock_error), 0U);
    EXPECT_TRUE(locks.list().empty());
    EXPECT_TRUE(locks.lock("k").try_acquire().has_value());  // the key can be locked again
  }
};

TEST_F(LossTest, IsReportedOnceUnderScopedLock) {
  Lock lock = locks.lock("k");
  {
    const std::scoped_lock guard{lock};
    lose("k");
  }
  expect_one_loss(LockType::REENTRANT);
}

TEST_F(LossTest, IsReportedOnceUnderUniqueLock) {
  ReadWriteLock lock = locks.read_write("k");
  {
    const std::unique_lock guard{lock};
    lose("k");
  }
  expect_one_loss(LockType::WRITE);
}

TEST_F(LossTest, IsReportedOnceUnderSharedLock) {
  ReadWriteLock lock = locks.read_write("k");
  {
    const std::shared_lock guard{lock};
    lose("k");
  }
  expect_one_loss(LockType::READ);
}

TEST_F(LossTest, ForcedReleaseIsDetectedWithinAThirdOfTheWatchdogsPeriod) {
  const Hold hold = locks.lock("k").acquire(forever);
  ASSERT_TRUE(locks.force_release("k"));
  pass(10s);
  ASSERT_TRUE(recorder.await(Kind::lost));
  EXPECT_TRUE(hold.lost());
  EXPECT_EQ(recorder.of(Kind::lost)[0].text, "the backend no longer had it");
}

TEST_F(LossTest, ForcedReleaseIsDetectedWithinAThirdOfAnExplicitLease) {
  const Locks here = Locks::connect("memory:forced", {.clock = &clock, .listener = &recorder});
  const Locks elsewhere = Locks::connect("memory:forced", {.clock = &clock});
  const Hold hold = here.lock("k").acquire(0ms, 30min);
  ASSERT_TRUE(elsewhere.force_release("k"));
  Hold theirs = elsewhere.lock("k").acquire(0ms, 1h);
  ASSERT_TRUE(clock.await_sleepers(2));
  clock.advance(10min);
  ASSERT_TRUE(recorder.await(Kind::lost));
  EXPECT_TRUE(hold.lost());
  EXPECT_FALSE(theirs.lost());
  EXPECT_TRUE(theirs.release());
}

TEST_F(LossTest, ForcedReleaseIsDetectedThoughTheDeadlineWasExtended) {
  Hold hold = locks.lock("k").acquire(0ms, 30s);
  EXPECT_TRUE(hold.extend(90s));
  ASSERT_TRUE(locks.force_release("k"));
  pass(30s);
  ASSERT_TRUE(recorder.await(Kind::lost));
  EXPECT_TRUE(hold.lost());
}

TEST_F(LossTest, ForcedReleaseOfAllReadersIsReportedForEach) {
  const Hold one = locks.lock("k", LockType::READ).acquire(forever);
  const Hold two = another().lock("k", LockType::READ).acquire(forever);
  ASSERT_TRUE(locks.force_release("k"));
  pass(10s);
  ASSERT_TRUE(recorder.await(Kind::lost, 2));
  EXPECT_TRUE(one.lost() && two.lost());
}

TEST_F(LossTest, ALossEndsAllReentriesOfTheHold) {
  Lock lock = locks.lock("k");
  lock.lock();
  Hold hold = lock.acquire(forever);
  clock.await_sleepers(1);
  clock.advance(31s);
  EXPECT_TRUE(hold.lost());
  EXPECT_FALSE(hold.release());
  EXPECT_FALSE(lock.release());
  ASSERT_TRUE(recorder.await(Kind::lost));
  pass(1h);
  EXPECT_EQ(recorder.count(Kind::lost), 1U);
}

TEST_F(LossTest, AWaiterOfTheSameProcessIsBoundedByTheLease) {
  const Hold hold = locks.lock("k").acquire(0ms, 10s);
  auto waiter = std::async(std::launch::async, [&] { return locks.lock("k").acquire(forever); });
  ASSERT_TRUE(clock.await_sleepers(2));
  clock.advance(9'900ms);  // lost for the holder, still held in the backend
  EXPECT_TRUE(hold.lost());
  ASSERT_TRUE(clock.await_sleepers(2));
  clock.advance(100ms);
  EXPECT_FALSE(waiter.get().lost());
}

}  // namespace
}  // namespace latchkey
