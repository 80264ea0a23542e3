// The action of a command, which runs after the command line is parsed.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <functional>

namespace latchkey::inline v1::cli {

/// Returns the exit status.
using Action = std::function<int()>;

}  // namespace latchkey::inline v1::cli
