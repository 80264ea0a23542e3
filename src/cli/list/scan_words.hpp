// The options of the commands that scan a keyspace: how much of it, and how fast.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

namespace CLI {
class App;
}

namespace latchkey::inline v1::cli {

struct ScanWords {
  std::uint64_t rate;   ///< keys per second
  std::uint64_t limit;  ///< keys after which a scan stops
  bool all = false;     ///< no limit

  [[nodiscard]] std::uint64_t most() const noexcept { return all ? UINT64_MAX : limit; }
};

/// Adds --rate, --limit and --all, with the values of `words` as their defaults. `words` must
/// outlive the command.
void add_scan_words(CLI::App& command, ScanWords& words);

}  // namespace latchkey::inline v1::cli
