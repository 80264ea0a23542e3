// Every process below this one.
#pragma once

#include <sys/types.h>

#include <vector>

namespace latchkey::cli {

/// From now on a descendant whose parent dies becomes a child of this process instead of init's, so
/// that none escapes `descendants()`.
void adopt_orphans() noexcept;

/// All living processes below this one, children first; zombies are left out. Read from /proc: one
/// that is born meanwhile may be missing, so ask until the answer is empty.
[[nodiscard]] std::vector<pid_t> descendants();

}  // namespace latchkey::cli
