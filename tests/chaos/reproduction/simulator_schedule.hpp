// The faults of a round as a schedule of the simulator.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include <latchkey/testing/simulator.hpp>

#include "chaos/faults/fault_plan.hpp"

namespace latchkey::chaos {

using Schedule = std::vector<testing::ScheduledFault>;

struct TranslatedPlan {
  Schedule schedule{};
  std::size_t left_out = 0;  ///< planned faults that have no counterpart in the simulator
};

/// | planned fault                                                 | scheduled faults           |
/// |---------------------------------------------------------------|----------------------------|
/// | a client is stopped; is killed                                | freeze; crash              |
/// | a connection is silent, reset or refused                      | disconnect                 |
/// | a server is away, is replaced, or ends its connections        | disconnect of each process |
/// | a server comes back empty, FLUSHALL                           | restart                    |
/// | a clock jumps forward                                         | clock_forward              |
/// | a clock is back for a while                                   | clock_back, clock_forward  |
/// | a key is deleted, a lock is released by force                 | forced_release             |
///
/// Pure. In the order of their times.
TranslatedPlan translate(const std::vector<PlannedFault>& plan);

/// One fault in each line, such as "at 1200 ms: freeze process 2 for 300 ms".
std::string text_of(const Schedule& schedule);

/// Reads what text_of has written; lines that begin with # are comments. Throws
/// std::invalid_argument that names the line and the wrong word.
Schedule read_schedule(const std::filesystem::path& file);

}  // namespace latchkey::chaos
