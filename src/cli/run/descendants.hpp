// The descendants of this process.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <sys/types.h>

#include <vector>

namespace latchkey::inline v1::cli {

/// Makes this process the new parent, instead of init, of every descendant whose parent ends, so
/// that `descendants()` finds all of them.
void adopt_orphans() noexcept;

/// All living descendants, children first, without zombies. Read from /proc: a process that starts
/// meanwhile may be missing, so repeat the call until the result is empty.
[[nodiscard]] std::vector<pid_t> descendants();

}  // namespace latchkey::inline v1::cli
