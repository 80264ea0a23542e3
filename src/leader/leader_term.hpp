// The decisions of a Leader about its term, without a clock and a thread: for the simulator, too.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

namespace latchkey::inline v1::detail {

/// A Leader during its term.
struct LeaderTerm {
  bool lost;                              ///< Hold::lost()
  std::chrono::milliseconds left;         ///< Hold::remaining()
  std::chrono::milliseconds stop_before;  ///< LeaderOptions::stop_before
  bool asked;                             ///< it shall resign, is revoked or being destroyed
};

/// Why the callback has to stop now. Empty: it may continue. An empty text: the Leader itself ends
/// the term.
[[nodiscard]] std::optional<std::string_view> reason_to_stop(const LeaderTerm& term) noexcept;

/// Whether a lock that was granted with this token begins a term. `last`: the term before, or 0.
[[nodiscard]] bool is_new_term(std::uint64_t token, std::uint64_t last) noexcept;

}  // namespace latchkey::inline v1::detail
