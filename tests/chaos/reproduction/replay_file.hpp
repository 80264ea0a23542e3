// The options of a failed round, in a file.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <vector>

#include "chaos/run/settings.hpp"

namespace latchkey::chaos {

/// An option of a file, in this line.
struct ReplayLine {
  Option option;
  std::size_t number = 0;
};

/// Writes the options of the round in the form that `--replay` reads: one in each line.
void write_replay(const std::filesystem::path& file, const Settings& settings,
                  std::uint64_t seed_of_round);

/// Throws std::invalid_argument if there is no such file or an option has no value.
std::vector<ReplayLine> read_replay(const std::filesystem::path& file);

}  // namespace latchkey::chaos
