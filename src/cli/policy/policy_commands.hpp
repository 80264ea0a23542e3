// The commands for policy files: check and explain.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "cli/action.hpp"

namespace CLI {
class App;
}

namespace latchkey::inline v1::cli {

/// Each adds its command to `app`, and sets `action` if that command is chosen.
void add_check(CLI::App& app, Action& action);
void add_explain(CLI::App& app, Action& action);

}  // namespace latchkey::inline v1::cli
