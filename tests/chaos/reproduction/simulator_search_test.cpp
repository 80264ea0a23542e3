// Looking for a violation in the simulator.
// SPDX-License-Identifier: BSL-1.0
#include "chaos/reproduction/simulator_search.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <sstream>
#include <string>

namespace latchkey::chaos {
namespace {

using namespace std::chrono_literals;

TEST(SimulatorSearch, RunsItsSeeds) {
  const Schedule schedule{{.at = 500ms, .kind = testing::ScheduledFault::Kind::crash}};
  const SearchResult result = search_seeds(schedule, {.count = 20, .longest = 60s});
  EXPECT_EQ(result.seeds, 20U);
  EXPECT_EQ(result.seed, std::nullopt);
  EXPECT_EQ(describe(result, {}),
            "simulator: none of 20 seeds violates a promise with these faults");
  EXPECT_EQ(search_seeds(schedule, {.longest = 0ms}).seeds, 1U) << "its time is over";
}

// Whatever faults a campaign draws, the simulator must not blame latchkey for them.
TEST(SimulatorSearch, TheFaultsOfCampaignsCauseNoViolation) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const Schedule schedule = translate(draw_faults(seed, {})).schedule;
    if (schedule.empty()) continue;
    const SearchResult result = search_seeds(schedule, {.first = seed, .count = 5, .longest = 60s});
    EXPECT_EQ(result.report.violation, "") << "seed " << result.seed.value() << "\n"
                                           << text_of(schedule);
  }
}

TEST(SimulatorSearch, LeavesTheTraceOfAViolationAsAFile) {
  const std::filesystem::path file =
      std::filesystem::temp_directory_path() / ("latchkey_trace." + std::to_string(::getpid()));
  const SearchResult result{3, 17, {.violation = "two hold", .trace = "1 us  c0  crash\n"}};
  EXPECT_EQ(
      describe(result, file),
      "simulator: seed 17 violates a promise with these faults: two hold; trace: " + file.string());
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  std::filesystem::remove(file);
  EXPECT_EQ(text.str(), "two hold\n\n1 us  c0  crash\n");
}

}  // namespace
}  // namespace latchkey::chaos
