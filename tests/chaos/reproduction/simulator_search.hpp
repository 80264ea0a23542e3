// Looks in the simulator for a violation that the faults of a round cause.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "chaos/reproduction/simulator_schedule.hpp"

namespace latchkey::chaos {

/// Which seeds a search runs.
struct SeedRange {
  std::uint64_t first = 1;
  std::uint64_t count = 2'000;
  std::chrono::milliseconds longest{20'000};  ///< for all of them; at least one seed runs
};

struct SearchResult {
  std::uint64_t seeds = 0;              ///< that ran
  std::optional<std::uint64_t> seed{};  ///< the first whose run violates a promise
  testing::SimulationReport report{};   ///< the report on that seed's run
};

SearchResult search_seeds(const Schedule& schedule, const SeedRange& range);

/// A sentence. Writes the trace of a violation to `trace`.
std::string describe(const SearchResult& result, const std::filesystem::path& trace);

}  // namespace latchkey::chaos
