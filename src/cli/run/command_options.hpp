// The options that `latchkey run` and `latchkey once` share.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <string>
#include <vector>

#include "cli/run/run_options.hpp"

namespace CLI {
class App;
}

namespace latchkey::inline v1::cli {

/// The shared options as words of the command line.
struct CommandWords {
  ConnectionOptions connection{};
  std::string wait{};
  std::string watchdog = "30s";
  std::string kill_after = "5s";
  std::string on_lost = "term";
  int conflict_exit_code = exit_code::busy;
  bool quiet = false;
};

/// `words` must outlive the command. Its values are the defaults.
void add_command_options(CLI::App& app, CommandWords& words);

/// The values, and the command that follows `--`. `extra`: the words before it that are not of the
/// subcommand `name`; the first word of a command without `--` may have been taken for the URI.
/// Throws UsageError.
[[nodiscard]] RunOptions command_options(const std::string& name, const CommandWords& words,
                                         const std::vector<std::string>& extra,
                                         const std::vector<std::string>& command);

}  // namespace latchkey::inline v1::cli
