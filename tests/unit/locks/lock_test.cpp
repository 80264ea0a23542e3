// Lock as a mutex: guards, timed attempts, re-entry, and unlocks by other owners.
#include <latchkey/lock.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <concepts>
#include <mutex>
#include <thread>
#include <vector>

#include <latchkey/error.hpp>

#include "support/manual_locks.hpp"

namespace latchkey {
namespace {

using namespace std::chrono_literals;
using tests::ManualLocks;
using Kind = Event::Kind;

static_assert(std::copyable<Lock>);
static_assert(noexcept(std::declval<Lock&>().unlock()));

class LockTest : public ::testing::Test, public ManualLocks {};

TEST_F(LockTest, LocksAndUnlocks) {
  Lock lock = locks.lock("k");
  lock.lock();
  EXPECT_TRUE(locks.inspect("k").locked);
  EXPECT_FALSE(another().lock("k").try_lock());
  lock.unlock();
  EXPECT_FALSE(locks.inspect("k").locked);
  Lock theirs = another().lock("k");
  EXPECT_TRUE(theirs.try_lock());
  EXPECT_TRUE(theirs.release());
}

TEST_F(LockTest, StandardGuardsUseIt) {
  Lock lock = locks.lock("k");
  {
    const std::scoped_lock guard{lock};
    EXPECT_TRUE(locks.inspect("k").locked);
  }
  {
    std::unique_lock guard{lock, std::defer_lock};
    EXPECT_TRUE(guard.try_lock_for(1s));
    EXPECT_TRUE(locks.inspect("k").locked);
    guard.unlock();
    EXPECT_FALSE(locks.inspect("k").locked);
    EXPECT_TRUE(guard.try_lock());
  }
  EXPECT_FALSE(locks.inspect("k").locked);
  EXPECT_EQ(recorder.count(Kind::unlock_error), 0U);
}

TEST_F(LockTest, ScopedLockOfSeveralInAnyOrderNeverDeadlocks) {
  int counter = 0;
  const auto work = [&](const char* first, const char* second, const char* third) {
    Lock a = locks.lock(first), b = locks.lock(second), c = locks.lock(third);
    for (int round = 0; round < 200; ++round) {
      const std::scoped_lock guard{a, b, c};
      ++counter;
    }
  };
  std::thread one([&] { work("a", "b", "c"); });
  std::thread two([&] { work("c", "a", "b"); });
  std::thread three([&] { work("b", "c", "a"); });
  one.join();
  two.join();
  three.join();
  EXPECT_EQ(counter, 600);
  EXPECT_TRUE(locks.list().empty());
}

TEST_F(LockTest, CopiesAreTheSameLock) {
  Lock lock = locks.lock("k");
  Lock copy = lock;
  lock.lock();
  copy.lock();  // counted: the owner is the same
  lock.unlock();
  EXPECT_TRUE(locks.inspect("k").locked);
  copy.unlock();
  EXPECT_FALSE(locks.inspect("k").locked);
}

TEST_F(LockTest, OneHandleServesManyThreads) {
  Lock lock = locks.lock("k");
  int counter = 0;
  std::vector<std::thread> threads;
  for (int number = 0; number < 4; ++number) {
    threads.emplace_back([&] {
      for (int round = 0; round < 500; ++round) {
        const std::scoped_lock guard{lock};
        ++counter;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(counter, 2'000);
}

TEST_F(LockTest, ATimedAttemptGivesUpAfterItsWait) {
  Lock held = another().lock("k");
  held.lock();
  std::thread waiter([&] {
    const auto start = clock.now();
    EXPECT_FALSE(locks.lock("k").try_lock_for(250ms));
    EXPECT_GE(clock.now() - start, 250ms);
  });
  ASSERT_TRUE(recorder.await(Kind::attempt, 2));
  ASSERT_TRUE(clock.await_sleepers(2));  // the waiter and the timer
  clock.advance(250ms);
  waiter.join();
  held.unlock();
}

TEST_F(LockTest, ATimedAttemptEndsWithTheRelease) {
  Lock held = another().lock("k");
  held.lock();
  std::thread waiter([&] {
    Lock lock = locks.lock("k");
    EXPECT_TRUE(lock.try_lock_until(std::chrono::steady_clock::time_point::max()));
    lock.unlock();
  });
  ASSERT_TRUE(clock.await_sleepers(2));
  held.unlock();
  waiter.join();
}

TEST_F(LockTest, ADeadlineInThePastIsOneAttemptWithoutOverflow) {
  Lock lock = locks.lock("k");
  EXPECT_TRUE(lock.try_lock_until(std::chrono::system_clock::time_point::min()));
  Lock theirs = another().lock("k");
  EXPECT_FALSE(theirs.try_lock_until(std::chrono::steady_clock::time_point::min()));
  EXPECT_FALSE(theirs.try_lock_for(-1h));
  EXPECT_FALSE(theirs.try_lock_for(std::chrono::nanoseconds::min()));
  lock.unlock();
}

TEST_F(LockTest, UnlockOfAFreeLockIsReportedToTheListener) {
  Lock lock = locks.lock("k", LockType::FAIR);
  lock.unlock();
  ASSERT_TRUE(recorder.await(Kind::unlock_error));
  const Event event = recorder.of(Kind::unlock_error).front();
  EXPECT_EQ(event.key, "k");
  EXPECT_EQ(event.type, LockType::FAIR);
  EXPECT_EQ(event.owner, Owner::this_thread().number());
  EXPECT_THROW(lock.release(), NotOwner);
  EXPECT_TRUE(locks.list().empty());
}

TEST_F(LockTest, UnlockByAnotherOwnerFails) {
  Lock lock = locks.lock("k");
  lock.lock();
  EXPECT_THROW(another().lock("k").release(), NotOwner);
  std::thread([&] { EXPECT_THROW(lock.release(), NotOwner); }).join();
  EXPECT_TRUE(locks.inspect("k").locked);
  EXPECT_TRUE(lock.release());
}

TEST_F(LockTest, UnlockReleasesNoHoldAndAHoldUnlocksNoLock) {
  Lock lock = locks.lock("k");
  {
    const Hold hold = lock.acquire(forever);
    EXPECT_THROW(lock.release(), NotOwner);
    lock.lock();
    lock.unlock();
    EXPECT_FALSE(hold.lost());
    EXPECT_TRUE(locks.inspect("k").locked);
    lock.lock();
  }
  EXPECT_TRUE(locks.inspect("k").locked);
  EXPECT_EQ(locks.inspect("k").holders.size(), 1U);
  EXPECT_TRUE(lock.release());
  EXPECT_FALSE(locks.inspect("k").locked);
}

TEST_F(LockTest, ReleaseOfALostLockReturnsFalse) {
  Lock lock = locks.lock("k");
  lock.lock();
  pass(31s);  // too late for any renewal
  EXPECT_FALSE(lock.release());
  EXPECT_THROW(lock.release(), NotOwner);
  ASSERT_TRUE(recorder.await(Kind::lost));
  pass(1h);
  EXPECT_EQ(recorder.count(Kind::lost), 1U);
}

TEST_F(LockTest, AfterALossTheSameOwnerLocksAnewAndUnlocksTheNewOneFirst) {
  Lock lock = locks.lock("k");
  lock.lock();
  pass(31s);
  lock.lock();
  EXPECT_TRUE(lock.release());
  EXPECT_FALSE(lock.release());
  EXPECT_THROW(lock.release(), NotOwner);
}

}  // namespace
}  // namespace latchkey
