// Source code without what could be mistaken for code.
#pragma once

#include <string>
#include <string_view>

namespace latchkey::tidy {

/// The text with comments, literals and preprocessor lines blanked; every line keeps its number.
std::string plain_code(std::string_view text);

}  // namespace latchkey::tidy
