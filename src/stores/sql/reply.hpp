// Reads what the statements of all databases return.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

#include <latchkey/backend.hpp>

#include "core/text/number.hpp"

namespace latchkey::inline v1::detail::sql {

/// The owner of the row that makes a key a semaphore.
inline constexpr std::string_view semaphore_owner = "*";

/// The clause for a reply that is not what a statement of latchkey returns.
inline constexpr std::string_view malformed =
    "the reply is not what was asked for; a proxy may have answered";
/// Unknown, for such a reply.
[[nodiscard]] inline Outcome malformed_outcome() {
  Outcome outcome;
  outcome.reason = malformed;
  return outcome;
}

/// The number in a cell, from -limit to limit, which no sum overflows; 0 if it is none.
[[nodiscard]] inline std::int64_t number_in(std::string_view cell) noexcept {
  constexpr std::int64_t limit = std::int64_t{1} << 60;
  std::int64_t number = 0;
  std::from_chars(cell.data(), cell.data() + cell.size(), number);
  return std::clamp(number, -limit, limit);
}
/// The whole of a cell as a number; empty: it is none.
[[nodiscard]] inline std::optional<std::int64_t> exact_number_in(std::string_view cell) noexcept {
  std::int64_t number = 0;
  return read_number(cell, number) ? std::optional(number) : std::nullopt;
}

/// Granted, and so many permits of the semaphore are left, at least 0.
[[nodiscard]] inline Outcome permits_granted(std::int64_t left) {
  constexpr std::int64_t most = std::numeric_limits<std::uint32_t>::max();
  Outcome outcome;
  outcome.kind = Outcome::Kind::granted;
  outcome.permits_left = static_cast<std::uint32_t>(std::min(left, most));
  return outcome;
}

}  // namespace latchkey::inline v1::detail::sql
