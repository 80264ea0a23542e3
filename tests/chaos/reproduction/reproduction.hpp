// The reproduction of a round with a violation: files that run it again, shortened.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "chaos/faults/fault_plan.hpp"
#include "chaos/run/settings.hpp"

namespace latchkey::chaos {

struct FailedRound {
  Settings settings;
  std::uint64_t seed = 0;
  std::vector<PlannedFault> plan{};
  std::set<std::string> rules{};  ///< that it violates
};

/// Writes to `folder`, and prints the names and the commands:
///
/// | file            | has                                                                       |
/// |-----------------|---------------------------------------------------------------------------|
/// | replay          | the options of the round                                                  |
/// | replay.short    | the same with fewer faults and workers, if that violates one of its rules |
/// | schedule        | the faults that are left, for the simulator                               |
/// | simulated.trace | the run of the first seed that violates a promise with them, if one does  |
///
/// Clients with a known defect are not shortened: the simulator does not run them, either.
void reproduce(const FailedRound& failed, const std::filesystem::path& folder);

/// Runs the faults of a schedule, `settings.simulate`, with many seeds. Returns the exit status.
int run_simulator(const Settings& settings);

}  // namespace latchkey::chaos
