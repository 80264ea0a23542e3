// The options of `latchkey top`.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "cli/action.hpp"
#include "cli/run/signal_inbox.hpp"

namespace CLI {
class App;
}

namespace latchkey::inline v1::cli {

/// Adds the command to `app`, and sets `action` if it is chosen. `signals` must outlive `action`.
void add_top(CLI::App& app, const SignalInbox& signals, Action& action);

}  // namespace latchkey::inline v1::cli
