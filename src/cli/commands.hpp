// The commands of the tool, and the stores that they can use.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace latchkey::inline v1::cli {

class SignalInbox;

/// Returns the exit status.
using Action = std::function<int()>;

/// Each adds its command to `app`, and sets `action` if that command is chosen.
void add_check(CLI::App& app, Action& action);
void add_ddl(CLI::App& app, Action& action);
void add_explain(CLI::App& app, Action& action);
void add_host(CLI::App& app, Action& action);
void add_list(CLI::App& app, Action& action);
void add_ping(CLI::App& app, Action& action);
void add_revoke(CLI::App& app, Action& action);
void add_show(CLI::App& app, Action& action);
void add_unlock(CLI::App& app, Action& action);
/// The commands `man` and `completion`, which print what their names say.
void add_manual(CLI::App& app, Action& action);
/// `signals` must outlive `action`.
void add_top(CLI::App& app, const SignalInbox& signals, Action& action);

/// These run a program: `command` is the text after `--`.
void add_once(CLI::App& app, const std::vector<std::string>& command, const SignalInbox& signals,
              Action& action);
void add_run(CLI::App& app, const std::vector<std::string>& command, const SignalInbox& signals,
             Action& action);

/// Registers the schemes of all stores that were found when the tool was built.
void register_stores();

}  // namespace latchkey::inline v1::cli
