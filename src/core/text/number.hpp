// Reads numbers.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <charconv>
#include <string_view>
#include <system_error>

namespace latchkey::inline v1::detail {

/// Reads the whole text as one number. False: it is not exactly one number of this type.
template <class Number>
[[nodiscard]] bool read_number(std::string_view text, Number& number) noexcept {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace latchkey::inline v1::detail
