// The beginning of every error message about a key.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <latchkey/detail/in_quotes.hpp>

#pragma GCC visibility push(default)
namespace latchkey::inline v1::detail {

/// std::to_string, in constant expressions too.
constexpr std::string decimal_text(std::size_t number) {
  std::string text;
  do {
    text.insert(text.begin(), static_cast<char>('0' + number % 10));
    number /= 10;
  } while (number != 0);
  return text;
}

constexpr std::string about_key(std::string_view key_template) {
  return "key " + in_quotes(key_template) + ": ";
}

/// With the position; columns count bytes, from 1.
constexpr std::string about_key(std::string_view key_template, std::size_t at) {
  return "key " + in_quotes(key_template) + ", column " + decimal_text(at + 1) + ": ";
}

}  // namespace latchkey::inline v1::detail
#pragma GCC visibility pop
