// Runs the simulator with many seeds. A seed that fails is printed with its trace.
#include <cstdint>
#include <cstdlib>
#include <string>

#include <gtest/gtest.h>

#include <latchkey/testing/simulator.hpp>

#include "sim/seeds.hpp"

namespace latchkey::testing {
namespace {

using sim::first_seed;
using sim::seeds;

constexpr std::uint64_t steps = 1'000;

TEST(Simulator, EverySeedKeepsEveryPromise) {
  std::uint64_t grants = 0, losses = 0;
  for (std::uint64_t seed = first_seed(); seed < first_seed() + seeds(); ++seed) {
    const SimulationReport report = simulate(seed, {.steps = steps});
    grants += report.grants;
    losses += report.losses;
    ASSERT_EQ(report.violation, "") << "seed " << seed << "\n" << report.trace;
  }
  // Runs without grants and losses would prove nothing.
  EXPECT_GT(grants, 20 * seeds());
  EXPECT_GT(losses, seeds() / 2);
  RecordProperty("grants", std::to_string(grants));
  RecordProperty("losses", std::to_string(losses));
}

TEST(Simulator, SameSeedGivesSameRun) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const SimulationReport once = simulate(seed, {.steps = steps});
    const SimulationReport again = simulate(seed, {.steps = steps, .trace = true});
    ASSERT_EQ(once.hash, again.hash) << "seed " << seed;
    ASSERT_NE(once.hash, simulate(seed + 1'000, {.steps = steps}).hash);
    ASSERT_FALSE(again.trace.empty());
    ASSERT_TRUE(once.trace.empty());
  }
}

}  // namespace
}  // namespace latchkey::testing
