// Decodes the percent signs of a URI.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <charconv>
#include <cstddef>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

namespace latchkey::inline v1::detail::redis {

inline std::optional<unsigned> hex_value(char digit) noexcept {
  unsigned value = 0;
  const auto [end, error] = std::from_chars(&digit, &digit + 1, value, 16);
  if (error != std::errc() || end != &digit + 1) return std::nullopt;
  return value;
}

/// `what` names the part for the message, which must not contain a secret.
inline std::string decoded(std::string_view text, std::string_view what) {
  std::string plain;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '%') {
      plain += text[at];
      continue;
    }
    const auto high = at + 2 < text.size() ? hex_value(text[at + 1]) : std::nullopt;
    const auto low = high ? hex_value(text[at + 2]) : std::nullopt;
    if (!low) {
      throw std::invalid_argument(
          "the " + std::string(what) +
          " of the Redis URI has a '%' without two hexadecimal digits behind it: a percent sign "
          "itself is %25");
    }
    plain += static_cast<char>(*high * 16 + *low);
    at += 2;
  }
  // The system and OpenSSL would take a NUL for the end of the text.
  if (plain.find('\0') != std::string::npos) {
    throw std::invalid_argument("the " + std::string(what) + " of the Redis URI has a NUL in it");
  }
  return plain;
}

}  // namespace latchkey::inline v1::detail::redis
