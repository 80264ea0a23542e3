// Looks in the simulator for a violation that the faults of a round cause.
// SPDX-License-Identifier: BSL-1.0
#include "chaos/reproduction/simulator_search.hpp"

#include <fstream>
#include <utility>

namespace latchkey::chaos {

SearchResult search_seeds(const Schedule& schedule, const SeedRange& range) {
  const auto end = std::chrono::steady_clock::now() + range.longest;
  SearchResult result;
  do {
    const std::uint64_t seed = range.first + result.seeds++;
    testing::SimulationReport report = testing::simulate(seed, {.schedule = schedule});
    if (report.violation.empty()) continue;
    result.seed = seed;
    result.report = std::move(report);
    return result;
  } while (result.seeds < range.count && std::chrono::steady_clock::now() < end);
  return result;
}

std::string describe(const SearchResult& result, const std::filesystem::path& trace) {
  if (!result.seed) {
    return "simulator: none of " + std::to_string(result.seeds) +
           " seeds violates a promise with these faults";
  }
  std::ofstream(trace) << result.report.violation << "\n\n" << result.report.trace;
  return "simulator: seed " + std::to_string(*result.seed) +
         " violates a promise with these faults: " + result.report.violation +
         "; trace: " + trace.string();
}

}  // namespace latchkey::chaos
