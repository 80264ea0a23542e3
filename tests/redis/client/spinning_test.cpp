// Looking for an answer before sleeping, and not where that saves nothing.
#include "redis/spinning.hpp"

#include <gtest/gtest.h>

namespace latchkey::detail::redis {
namespace {

using namespace std::chrono_literals;

class SpinningTest : public ::testing::Test {
 protected:
  /// A spin that looks to its end and finds nothing.
  void give_up() {
    spinning.gave_up(1'000, now, now + Spinning::window);
    now += Spinning::window;
  }
  bool is_worth_it() { return spinning.is_worth_it(now); }

  Spinning spinning;
  Clock::time_point now{1'000s};
};

TEST_F(SpinningTest, IsTriedFirst) { EXPECT_TRUE(is_worth_it()); }

TEST_F(SpinningTest, AFarServerCostsAHundredthOfTheTime) {
  const Clock::time_point begun = now;
  Clock::duration lost{};
  while (now - begun < 1s) {
    if (is_worth_it()) {
      give_up();
      lost += Spinning::window;
    } else {
      now += 10us;
    }
  }
  EXPECT_GT(lost, 5ms);
  EXPECT_LT(lost, 11ms);
}

TEST_F(SpinningTest, WhatSavesMoreThanItCostsGoesOn) {
  for (int round = 0; round < 1'000; ++round) {
    for (int times = 0; times < 12; ++times) spinning.found();
    give_up();
    ASSERT_TRUE(is_worth_it()) << round;
  }
}

TEST_F(SpinningTest, WhatWasRightForLongIsFoundOutWhenItTurnsWrong) {
  for (int times = 0; times < 1'000'000; ++times) spinning.found();
  int tried = 0;
  while (is_worth_it()) give_up(), ++tried;
  EXPECT_EQ(tried, Spinning::most / Spinning::window + 1);
}

TEST_F(SpinningTest, WhatManyThreadsLoseAtATimeIsLostOnce) {
  const Clock::time_point end = now + Spinning::window;
  for (int thread = 0; thread < 100; ++thread) spinning.gave_up(1'000, now, end);
  now = end;
  EXPECT_FALSE(is_worth_it());
  now += 100 * Spinning::window;
  EXPECT_TRUE(is_worth_it());
}

TEST_F(SpinningTest, ALaterLossDoesNotShortenWhatAnEarlierOneCosts) {
  give_up();
  const Clock::time_point again = now + 100 * Spinning::window;
  spinning.gave_up(1, now, now + 1us);
  now = again - 1us;
  EXPECT_FALSE(is_worth_it());
}

TEST_F(SpinningTest, OnlyItsTurnsAreLostWhileOthersHadTheProcessor) {
  spinning.gave_up(2, now, now + Spinning::window);
  now += Spinning::window + 100 * 2 * Spinning::alone;
  EXPECT_TRUE(is_worth_it());
}

TEST_F(SpinningTest, ALongYieldIsLostUnlessManySpin) {
  const auto length = Spinning::absence + 10 * Spinning::turn;
  EXPECT_FALSE(spinning.yielded(now, now + length, 10));
  EXPECT_TRUE(spinning.is_worth_it(now + length));
  EXPECT_FALSE(spinning.yielded(now, now + length, 9));
  EXPECT_FALSE(spinning.is_worth_it(now + length));
  EXPECT_FALSE(spinning.is_worth_it(now + 100 * length));
}

TEST_F(SpinningTest, AfterAShortYieldAThreadIsAlone) {
  EXPECT_TRUE(spinning.yielded(now, now + Spinning::alone - 1ns, 1));
  EXPECT_FALSE(spinning.yielded(now, now + Spinning::alone, 1));
}

}  // namespace
}  // namespace latchkey::detail::redis
