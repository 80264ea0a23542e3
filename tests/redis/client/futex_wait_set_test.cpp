// Sleeping together: nobody is forgotten, and a bunch is woken at once.
#include "redis/futex_wait_set.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <deque>
#include <thread>
#include <vector>

#include "redis/waiter.hpp"

namespace latchkey::detail::redis {
namespace {

using namespace std::chrono_literals;

void ring(Waiter& waiter) { waiter.ring().carry_out(); }

TEST(FutexWaitSet, ASleepEndsAtItsTime) {
  FutexWaitSet wait_set;
  Waiter waiter(wait_set);
  Clock& clock = Clock::system();
  const auto until = clock.now() + 20ms;
  waiter.sleep(clock, until);
  EXPECT_GE(clock.now(), until);
  EXPECT_EQ(waiter.take(), 0U);
}

TEST(FutexWaitSet, AReasonThatCameFirstIsNotSleptThrough) {
  FutexWaitSet wait_set;
  Waiter waiter(wait_set);
  ring(waiter);
  waiter.sleep(Clock::system(), Clock::never());
  EXPECT_EQ(waiter.take(), Waiter::notified);
}

// More sleepers than beds: some wake for one another and sleep on.
TEST(FutexWaitSet, NobodyIsForgottenOneByOneNorInBunches) {
  constexpr int sleepers = 40, rounds = 200;
  FutexWaitSet wait_set;
  std::deque<Waiter> all;
  for (int index = 0; index < sleepers; ++index) all.emplace_back(wait_set);
  std::atomic<int> woken{0};
  std::vector<std::thread> threads;
  for (Waiter& waiter : all) {
    threads.emplace_back([&] {
      for (int round = 0; round < rounds; ++round) {
        waiter.sleep(Clock::system(), Clock::never());
        EXPECT_EQ(waiter.take(), Waiter::notified);
        ++woken;
      }
    });
  }
  for (int round = 0; round < rounds; ++round) {
    if (round % 2 == 0) {
      for (Waiter& waiter : all) ring(waiter);
    } else {
      FutexWaitSet::WakeBatch bunch(wait_set);
      for (Waiter& waiter : all) ring(waiter);
      EXPECT_FALSE(bunch.empty());
    }
    while (woken.load() < (round + 1) * sleepers) std::this_thread::yield();
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(FutexWaitSet, WhatIsCollectedForOneIsNotPutOffForAnother) {
  FutexWaitSet here, there;
  Waiter mine(here), theirs(there);
  FutexWaitSet::WakeBatch outer(here);
  {
    FutexWaitSet::WakeBatch inner(there);
    EXPECT_EQ(theirs.ring().word, nullptr) << "put off";
    EXPECT_NE(mine.ring().word, nullptr) << "the innermost collection is another's";
    EXPECT_FALSE(inner.empty());
    inner.wake_all();
    EXPECT_TRUE(inner.empty());
    EXPECT_EQ(mine.take(), Waiter::notified);
    EXPECT_EQ(mine.ring().word, nullptr) << "the outer one goes on";
  }
  EXPECT_FALSE(outer.empty());
  outer.wake_all();
  EXPECT_TRUE(outer.empty());
}

}  // namespace
}  // namespace latchkey::detail::redis
