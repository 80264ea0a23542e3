// Threads that sleep on one futex receive each wake-up, sent alone or in a batch.
#include "redis/multiplexer/futex_wait_set.hpp"
#include "core/sleep_slice.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <deque>
#include <thread>
#include <vector>

namespace latchkey::detail::redis {
namespace {

using namespace std::chrono_literals;

void ring(Waiter& waiter) { waiter.ring().carry_out(); }

TEST(FutexWaitSet, ASleepEndsAtItsDeadline) {
  FutexWaitSet wait_set;
  Waiter waiter(wait_set);
  Clock& clock = Clock::system();
  const auto until = clock.now() + 20ms;
  waiter.sleep(clock, until);
  EXPECT_GE(clock.now(), until);
  EXPECT_EQ(waiter.take_reasons(), 0U);
}

// Futexes and poll do not count the time for which the machine was suspended.
TEST(FutexWaitSet, NobodySleepsLongerThanASecondWithoutALookAtTheBootTime) {
  const Clock& clock = Clock::system();
  EXPECT_LE(sleep_slice(clock, later(clock.now(), std::chrono::hours(1))), 1s);
  EXPECT_LE(sleep_slice(clock, Clock::never()), 1s);
  EXPECT_EQ(sleep_slice(clock, clock.now()), 0s);
}

TEST(FutexWaitSet, ASleepReturnsAtOnceIfThereIsAReason) {
  FutexWaitSet wait_set;
  Waiter waiter(wait_set);
  ring(waiter);
  waiter.sleep(Clock::system(), Clock::never());
  EXPECT_EQ(waiter.take_reasons(), Waiter::unparked);
}

// 40 sleepers share 32 bits, so a wake-up for one thread may also wake another, which goes back to
// sleep.
TEST(FutexWaitSet, EveryWakeUpArrivesOneByOneAndInBatches) {
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
        EXPECT_EQ(waiter.take_reasons(), Waiter::unparked);
        ++woken;
      }
    });
  }
  for (int round = 0; round < rounds; ++round) {
    if (round % 2 == 0) {
      for (Waiter& waiter : all) ring(waiter);
    } else {
      FutexWaitSet::WakeBatch batch(wait_set);
      for (Waiter& waiter : all) ring(waiter);
      EXPECT_FALSE(batch.empty());
    }
    while (woken.load() < (round + 1) * sleepers) std::this_thread::yield();
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(FutexWaitSet, ABatchCollectsOnlyTheWakeUpsOfItsWaitSet) {
  FutexWaitSet first, second;
  Waiter one(first), two(second);
  FutexWaitSet::WakeBatch outer(first);
  {
    FutexWaitSet::WakeBatch inner(second);
    EXPECT_EQ(two.ring().word, nullptr) << "collected";
    EXPECT_NE(one.ring().word, nullptr) << "the innermost batch is for the other set";
    EXPECT_FALSE(inner.empty());
    inner.wake_all();
    EXPECT_TRUE(inner.empty());
    EXPECT_EQ(one.take_reasons(), Waiter::unparked);
    EXPECT_EQ(one.ring().word, nullptr) << "the outer batch continues";
  }
  EXPECT_FALSE(outer.empty());
  outer.wake_all();
  EXPECT_TRUE(outer.empty());
}

}  // namespace
}  // namespace latchkey::detail::redis
