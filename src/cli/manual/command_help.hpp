// The options of a command, as declared to CLI11.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace latchkey::inline v1::cli {

struct OptionHelp {
  std::vector<std::string> names{};  ///< "-k", "--key"
  std::string value{};               ///< "KEY"; empty: a flag
  std::string description{};
};

struct CommandHelp {
  std::string name{};
  std::string description{};
  std::string footer{};
  std::vector<OptionHelp> options{};
  std::vector<OptionHelp> positionals{};  ///< `value` is the name
};

/// The subcommands of `app`, in the order in which they were added.
[[nodiscard]] std::vector<CommandHelp> command_help(CLI::App& app);

}  // namespace latchkey::inline v1::cli
