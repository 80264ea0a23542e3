// Shortening of a failing run.
// SPDX-License-Identifier: BSL-1.0
#include "chaos/run/shorten.hpp"

#include <gtest/gtest.h>

namespace latchkey::chaos {
namespace {

FaultNumbers numbers(std::size_t count) {
  FaultNumbers all;
  for (std::size_t each = 0; each < count; ++each) all.insert(each);
  return all;
}

TEST(Shorten, FindsTheTwoFaultsThatMatter) {
  const auto fails = [](const FaultNumbers& some) { return some.contains(3) && some.contains(17); };
  EXPECT_EQ(shorten(numbers(24), 100, fails), (FaultNumbers{3, 17}));
}

TEST(Shorten, StopsAfterItsAttempts) {
  int attempts = 0;
  const auto fails = [&](const FaultNumbers& some) { return ++attempts > 0 && some.contains(3); };
  EXPECT_TRUE(shorten(numbers(24), 2, fails).contains(3));
  EXPECT_EQ(attempts, 2);
}

TEST(Shorten, KeepsAllIfNothingShorterFails) {
  EXPECT_EQ(shorten(numbers(4), 100, [](const FaultNumbers&) { return false; }), numbers(4));
}

}  // namespace
}  // namespace latchkey::chaos
