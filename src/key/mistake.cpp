// The error messages for syntax errors in a key.
// SPDX-License-Identifier: BSL-1.0
#include <latchkey/detail/key/mistake.hpp>

#include <latchkey/detail/key/syntax_sentence.hpp>

namespace latchkey::inline v1::detail {

std::string sentence_of(const Parse& parse, std::string_view key_template) {
  return syntax_sentence(parse, key_template);
}

}  // namespace latchkey::inline v1::detail
