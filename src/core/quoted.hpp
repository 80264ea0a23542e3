// A word in the quotes that every message puts around it.
#pragma once

#include <string>
#include <string_view>

namespace latchkey::detail {

inline std::string quoted(std::string_view text) {
  std::string result = "'";
  result += text;
  return result += '\'';
}

}  // namespace latchkey::detail
