// Many seeds of the simulation of a latch.
#include <cstdint>
#include <string>

#include <gtest/gtest.h>

#include "sim/latch_simulation.hpp"
#include "sim/seeds.hpp"

namespace latchkey::inline v1::sim {
namespace {

TEST(LatchSimulator, EverySeedKeepsEveryPromise) {
  LatchSimulationReport all;
  for (std::uint64_t seed = first_seed(); seed < first_seed() + seeds(); ++seed) {
    const LatchSimulationReport report = LatchSimulation(seed).run(1'000);
    ASSERT_EQ(report.violation, "") << "seed " << seed;
    all.opened += report.opened;
    all.timed_out += report.timed_out;
    all.unavailable += report.unavailable;
    all.counted += report.counted;
    all.uncertain += report.uncertain;
  }
  const auto runs = static_cast<int>(seeds());
  EXPECT_GT(all.opened, 10 * runs);
  EXPECT_GT(all.timed_out, runs / 2);
  EXPECT_GT(all.unavailable, runs / 10);
  EXPECT_GT(all.counted, 10 * runs);
  EXPECT_GT(all.uncertain, runs / 2);
  RecordProperty("opened", std::to_string(all.opened));
  RecordProperty("timed_out", std::to_string(all.timed_out));
  RecordProperty("unavailable", std::to_string(all.unavailable));
  RecordProperty("counted", std::to_string(all.counted));
  RecordProperty("uncertain", std::to_string(all.uncertain));
}

}  // namespace
}  // namespace latchkey::inline v1::sim
