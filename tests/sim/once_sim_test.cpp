// Many seeds of the simulation of scheduled jobs.
#include <cstdint>
#include <string>

#include <gtest/gtest.h>

#include "sim/once_simulation.hpp"
#include "sim/seeds.hpp"

namespace latchkey::inline v1::sim {
namespace {

TEST(OnceSimulator, EverySeedKeepsEveryPromise) {
  std::uint64_t runs = 0, repeated = 0;
  for (std::uint64_t seed = first_seed(); seed < first_seed() + seeds(); ++seed) {
    const OnceSimulationReport report = OnceSimulation(seed).run(1'000);
    ASSERT_EQ(report.violation, "") << "seed " << seed;
    runs += static_cast<std::uint64_t>(report.runs);
    repeated += static_cast<std::uint64_t>(report.repeated);
  }
  EXPECT_GT(runs, 10 * seeds());
  EXPECT_GT(repeated, seeds()) << "runs that fail are repeated";
  RecordProperty("runs", std::to_string(runs));
  RecordProperty("repeated", std::to_string(repeated));
}

}  // namespace
}  // namespace latchkey::inline v1::sim
