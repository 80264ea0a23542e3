// The simulator must detect each mutation of this folder within 1 500 seeds.
#include <cstdint>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "sim/every_schedule.hpp"
#include "sim/latch_simulation.hpp"
#include "sim/leader_simulation.hpp"
#include "sim/mutations/mutated.hpp"
#include "sim/once_simulation.hpp"
#include "testing/simulator/simulation.hpp"

namespace latchkey::sim {
namespace {

using tests::active_mutation;

constexpr std::uint64_t steps = 1'000;
constexpr std::uint64_t most_seeds = 1'500;
constexpr std::string_view mutations[] = {
#include "mutations.inc"
};

class Mutations : public ::testing::TestWithParam<std::string_view> {
 protected:
  ~Mutations() override { active_mutation = {}; }
};

TEST_P(Mutations, AreDetected) {
  std::uint64_t seed = 1;
  Report report;
  for (; seed <= most_seeds && report.violation.empty(); ++seed) {
    active_mutation = GetParam();
    report = Simulation(seed, false).run(steps);
    if (report.violation.empty()) report.violation = OnceSimulation(seed).run(steps).violation;
    if (report.violation.empty()) report.violation = LeaderSimulation(seed).run(steps).violation;
    if (report.violation.empty()) report.violation = LatchSimulation(seed).run(steps).violation;
    active_mutation = {};
  }
  ASSERT_NE(report.violation, "") << "not within " << most_seeds << " seeds";
  RecordProperty("violation", report.violation);
  RecordProperty("seed", std::to_string(seed - 1));
  EXPECT_EQ(Simulation(seed - 1, false).run(steps).violation, "")
      << "without the mutation the seed must be clean";
  EXPECT_EQ(OnceSimulation(seed - 1).run(steps).violation, "");
  EXPECT_EQ(LeaderSimulation(seed - 1).run(steps).violation, "");
  EXPECT_EQ(LatchSimulation(seed - 1).run(steps).violation, "");
}

INSTANTIATE_TEST_SUITE_P(Simulator, Mutations, ::testing::ValuesIn(mutations),
                         [](const auto& each) { return std::string(each.param); });

/// Runs all schedules of idle holds until one breaks a promise.
std::string violation_of_a_schedule() {
  std::string violation;
  for (const Budget& budget : idle_budgets) {
    Choices choices;
    do {
      violation = Schedule(choices, budget).run();
    } while (violation.empty() && choices.next());
    if (!violation.empty()) return violation;
  }
  return violation;
}

// The schedules have no close, no request that is late, and no reply that is later than its
// request.
TEST(Schedules, DetectMutationsOfIdleHolds) {
  for (const std::string_view name : {"idle_hold_ignores_the_reply", "idle_hold_is_taken_late",
                                      "idle_hold_outlives_its_lease", "idle_hold_repeats_its_token",
                                      "recall_is_ignored", "recall_takes_the_lock_from_its_call"}) {
    active_mutation = name;
    EXPECT_NE(violation_of_a_schedule(), "") << name;
    active_mutation = {};
  }
}

TEST(WithoutMutation, TheSameSeedsKeepEveryPromise) {
  for (std::uint64_t seed = 1; seed <= most_seeds; ++seed) {
    ASSERT_EQ(Simulation(seed, false).run(steps).violation, "") << "seed " << seed;
    ASSERT_EQ(OnceSimulation(seed).run(steps).violation, "") << "seed " << seed;
    ASSERT_EQ(LeaderSimulation(seed).run(steps).violation, "") << "seed " << seed;
    ASSERT_EQ(LatchSimulation(seed).run(steps).violation, "") << "seed " << seed;
  }
}

}  // namespace
}  // namespace latchkey::sim
