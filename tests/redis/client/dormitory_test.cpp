// Sleeping together: nobody is forgotten, and a bunch is woken at once.
#include "redis/dormitory.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <deque>
#include <thread>
#include <vector>

#include "redis/sleeper.hpp"

namespace latchkey::detail::redis {
namespace {

using namespace std::chrono_literals;

void ring(Sleeper& sleeper) { sleeper.ring().carry_out(); }

TEST(Dormitory, ASleepEndsAtItsTime) {
  Dormitory dormitory;
  Sleeper sleeper(dormitory);
  Clock& clock = Clock::system();
  const auto until = clock.now() + 20ms;
  sleeper.sleep(clock, until);
  EXPECT_GE(clock.now(), until);
  EXPECT_EQ(sleeper.take(), 0U);
}

TEST(Dormitory, AReasonThatCameFirstIsNotSleptThrough) {
  Dormitory dormitory;
  Sleeper sleeper(dormitory);
  ring(sleeper);
  sleeper.sleep(Clock::system(), Clock::never());
  EXPECT_EQ(sleeper.take(), Sleeper::rung);
}

// More sleepers than beds: some wake for one another and sleep on.
TEST(Dormitory, NobodyIsForgottenOneByOneNorInBunches) {
  constexpr int sleepers = 40, rounds = 200;
  Dormitory dormitory;
  std::deque<Sleeper> all;
  for (int index = 0; index < sleepers; ++index) all.emplace_back(dormitory);
  std::atomic<int> woken{0};
  std::vector<std::thread> threads;
  for (Sleeper& sleeper : all) {
    threads.emplace_back([&] {
      for (int round = 0; round < rounds; ++round) {
        sleeper.sleep(Clock::system(), Clock::never());
        EXPECT_EQ(sleeper.take(), Sleeper::rung);
        ++woken;
      }
    });
  }
  for (int round = 0; round < rounds; ++round) {
    if (round % 2 == 0) {
      for (Sleeper& sleeper : all) ring(sleeper);
    } else {
      Dormitory::Collection bunch(dormitory);
      for (Sleeper& sleeper : all) ring(sleeper);
      EXPECT_FALSE(bunch.empty());
    }
    while (woken.load() < (round + 1) * sleepers) std::this_thread::yield();
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(Dormitory, WhatIsCollectedForOneIsNotPutOffForAnother) {
  Dormitory here, there;
  Sleeper mine(here), theirs(there);
  Dormitory::Collection outer(here);
  {
    Dormitory::Collection inner(there);
    EXPECT_EQ(theirs.ring().word, nullptr) << "put off";
    EXPECT_NE(mine.ring().word, nullptr) << "the innermost collection is another's";
    EXPECT_FALSE(inner.empty());
    inner.wake_all();
    EXPECT_TRUE(inner.empty());
    EXPECT_EQ(mine.take(), Sleeper::rung);
    EXPECT_EQ(mine.ring().word, nullptr) << "the outer one goes on";
  }
  EXPECT_FALSE(outer.empty());
  outer.wake_all();
  EXPECT_TRUE(outer.empty());
}

}  // namespace
}  // namespace latchkey::detail::redis
