// Thousands of seeds through the simulator; a seed that fails is printed with all that happened.
#include <cstdint>
#include <cstdlib>
#include <string>

#include <gtest/gtest.h>

#include "sim/simulator/seeds.hpp"
#include "sim/simulator/simulation.hpp"

namespace latchkey::sim {
namespace {

constexpr std::uint64_t steps = 1'000;

TEST(Simulator, KeepsEveryPromiseInEverySeed) {
  std::uint64_t grants = 0, losses = 0;
  for (std::uint64_t seed = first_seed(); seed < first_seed() + seeds(); ++seed) {
    const Report report = simulate(seed, steps);
    grants += report.grants;
    losses += report.losses;
    ASSERT_EQ(report.violation, "") << "seed " << seed << "\n" << report.trace;
  }
  // A simulator in which nothing happens finds nothing.
  EXPECT_GT(grants, 20 * seeds());
  EXPECT_GT(losses, seeds() / 2);
  RecordProperty("grants", std::to_string(grants));
  RecordProperty("losses", std::to_string(losses));
}

TEST(Simulator, ASeedReplaysExactly) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const Report once = simulate(seed, steps);
    const Report again = simulate(seed, steps, true);
    ASSERT_EQ(once.hash, again.hash) << "seed " << seed;
    ASSERT_NE(once.hash, simulate(seed + 1'000, steps).hash);
    ASSERT_FALSE(again.trace.empty());
  }
}

}  // namespace
}  // namespace latchkey::sim
