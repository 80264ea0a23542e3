// Classes of bytes in keys: names, digits, braces, and bytes that values escape.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <array>
#include <cstddef>

#pragma GCC visibility push(default)
namespace latchkey::inline v1::detail {

constexpr bool is_digit(char byte) { return byte >= '0' && byte <= '9'; }

constexpr bool is_name_start(char byte) {
  return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || byte == '_';
}

constexpr bool is_name_byte(char byte) { return is_name_start(byte) || is_digit(byte); }

constexpr bool is_brace(char byte) { return byte == '{' || byte == '}'; }

/// Written as %XX in every value: % { } : / , | # ' and space and control bytes.
constexpr bool is_escaped(unsigned char byte) {
  switch (byte) {
    case '%':
    case '{':
    case '}':
    case ':':
    case '/':
    case ',':
    case '|':
    case '#':
    case '\'':
    case 0x7F: return true;
    default: return byte <= ' ';
  }
}

/// Bytes that may stand between two values because no value contains them unescaped. '%' is not one
/// of them, because it begins an escape: "{0}%{1}" would give "p%2F%2F" for both ("p", "2F/") and
/// ("p/", "2F").
constexpr bool is_separator(char byte) {
  return byte != '%' && is_escaped(static_cast<unsigned char>(byte));
}

inline constexpr std::array<bool, 256> escaped_bytes = [] {
  std::array<bool, 256> table{};
  for (std::size_t byte = 0; byte < table.size(); ++byte) {
    table[byte] = is_escaped(static_cast<unsigned char>(byte));
  }
  return table;
}();

constexpr char lower(char byte) {
  return byte >= 'A' && byte <= 'Z' ? static_cast<char>(byte - 'A' + 'a') : byte;
}

constexpr char upper(char byte) {
  return byte >= 'a' && byte <= 'z' ? static_cast<char>(byte - 'a' + 'A') : byte;
}

}  // namespace latchkey::inline v1::detail
#pragma GCC visibility pop
