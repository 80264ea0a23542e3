// Many seeds of the simulation of Leaders.
#include <cstdint>
#include <string>

#include <gtest/gtest.h>

#include "sim/leader_simulation.hpp"
#include "sim/seeds.hpp"

namespace latchkey::inline v1::sim {
namespace {

TEST(LeaderSimulator, EverySeedKeepsEveryPromise) {
  std::uint64_t terms = 0, deposed = 0;
  for (std::uint64_t seed = first_seed(); seed < first_seed() + seeds(); ++seed) {
    const LeaderSimulationReport report = LeaderSimulation(seed).run(1'000);
    ASSERT_EQ(report.violation, "") << "seed " << seed;
    terms += static_cast<std::uint64_t>(report.terms);
    deposed += static_cast<std::uint64_t>(report.deposed);
  }
  EXPECT_GT(terms, 10 * seeds());
  EXPECT_GT(deposed, seeds());
  RecordProperty("terms", std::to_string(terms));
  RecordProperty("deposed", std::to_string(deposed));
}

}  // namespace
}  // namespace latchkey::inline v1::sim
