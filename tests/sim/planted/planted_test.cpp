// The simulator must detect each planted bug within 1 500 seeds.
#include <cstdint>
#include <string_view>

#include <gtest/gtest.h>

#include "locks/planted.hpp"
#include "testing/simulator/simulation.hpp"

namespace latchkey::sim {
namespace {

using detail::Bug;
using detail::planted_bug;

constexpr std::uint64_t steps = 1'000;
constexpr std::uint64_t most_seeds = 1'500;

struct Planted {
  Bug bug;
  std::string_view name;
};

class PlantedBug : public ::testing::TestWithParam<Planted> {
 protected:
  ~PlantedBug() override { planted_bug = Bug::none; }
};

TEST_P(PlantedBug, IsDetected) {
  std::uint64_t seed = 1;
  Report report;
  for (; seed <= most_seeds && report.violation.empty(); ++seed) {
    planted_bug = GetParam().bug;
    report = Simulation(seed, false).run(steps);
    planted_bug = Bug::none;
  }
  ASSERT_NE(report.violation, "") << "not within " << most_seeds << " seeds";
  RecordProperty("violation", report.violation);
  RecordProperty("seed", std::to_string(seed - 1));
  EXPECT_EQ(Simulation(seed - 1, false).run(steps).violation, "")
      << "without the bug the seed must be clean";
}

INSTANTIATE_TEST_SUITE_P(
    Coordinator, PlantedBug,
    ::testing::Values(Planted{Bug::deadline_from_the_reply, "deadline_from_the_reply"},
                      Planted{Bug::no_margin, "no_margin"},
                      Planted{Bug::late_renewal_revives, "late_renewal_revives"},
                      Planted{Bug::unknown_is_not_compensated, "unknown_is_not_compensated"},
                      Planted{Bug::id_used_again, "id_used_again"},
                      Planted{Bug::renewal_outlives_release, "renewal_outlives_release"},
                      Planted{Bug::watchdog_stops, "watchdog_stops"},
                      Planted{Bug::no_attempt_after_subscribing, "no_attempt_after_subscribing"},
                      Planted{Bug::gone_is_ignored, "gone_is_ignored"},
                      Planted{Bug::release_ignores_the_count, "release_ignores_the_count"},
                      Planted{Bug::anyone_reenters, "anyone_reenters"},
                      Planted{Bug::wait_is_no_bound, "wait_is_no_bound"},
                      Planted{Bug::local_holder_is_waited_for, "local_holder_is_waited_for"},
                      Planted{Bug::composite_keeps_what_it_holds, "composite_keeps_what_it_holds"},
                      Planted{Bug::composite_ignores_losses, "composite_ignores_losses"},
                      Planted{Bug::downgrade_stays_a_write, "downgrade_stays_a_write"},
                      Planted{Bug::absent_timeout_is_a_dead_reader,
                              "absent_timeout_is_a_dead_reader"},
                      Planted{Bug::read_is_renewed_as_write, "read_is_renewed_as_write"}),
    [](const auto& each) { return std::string(each.param.name); });

TEST(PlantedBugs, SameSeedsWithoutABugKeepEveryPromise) {
  for (std::uint64_t seed = 1; seed <= most_seeds; ++seed) {
    ASSERT_EQ(Simulation(seed, false).run(steps).violation, "") << "seed " << seed;
  }
}

}  // namespace
}  // namespace latchkey::sim
