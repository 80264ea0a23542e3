// The descendants of this process.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <sys/types.h>

#include <optional>
#include <vector>

namespace latchkey::inline v1::cli {

/// A process, as /proc described it. Another process may have got its id since then, but not with
/// the same time of start.
struct Descendant {
  pid_t id;
  unsigned long long started;  ///< in clock ticks since the machine started
};

/// Makes this process the new parent, instead of init, of every descendant whose parent ends, so
/// that `descendants()` finds all of them.
void adopt_orphans() noexcept;

/// All living descendants, children first, without zombies. A process whose main thread has ended
/// lives for as long as another of its threads. Read from /proc: a process that starts meanwhile
/// may be missing. No value: /proc cannot be read, because it is not mounted or no descriptor is
/// free.
[[nodiscard]] std::optional<std::vector<Descendant>> descendants();

/// Sends a signal to this process, and to none that has got its id since then.
void send_signal(const Descendant& to, int number) noexcept;

}  // namespace latchkey::inline v1::cli
