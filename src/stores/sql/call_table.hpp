// Which function or procedure of a database serves a request, and with which arguments.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <latchkey/backend.hpp>

namespace latchkey::inline v1::detail::sql {

/// A part of a request, which each dialect writes in its own way.
enum class Argument : std::uint8_t {
  none,  ///< after the last argument
  key,
  names,  ///< the keys that match a glob
  owner,
  type,
  lease,
  wait,
  tokens,
  note,
  channel,
  waiter,
  taken,
  total,
  yes,
  no,
};

/// The function or procedure `name` serves requests of this kind.
struct CallRow {
  Verb verb;
  std::optional<LockType> type;  ///< empty: each type that has no row before this one
  const char* name;
  std::array<Argument, 7> arguments{};
};

/// The first row for the request; null: there is none.
[[nodiscard]] inline const CallRow* find_call(std::span<const CallRow> calls,
                                              const Request& request) noexcept {
  const auto row = std::ranges::find_if(calls, [&](const CallRow& each) {
    return each.verb == request.verb && each.type.value_or(request.type) == request.type;
  });
  return row == calls.end() ? nullptr : &*row;
}

/// Why no row serves the request, as a clause; empty: one does. `scheme`: of the URI.
[[nodiscard]] inline std::string why_not_called(std::span<const CallRow> calls,
                                                const Request& request, std::string_view scheme) {
  if (find_call(calls, request) != nullptr) return {};
  return std::string(to_string(request.verb)) + " is not offered by " + std::string(scheme);
}

/// Whether a hold gets its fencing token by a call of its own: that of FENCED has it from the
/// acquire.
[[nodiscard]] constexpr bool is_given_token(LockType type, bool fenced) noexcept {
  return fenced && (type == LockType::WRITE || type == LockType::FAIR);
}

}  // namespace latchkey::inline v1::detail::sql
