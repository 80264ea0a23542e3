// Keeps children that the process had before it became the tool apart from those of the command.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <optional>

#include "cli/run/signal_inbox.hpp"

namespace latchkey::inline v1::cli {

/// A script may start an agent and then `exec` the tool, which makes the agent a child of the tool.
/// In such a process this function forks: the new process, which has no children, returns nothing
/// and does the tool's work. The original process forwards signals to it, stops and continues with
/// it, and returns its exit status. Without children the function returns nothing at once.
///
/// Call it before the first thread is started. Throws std::system_error.
[[nodiscard]] std::optional<int> leave_earlier_children(const SignalInbox& signals);

}  // namespace latchkey::inline v1::cli
