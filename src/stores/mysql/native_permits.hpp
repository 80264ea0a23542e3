// The calls of latchkey's procedures for semaphores.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "stores/mysql/layout.hpp"

namespace latchkey::inline v1::detail::mysql {

/// The owner of the row that makes a key a semaphore.
inline constexpr std::string_view semaphore_owner = "*";

/// Appends the CALL of a request of type PERMIT; false: the request takes the CALL of a lock.
bool append_permits(std::string& sql, const Request& request);

/// The outcome of what `append_permits` has called. `poll`: the longest pause of a waiter.
[[nodiscard]] Outcome permits_outcome(const Request& request, const std::vector<std::string>& row,
                                      std::chrono::milliseconds poll);

/// Whether a row of latchkey_inspect is about a semaphore or one of its holds.
[[nodiscard]] bool is_of_semaphore(std::int64_t what) noexcept;
void read_permits(LockInfo& info, std::int64_t what, const std::vector<std::string>& row);
/// The outcome of an inspection whose rows were read.
[[nodiscard]] Outcome inspected(const Request& request);

/// Whether the procedure that does not exist is one of these.
[[nodiscard]] bool lacks_permits(const SqlError& error) noexcept;

}  // namespace latchkey::inline v1::detail::mysql
