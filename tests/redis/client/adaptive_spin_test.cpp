// Looking for an answer before sleeping, and not where that saves nothing.
#include "redis/adaptive_spin.hpp"

#include <gtest/gtest.h>

namespace latchkey::detail::redis {
namespace {

using namespace std::chrono_literals;

class AdaptiveSpinTest : public ::testing::Test {
 protected:
  /// A thread spins for so long, in so many turns, as one of so many.
  AdaptiveSpin::Spin spin(Clock::duration length, std::uint32_t turns = 1'000,
                          std::uint32_t spinning = 1) {
    const Clock::time_point from = now;
    now += length;
    return {from, now, turns, spinning};
  }
  /// It looks to its end and finds nothing.
  void give_up() { account.gave_up(spin(AdaptiveSpin::window)); }
  void find(int times) {
    while (times-- > 0) account.found(spin(20us));
  }
  bool is_worth_it() { return account.is_worth_it(now); }

  AdaptiveSpin account;
  Clock::time_point now{1'000s};
};

TEST_F(AdaptiveSpinTest, IsTriedFirst) { EXPECT_TRUE(is_worth_it()); }

TEST_F(AdaptiveSpinTest, AFarServerCostsAHundredthOfTheTime) {
  const Clock::time_point begun = now;
  Clock::duration lost{};
  while (now - begun < 1s) {
    if (is_worth_it()) {
      give_up();
      lost += AdaptiveSpin::window;
    } else {
      now += 10us;
    }
  }
  EXPECT_GT(lost, 5ms);
  EXPECT_LT(lost, 11ms);
}

TEST_F(AdaptiveSpinTest, WhatSavesMoreThanItCostsGoesOn) {
  for (int round = 0; round < 1'000; ++round) {
    find(12);
    give_up();
    ASSERT_TRUE(is_worth_it()) << round;
  }
}

TEST_F(AdaptiveSpinTest, WhatWasRightForLongIsFoundOutWhenItTurnsWrong) {
  find(1'000'000);
  int tried = 0;
  while (is_worth_it()) give_up(), ++tried;
  EXPECT_EQ(tried, AdaptiveSpin::most / AdaptiveSpin::window + 1);
}

TEST_F(AdaptiveSpinTest, WhatManyThreadsLoseAtATimeIsLostOnce) {
  const AdaptiveSpin::Spin each = spin(AdaptiveSpin::window);
  for (int thread = 0; thread < 100; ++thread) account.gave_up(each);
  EXPECT_FALSE(is_worth_it());
  now += 100 * AdaptiveSpin::window;
  EXPECT_TRUE(is_worth_it());
}

TEST_F(AdaptiveSpinTest, ALaterLossDoesNotShortenWhatAnEarlierOneCosts) {
  give_up();
  const Clock::time_point again = now + 100 * AdaptiveSpin::window;
  account.gave_up(spin(1us));
  now = again - 1us;
  EXPECT_FALSE(is_worth_it());
}

TEST_F(AdaptiveSpinTest, OnlyItsTurnsAreLostWhileOthersHadTheProcessor) {
  account.gave_up(spin(AdaptiveSpin::window, 2));
  now += 100 * 2 * AdaptiveSpin::alone;
  EXPECT_TRUE(is_worth_it());
}

// Its answer was there, and it was not: somebody else needed the processor.
TEST_F(AdaptiveSpinTest, WhoIsBackLateHasLostAlsoWhereItFindsSomething) {
  account.found(spin(AdaptiveSpin::window + 3 * AdaptiveSpin::turn, 1, 3));
  EXPECT_TRUE(is_worth_it()) << "with three who spin it was not late";
  account.found(spin(AdaptiveSpin::window + 3 * AdaptiveSpin::turn + 500us, 1, 3));
  EXPECT_FALSE(is_worth_it());
  now += 100 * (500us - AdaptiveSpin::saving) - 1us;
  EXPECT_FALSE(is_worth_it());
  now += 1us;
  EXPECT_TRUE(is_worth_it());
}

TEST_F(AdaptiveSpinTest, AProcessThatWasStoppedForHoursSpinsAgainSoon) {
  account.gave_up(spin(std::chrono::hours(8)));
  now += 100 * AdaptiveSpin::most_lost;
  EXPECT_TRUE(is_worth_it());
}

}  // namespace
}  // namespace latchkey::detail::redis
