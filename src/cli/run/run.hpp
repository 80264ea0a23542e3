// `latchkey run`: a command under a lock.
#pragma once

#include "cli/run/run_options.hpp"
#include "cli/run/signal_inbox.hpp"

namespace latchkey::cli {

/// Acquires, runs the command, releases; gives the tool's exit status. `signals` was made before
/// the first thread. Throws UsageError and std::system_error.
///
/// Promises: the command never starts after the lock was lost or a signal told the tool to end. At
/// a loss no descendant of it is alive after the lock's deadline, unless OnLost::REPORT. The lock
/// is released after the last descendant has ended.
[[nodiscard]] int run_under_lock(const RunOptions& options, const SignalInbox& signals);

}  // namespace latchkey::cli
