// A thread that ends while it holds a lock: the lock is reported, not renewed, and expires.
#include <gtest/gtest.h>

#include <future>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <latchkey/error.hpp>

#include "support/manual_locks.hpp"

namespace latchkey {
namespace {

using namespace std::chrono_literals;
using tests::ManualLocks;
using Kind = Event::Kind;

class ThreadEndTest : public ::testing::Test, public ManualLocks {};

TEST_F(ThreadEndTest, WithALockHeldIsReportedAndTheLeaseExpires) {
  Lock lock = locks.lock("k");
  std::uint64_t owner = 0;
  std::thread([&] {
    owner = Owner::this_thread().number();
    lock.lock();
    lock.lock();
  }).join();
  ASSERT_TRUE(recorder.await(Kind::abandoned));
  const auto told = recorder.of(Kind::abandoned);
  ASSERT_EQ(told.size(), 1U);
  EXPECT_EQ(told[0].key, "k");
  EXPECT_EQ(told[0].owner, owner);
  EXPECT_EQ(told[0].text, "its thread ended while it held by lock()");

  EXPECT_TRUE(locks.inspect("k").locked);
  EXPECT_FALSE(lock.try_lock());
  auto next = std::async(std::launch::async, [&] { return lock.acquire(forever); });
  ASSERT_TRUE(clock.await_sleepers(2));
  clock.advance(15s);
  EXPECT_EQ(next.wait_for(20ms), std::future_status::timeout);
  ASSERT_TRUE(clock.await_sleepers(2));
  clock.advance(15s);
  EXPECT_TRUE(next.get().release());
  EXPECT_EQ(recorder.count(Kind::renewed), 0U);
  EXPECT_EQ(recorder.count(Kind::lost), 0U);
}

TEST_F(ThreadEndTest, SharedLocksAreReportedToo) {
  ReadWriteLock lock = locks.read_write("k");
  std::thread([&] { lock.lock_shared(); }).join();
  EXPECT_TRUE(recorder.await(Kind::abandoned));
  EXPECT_FALSE(lock.try_lock());
  pass(30s);
  EXPECT_TRUE(tests::eventually([&] { return lock.try_lock(); }));
  lock.unlock();
}

TEST_F(ThreadEndTest, UnlockedLocksAreNotReported) {
  std::thread([&] {
    Lock lock = locks.lock("k");
    for (int round = 0; round < 3; ++round) {
      const std::scoped_lock guard{lock};
      EXPECT_TRUE(lock.try_lock());
      lock.unlock();
    }
  }).join();
  EXPECT_EQ(recorder.count(Kind::abandoned), 0U);
}

// An unlock that had nothing to undo took one off the thread's count of other locks.
TEST_F(ThreadEndTest, IsReportedThoughTheThreadUnlockedWhatItDidNotHold) {
  std::thread([&] {
    locks.lock("k").lock();
    locks.lock("other").unlock();
    EXPECT_THROW(locks.lock("other").release(), NotOwner);
  }).join();
  EXPECT_TRUE(recorder.await(Kind::abandoned));
}

TEST_F(ThreadEndTest, HoldsOutliveTheirThread) {
  std::optional<Hold> hold;
  std::thread([&] { hold = locks.lock("k").acquire(forever); }).join();
  for (int third = 0; third < 6; ++third) pass(10s);
  EXPECT_FALSE(hold->lost());
  EXPECT_EQ(recorder.count(Kind::abandoned), 0U);
  EXPECT_TRUE(hold->release());
}

TEST_F(ThreadEndTest, AHoldOutlivesItsThreadThoughTheLockOfTheSameKeyDoesNot) {
  std::optional<Hold> hold;
  std::thread([&] {
    Lock lock = locks.lock("k");
    lock.lock();
    hold = lock.acquire(forever);
  }).join();
  EXPECT_TRUE(recorder.await(Kind::abandoned));
  for (int third = 0; third < 6; ++third) pass(10s);
  EXPECT_FALSE(hold->lost());
  EXPECT_TRUE(hold->release());
  EXPECT_FALSE(locks.inspect("k").locked);
}

TEST_F(ThreadEndTest, LocksOfAnExplicitOwnerOutliveTheThread) {
  const Locks ours = another();
  std::thread([&] { ours.lock("k").lock(); }).join();
  for (int third = 0; third < 6; ++third) pass(10s);
  EXPECT_EQ(recorder.count(Kind::abandoned), 0U);
  EXPECT_TRUE(ours.lock("k").release());
}

struct Late {
  std::optional<Lock> lock;
  ~Late() {
    if (lock) lock->unlock();
  }
};
thread_local Late late;

// Thread locals are destroyed after the thread's function returned, the oldest one last.
TEST_F(ThreadEndTest, DestructorsOfThreadLocalsMayStillUnlock) {
  std::thread([&] {
    late.lock = locks.lock("k");  // before the thread has locked anything
    late.lock->lock();
  }).join();
  EXPECT_FALSE(locks.inspect("k").locked);
  locks.lock("other").acquire(forever).release();
  ASSERT_TRUE(recorder.await(Kind::released, 2));
  EXPECT_EQ(recorder.count(Kind::abandoned), 0U);
  EXPECT_EQ(recorder.count(Kind::unlock_error), 0U);
}

TEST_F(ThreadEndTest, MayComeAfterTheEndOfTheLocks) {
  std::thread([] {
    const Locks brief = Locks::connect("memory:");
    brief.lock("k").lock();
  }).join();
}

TEST_F(ThreadEndTest, OfManyThreadsAtOnceIsReportedForEach) {
  std::vector<std::thread> threads;
  for (int number = 0; number < 32; ++number) {
    threads.emplace_back([&, number] { locks.lock("k" + std::to_string(number % 40)).lock(); });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(recorder.await(Kind::abandoned, 32));
  pass(30s);
  EXPECT_TRUE(tests::eventually([&] { return locks.list().empty(); }));
}

}  // namespace
}  // namespace latchkey
