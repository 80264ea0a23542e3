// Durations as policy files, URIs and the command line spell them: 250ms, 3s, 5m, 2h, 1d.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <variant>

namespace latchkey::inline v1::detail {

/// A time, or the error text.
using Duration = std::variant<std::chrono::milliseconds, std::string>;

/// A whole number of at most ten years and a unit, with nothing else. 0 needs no unit.
[[nodiscard]] Duration parse_duration(std::string_view text);

}  // namespace latchkey::inline v1::detail
