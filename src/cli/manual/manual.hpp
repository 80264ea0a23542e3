// The manual page and the shell completions, generated from the texts of --help.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <string>

#include "cli/action.hpp"

namespace CLI {
class App;
}

namespace latchkey::inline v1::cli {

/// A manual page for section 1, in man(7) macros.
[[nodiscard]] std::string manual_page(CLI::App& app);

/// A completion script for bash, zsh or fish. Throws UsageError for another shell.
[[nodiscard]] std::string completion_script(CLI::App& app, const std::string& shell);

/// Adds the commands `man` and `completion SHELL`, which print them.
void add_manual(CLI::App& app, Action& action);

}  // namespace latchkey::inline v1::cli
