// `latchkey run`: a command under a lock.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "cli/poll_events.hpp"
#include "cli/run/run_options.hpp"

namespace latchkey::inline v1::cli {

/// Acquires, runs the command, releases, and returns the tool's exit status. `signals` must be made
/// before the first thread, and the caller must have started none. Throws UsageError and
/// std::system_error.
///
/// Guarantees: the command never starts after the lock was lost or a signal ended the tool. After a
/// loss no descendant of the command is alive after the lock's deadline, except with
/// OnLost::report. The lock is released after the last descendant has ended. Children that this
/// process has already, and their descendants, are left alone.
[[nodiscard]] int run_under_lock(const RunOptions& options, const SignalInbox& signals);

}  // namespace latchkey::inline v1::cli
