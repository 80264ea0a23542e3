// Has Porcupine check a round.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <filesystem>

#include "chaos/judge/judge.hpp"

namespace latchkey::chaos {

/// Runs `program` (tests/chaos/porcupine) on the history, which is written to `folder`. The pages
/// that show a violation stay there.
void judge_linearizability(const std::filesystem::path& program,
                           const std::filesystem::path& folder, const History& history,
                           Violations& found);

}  // namespace latchkey::chaos
