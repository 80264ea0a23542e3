// `latchkey top --once`: one table on stdout.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "cli/top/top_options.hpp"

namespace latchkey::inline v1::cli {

/// Returns the exit status. Throws UsageError, BackendUnavailable, BackendRefused.
[[nodiscard]] int print_top(const TopOptions& options);

}  // namespace latchkey::inline v1::cli
