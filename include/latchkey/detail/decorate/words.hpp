// Searches in the text of DECORATED's arguments.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <string_view>

#include <latchkey/detail/key/bytes.hpp>

#pragma GCC visibility push(default)
namespace latchkey::inline v1::detail {

/// Whether `text` contains `word` as a whole word outside of angle brackets.
consteval bool has_word(std::string_view word, std::string_view text) {
  int depth = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '<') ++depth;
    if (text[at] == '>') --depth;
    if (depth != 0 || !text.substr(at).starts_with(word)) continue;
    const std::size_t end = at + word.size();
    const bool begins = at == 0 || !is_name_byte(text[at - 1]);
    if (begins && (end == text.size() || !is_name_byte(text[end]))) return true;
  }
  return false;
}

/// Whether `text` is `(type) name = value`: an equals sign after the first parenthesis.
consteval bool has_default(std::string_view text) {
  int depth = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '(') ++depth;
    if (text[at] == ')') --depth;
    if (depth == 0 && text[at] == '=') return true;
  }
  return false;
}

}  // namespace latchkey::inline v1::detail
#pragma GCC visibility pop
