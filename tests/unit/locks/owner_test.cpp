// Owners: threads, short-lived threads, and owners that threads share.
#include <latchkey/owner.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <thread>

#include <latchkey/error.hpp>

#include "support/manual_locks.hpp"

namespace latchkey {
namespace {

using namespace std::chrono_literals;
using tests::ManualLocks;

class OwnerTest : public ::testing::Test, public ManualLocks {};

// The system gives the id of a thread that has ended to the next one: ours is never given again.
TEST_F(OwnerTest, TenThousandShortThreadsNeverReenter) {
  Lock lock = locks.lock("k");
  std::thread([&] { lock.lock(); }).join();  // its owner has ended, its lease has not
  std::set<std::uint64_t> numbers;
  for (int round = 0; round < 10'000; ++round) {
    std::thread([&] {
      EXPECT_FALSE(lock.try_lock());
      numbers.insert(Owner::this_thread().number());
    }).join();
    if (HasFailure()) break;
  }
  EXPECT_EQ(numbers.size(), 10'000U);
}

TEST_F(OwnerTest, TenThousandShortThreadsExcludeEachOther) {
  Lock lock = locks.lock("k");
  std::atomic<int> inside{0};
  int counter = 0;
  const auto visit = [&] {
    const std::scoped_lock guard{lock};
    EXPECT_EQ(++inside, 1);
    ++counter;
    --inside;
  };
  for (int round = 0; round < 2'500; ++round) {
    std::thread a(visit), b(visit), c(visit), d(visit);
    a.join();
    b.join();
    c.join();
    d.join();
  }
  EXPECT_EQ(counter, 10'000);
  EXPECT_TRUE(locks.list().empty());
}

TEST_F(OwnerTest, ThreadsThatShareAnOwnerReenter) {
  const Locks ours = locks.with_owner(Owner::make());
  Hold hold = ours.lock("k").acquire(forever);
  std::thread([&] {
    EXPECT_TRUE(ours.lock("k").try_lock());
    EXPECT_FALSE(locks.lock("k").try_lock());  // as itself it is another
  }).join();
  EXPECT_TRUE(hold.release());
  EXPECT_TRUE(locks.inspect("k").locked);  // by the lock() of that thread, whose owner lives on
  EXPECT_TRUE(ours.lock("k").release());
  EXPECT_FALSE(locks.inspect("k").locked);
}

TEST_F(OwnerTest, AWaiterReentersWhenItsOwnerIsGranted) {
  Hold theirs = another().lock("k").acquire(forever);
  const Locks ours = locks.with_owner(Owner::make());
  std::atomic<int> held{0};
  std::atomic<bool> leave{false};
  const auto wait = [&] {
    const Hold hold = ours.lock("k").acquire(forever);
    ++held;
    while (!leave) std::this_thread::yield();
  };
  std::thread one(wait), two(wait), three(wait);
  ASSERT_TRUE(clock.await_sleepers(4));
  EXPECT_TRUE(theirs.release());
  EXPECT_TRUE(tests::eventually([&] { return held == 3; }));
  EXPECT_EQ(locks.inspect("k").holders.size(), 1U);
  leave = true;
  one.join();
  two.join();
  three.join();
  EXPECT_TRUE(locks.list().empty());
}

TEST_F(OwnerTest, ReentryCanBeRefused) {
  Attempt attempt;
  attempt.reentry = latchkey::Reentry::refuse;
  Hold hold = locks.acquire("k", attempt);
  EXPECT_THROW(static_cast<void>(locks.acquire("k", attempt)), WouldDeadlock);
  EXPECT_THROW(static_cast<void>(locks.try_acquire("k", attempt)), WouldDeadlock);
  attempt.wait = 0ms;
  EXPECT_FALSE(another().try_acquire("k", attempt).has_value());
  EXPECT_TRUE(hold.release());
  EXPECT_TRUE(locks.try_acquire("k", attempt).has_value());
}

}  // namespace
}  // namespace latchkey
