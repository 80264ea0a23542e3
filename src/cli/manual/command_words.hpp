// The options of a command, as declared to CLI11.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace latchkey::inline v1::cli {

struct OptionWords {
  std::vector<std::string> names{};  ///< "-k", "--key"
  std::string value{};               ///< "KEY"; empty: a flag
  std::string description{};
};

struct CommandWords {
  std::string name{};
  std::string description{};
  std::string footer{};
  std::vector<OptionWords> options{};
  std::vector<OptionWords> positionals{};  ///< `value` is the name
};

/// The subcommands of `app`, in the order in which they were added.
[[nodiscard]] std::vector<CommandWords> command_words(CLI::App& app);

}  // namespace latchkey::inline v1::cli
