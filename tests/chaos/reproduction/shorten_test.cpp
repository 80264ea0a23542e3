// Shortening of a failing run.
// SPDX-License-Identifier: BSL-1.0
#include "chaos/reproduction/shorten.hpp"

#include <gtest/gtest.h>

namespace latchkey::chaos {
namespace {

Numbers numbers(std::size_t count) {
  Numbers all;
  for (std::size_t each = 0; each < count; ++each) all.insert(each);
  return all;
}

TEST(Shorten, FindsTheTwoFaultsThatMatter) {
  const auto fails = [](const Numbers& some) { return some.contains(3) && some.contains(17); };
  EXPECT_EQ(shorten(numbers(24), 100, fails), (Numbers{3, 17}));
}

TEST(Shorten, StopsAfterItsAttempts) {
  int attempts = 0;
  const auto fails = [&](const Numbers& some) { return ++attempts > 0 && some.contains(3); };
  EXPECT_TRUE(shorten(numbers(24), 2, fails).contains(3));
  EXPECT_EQ(attempts, 2);
}

TEST(Shorten, KeepsAllIfNothingShorterFails) {
  EXPECT_EQ(shorten(numbers(4), 100, [](const Numbers&) { return false; }), numbers(4));
}

TEST(Shorten, LeavesOutWorkersAfterTheFaults) {
  const auto fails = [](const ShortRound& some) {
    return some.faults.contains(3) && some.workers.contains(2);
  };
  const ShortRound left = shorten_round({numbers(24), numbers(4)}, 100, fails);
  EXPECT_EQ(left.faults, Numbers{3});
  EXPECT_EQ(left.workers, Numbers{2});
}

TEST(Shorten, KeepsAThirdOfItsAttemptsForTheWorkers) {
  int of_faults = 0, of_workers = 0;
  shorten_round({numbers(24), numbers(4)}, 12, [&](const ShortRound& some) {
    ++(some.faults.size() < 24 ? of_faults : of_workers);
    return false;
  });
  EXPECT_EQ(of_faults, 8);
  EXPECT_EQ(of_workers, 4);
}

TEST(Shorten, GivesTheWorkersTheAttemptsThatTheFaultsLeave) {
  int of_workers = 0;
  shorten_round({numbers(1), numbers(8)}, 12, [&](const ShortRound&) {
    ++of_workers;
    return false;
  });
  EXPECT_EQ(of_workers, 12);
}

}  // namespace
}  // namespace latchkey::chaos
