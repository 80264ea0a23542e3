// The scenarios of a Redisson locker test, for any backend.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <latch>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <latchkey/error.hpp>
#include <latchkey/locks.hpp>

#include "support/recorder.hpp"

namespace latchkey::tests {

/// A backend that the scenarios run on.
struct Place {
  const char* name;
  std::function<Locks(Options)> connect;
  bool lists = true;
};

class Locker : public ::testing::TestWithParam<Place> {
 protected:
  /// Runs `body(index)` on `count` threads, which start together.
  template <class Body>
  static void on_threads(int count, Body body) {
    std::latch start(count);
    std::vector<std::thread> threads;
    for (int index = 0; index < count; ++index) {
      threads.emplace_back([&, index] {
        start.arrive_and_wait();
        body(index);
      });
    }
    for (std::thread& thread : threads) thread.join();
  }

  [[nodiscard]] Locks another() const { return locks_.with_owner(Owner::make()); }

  Recorder recorder_;
  Locks locks_ = GetParam().connect({.listener = &recorder_});
};

TEST_P(Locker, TenThousandFreshKeysAreLockedAndUnlocked) {
  for (int number = 0; number < 10'000; ++number) {
    Lock lock = locks_.lock("fresh:" + std::to_string(number));
    ASSERT_TRUE(lock.try_lock()) << number;
    ASSERT_TRUE(lock.release()) << number;
  }
  EXPECT_TRUE(!GetParam().lists || locks_.list("fresh:*").empty());
}

TEST_P(Locker, SecondTryOfTheOwnerIsAReentry) {
  Lock lock = locks_.lock("reentrant");
  Lock others = another().lock("reentrant");
  ASSERT_TRUE(lock.try_lock());
  ASSERT_TRUE(lock.try_lock());
  EXPECT_TRUE(lock.release());
  EXPECT_FALSE(others.try_lock()) << "the owner still holds it once";
  EXPECT_TRUE(lock.release());
  EXPECT_TRUE(others.try_lock());
  EXPECT_TRUE(others.release());
}

TEST_P(Locker, TwoWaitersAreGrantedOneAfterTheOther) {
  Hold first = locks_.lock("two").acquire(forever);
  std::atomic<int> inside{0}, granted{0};
  std::jthread release([&] {
    EXPECT_TRUE(recorder_.await(Event::Kind::waiting, 2));
    EXPECT_TRUE(first.release());
  });
  on_threads(2, [&](int) {
    const Hold hold = another().lock("two").acquire(std::chrono::seconds(20));
    EXPECT_EQ(++inside, 1);
    ++granted;
    --inside;
  });
  EXPECT_EQ(granted, 2);
}

TEST_P(Locker, WaitForAHeldLockTimesOut) {
  const Hold held = locks_.lock("busy").acquire(forever);
  const auto started = std::chrono::steady_clock::now();
  EXPECT_FALSE(another().lock("busy").try_acquire(std::chrono::milliseconds(50)));
  EXPECT_GE(std::chrono::steady_clock::now() - started, std::chrono::milliseconds(50));
  EXPECT_THROW(static_cast<void>(another().lock("busy").acquire(std::chrono::milliseconds(10))),
               LockTimeout);
}

TEST_P(Locker, ExpiredLeaseGrantsTheNextWaiter) {
  Hold brief = locks_.lock("lease").acquire(forever, std::chrono::milliseconds(100));
  const std::optional<Hold> next = another().lock("lease").try_acquire(std::chrono::seconds(20));
  ASSERT_TRUE(next);
  EXPECT_TRUE(brief.lost()) << "the holder lost it before the next one was granted";
  EXPECT_FALSE(brief.release());
  EXPECT_FALSE(next->lost());
}

TEST_P(Locker, OneOfAThousandThreadsIsGrantedWhileItHolds) {
  std::atomic<int> granted{0}, refused{0};
  std::latch everybody_asked(1'000);
  on_threads(1'000, [&](int) {
    std::optional<Hold> hold;
    try {
      hold = locks_.lock("crowd").try_acquire(std::chrono::seconds(1));
    } catch (const BackendUnavailable&) {
      // A slow machine: this call had no reply within its wait.
    }
    ++(hold ? granted : refused);
    everybody_asked.count_down();
    if (hold) everybody_asked.wait();
  });
  EXPECT_EQ(granted, 1);
  EXPECT_EQ(refused, 999);
}

TEST_P(Locker, HundredThreadsWithALongWaitAreAllGranted) {
  int count = 0;
  std::atomic<int> granted{0};
  on_threads(100, [&](int) {
    const std::optional<Hold> hold = locks_.lock("patient").try_acquire(std::chrono::seconds(10));
    if (!hold) return;
    ++granted;
    ++count;  // guarded by the lock and nothing else
  });
  EXPECT_EQ(granted, 100);
  EXPECT_EQ(count, 100);
}

}  // namespace latchkey::tests
