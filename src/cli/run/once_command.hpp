// The options of `latchkey once`.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <string>
#include <vector>

#include "cli/action.hpp"

namespace CLI {
class App;
}

namespace latchkey::inline v1::cli {

class SignalInbox;

/// Adds `once` to `app`. `command` is the text after `--`; `action` is set if `once` is chosen.
void add_once(CLI::App& app, const std::vector<std::string>& command, const SignalInbox& signals,
              Action& action);

}  // namespace latchkey::inline v1::cli
