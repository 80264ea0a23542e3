// Puts a word in quotes, for messages.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <string>
#include <string_view>

#pragma GCC visibility push(default)
namespace latchkey::inline v1::detail {

constexpr std::string in_quotes(std::string_view text) {
  std::string result = "'";
  result += text;
  return result += '\'';
}

}  // namespace latchkey::inline v1::detail
#pragma GCC visibility pop
