// The command ddl: prints the statements that make a store's tables.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "cli/action.hpp"

namespace CLI {
class App;
}

namespace latchkey::inline v1::cli {

/// Adds the command to `app`, and sets `action` if it is chosen.
void add_ddl(CLI::App& app, Action& action);

}  // namespace latchkey::inline v1::cli
