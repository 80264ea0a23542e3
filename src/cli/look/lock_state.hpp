// The state of locks: queried from the backend, and spelled for a user or a program.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <latchkey/lock_info.hpp>
#include <latchkey/locks.hpp>

namespace latchkey::inline v1::cli {

/// How a holder learns that its lock was taken away.
enum class Notice : std::uint8_t {
  checked,  ///< by a check of its own
  pushed,   ///< the backend tells it
};
[[nodiscard]] Notice notice_of(const Locks& locks, const LockInfo& info);

/// Several lines, for a terminal.
[[nodiscard]] std::string lock_text(const LockInfo& info, Notice notice);

/// One line for each holder from whom the lock has just been taken, with the time within which the
/// holder notices. `owner`: the id of the only one; empty: all.
[[nodiscard]] std::string taken_text(const LockInfo& before, std::string_view owner, Notice notice);

/// The answer to a revocation: how many processes were told, and who held the lock just before.
[[nodiscard]] std::string asked_text(const LockInfo& before, std::size_t told);

/// One JSON object and a newline. The names of its members are stable: key, locked, type, holders
/// [id, count, lease_left_ms, announced, revoked_ms], waiters, queue, fencing_token, permits
/// [available, total].
[[nodiscard]] std::string lock_json(const LockInfo& info);

/// How many connections, or places in the queue, wait for the lock. Empty: not known.
[[nodiscard]] std::optional<std::uint64_t> waiters(const LockInfo& info);

/// The lock's type, as far as the backend knows it. It does not store that of a plain lock: a lock
/// with a queue is FAIR, one that ever had a fencing token FENCED.
[[nodiscard]] std::string_view type_text(const LockInfo& info);

/// "28.4 s", "350 ms", "no end".
[[nodiscard]] std::string duration_text(const std::optional<std::chrono::milliseconds>& length);

/// The state of a lock or of a semaphore. Throws BackendUnavailable, BackendRefused.
[[nodiscard]] LockInfo inspect(const Locks& locks, const std::string& key);

/// The states of the locks with these full names, in their order. It leaves those out that the
/// backend refuses to describe, after it has called `refused(why)`: another client may use names
/// that latchkey does not accept, or the user may lack a permission. Throws BackendUnavailable.
[[nodiscard]] std::vector<LockInfo> inspect_each(
    const Locks& locks, std::span<const std::string> names,
    const std::function<void(std::string_view why)>& refused);

}  // namespace latchkey::inline v1::cli
