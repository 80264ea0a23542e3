// `latchkey top`: the locks of a backend, live.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "cli/run/signal_inbox.hpp"
#include "cli/top/top_options.hpp"

namespace latchkey::inline v1::cli {

/// Both return the exit status, and throw UsageError, BackendUnavailable, BackendRefused.
[[nodiscard]] int run_top(const TopOptions& options, const SignalInbox& signals);
/// One table, for a pipe or a file.
[[nodiscard]] int print_top(const TopOptions& options);

}  // namespace latchkey::inline v1::cli
