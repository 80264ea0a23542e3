// Source code without what could be mistaken for code.
#pragma once

#include <cctype>
#include <string>
#include <string_view>

namespace latchkey::tidy {

/// The text with comments, literals and preprocessor lines blanked; every line keeps its number.
std::string plain_code(std::string_view text);

/// `c` may stand in a name or a number.
inline bool is_word_byte(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

}  // namespace latchkey::tidy
