// The descendants of this process.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <sys/types.h>

#include <optional>
#include <vector>

namespace latchkey::inline v1::cli {

/// Makes this process the new parent, instead of init, of every descendant whose parent ends, so
/// that `descendants()` finds all of them.
void adopt_orphans() noexcept;

/// All living descendants, children first, without zombies. Read from /proc: a process that starts
/// meanwhile may be missing. No value: /proc cannot be read, because it is not mounted or no
/// descriptor is free.
[[nodiscard]] std::optional<std::vector<pid_t>> descendants();

}  // namespace latchkey::inline v1::cli
