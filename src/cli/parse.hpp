// Converts words of the command line to values.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include <latchkey/lease.hpp>
#include <latchkey/lock_type.hpp>
#include <latchkey/wait.hpp>

namespace latchkey::inline v1::cli {

/// Each function throws UsageError with `option`, the wrong word and the expected ones.
[[nodiscard]] std::chrono::milliseconds parse_duration(const std::string& option,
                                                       const std::string& text);
/// A duration, or `forever`.
[[nodiscard]] Wait parse_wait(const std::string& text);
/// A duration of at least 10 ms, or `watchdog`.
[[nodiscard]] Lease parse_lease(const std::string& text);
/// The enumerators' names, in upper or lower case.
[[nodiscard]] LockType parse_type(const std::string& text);
/// Splits each word at its commas, but not at a comma after a backslash. Empty keys are an error.
[[nodiscard]] std::vector<std::string> parse_keys(const std::vector<std::string>& words);
/// The inverse: one word.
[[nodiscard]] std::string joined_keys(const std::vector<std::string>& keys);

}  // namespace latchkey::inline v1::cli
