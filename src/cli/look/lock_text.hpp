// The state of a lock as text, for people and for programs.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include <latchkey/lock_info.hpp>

namespace latchkey::inline v1::cli {

/// Several lines, for a terminal.
[[nodiscard]] std::string lock_text(const LockInfo& info);

/// One JSON object on one line. The names of its members are stable: key, locked, type, holders
/// [id, count, lease_left_ms, announced], waiters, queue, fencing_token.
[[nodiscard]] std::string lock_json(const LockInfo& info);

/// How many connections, or places in the queue, wait for the lock. Empty: not known.
[[nodiscard]] std::optional<std::uint64_t> waiters(const LockInfo& info);

/// "28.4 s", "350 ms", "no end".
[[nodiscard]] std::string duration_text(const std::optional<std::chrono::milliseconds>& length);

}  // namespace latchkey::inline v1::cli
