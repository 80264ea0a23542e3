// Makes text of other clients safe to print.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace latchkey::inline v1::detail {

namespace printable_text {

struct Character {
  char32_t value = 0;
  std::size_t length = 0;  ///< in bytes; 0: the text does not begin with a character of UTF-8
};

/// The first character of a text that is not empty.
inline Character first_character(std::string_view text) {
  struct Form {
    unsigned char mask, lead;
    char32_t least;  // a smaller value has a shorter form
  };
  constexpr Form forms[] = {
      {0x80, 0x00, 0}, {0xe0, 0xc0, 0x80}, {0xf0, 0xe0, 0x800}, {0xf8, 0xf0, 0x10000}};
  const auto lead = static_cast<unsigned char>(text.front());
  std::size_t length = 0;
  for (const Form& form : forms) {
    ++length;
    if ((lead & form.mask) != form.lead) continue;
    if (text.size() < length) return {};
    char32_t value = lead & static_cast<unsigned char>(~form.mask);
    for (const char byte : text.substr(1, length - 1)) {
      const auto next = static_cast<unsigned char>(byte);
      if ((next & 0xc0) != 0x80) return {};
      value = value << 6 | (next & 0x3f);
    }
    const bool surrogate = value >= 0xd800 && value <= 0xdfff;
    if (value < form.least || value > 0x10ffff || surrogate) return {};
    return {value, length};
  }
  return {};
}

inline bool is_control(char32_t value) { return value < 0x20 || (value >= 0x7f && value <= 0x9f); }

/// Separators of lines, marks and overrides of the direction, and what has no width.
inline bool is_hidden(char32_t value) {
  return (value >= 0x200b && value <= 0x200f) || (value >= 0x2028 && value <= 0x202e) ||
         (value >= 0x2060 && value <= 0x2069) || value == 0x061c || value == 0xfeff;
}

inline void append_hexadecimal(std::string& to, std::uint32_t value, int digits) {
  constexpr std::string_view alphabet = "0123456789abcdef";
  for (int digit = digits - 1; digit >= 0; --digit) to += alphabet[value >> (4 * digit) & 15];
}

inline void append_spelled(std::string& to, char32_t value) {
  if (value == '\n') {
    to += "\\n";
  } else if (value == '\r') {
    to += "\\r";
  } else if (value == '\t') {
    to += "\\t";
  } else if (value <= 0x7f) {
    to += "\\x";
    append_hexadecimal(to, value, 2);
  } else {
    to += "\\u";
    append_hexadecimal(to, value, 4);
  }
}

}  // namespace printable_text

/// `text` on one line that a terminal only shows: control characters, bytes that are not UTF-8, and
/// characters that are invisible or change the direction of the line are spelled as \n, \x1b or
/// \u202e. A key may contain anything, because any client of the server chooses keys. In a header,
/// because adapters use it, which the shared library hides its functions from.
[[nodiscard]] inline std::string printable(std::string_view text) {
  using namespace printable_text;
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const Character next = first_character(text);
    if (next.length == 0) {
      out += "\\x";
      append_hexadecimal(out, static_cast<unsigned char>(text.front()), 2);
      text.remove_prefix(1);
      continue;
    }
    if (is_control(next.value) || is_hidden(next.value)) {
      append_spelled(out, next.value);
    } else {
      out += text.substr(0, next.length);
    }
    text.remove_prefix(next.length);
  }
  return out;
}

}  // namespace latchkey::inline v1::detail
