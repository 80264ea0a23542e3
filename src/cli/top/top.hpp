// `latchkey top`: the locks of a backend, live.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "cli/run/signal_inbox.hpp"
#include "cli/top/top_options.hpp"

namespace latchkey::inline v1::cli {

/// Returns the exit status. Throws UsageError, BackendUnavailable, BackendRefused.
[[nodiscard]] int run_top(const TopOptions& options, const SignalInbox& signals);

}  // namespace latchkey::inline v1::cli
