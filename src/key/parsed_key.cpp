// Parses keys from files, with the error messages for keys that cannot be parsed.
// SPDX-License-Identifier: BSL-1.0
#include <latchkey/parsed_key.hpp>

#include <algorithm>

#include <latchkey/detail/key/mistake.hpp>
#include <latchkey/detail/key/parser.hpp>
#include <latchkey/error.hpp>

namespace latchkey::inline v1 {

ParsedKey parse_key(std::string_view text) {
  ParsedKey key;
  key.text_ = text;
  // A text that is too long is rejected before it needs more nodes.
  key.nodes_.resize(detail::node_capacity(std::min(text.size(), detail::max_template_size)));
  key.parse_ = detail::Parser(key.text_, key.nodes_.data()).run();
  if (key.parse_.mistake != detail::SyntaxError::none) {
    throw KeyError(detail::sentence_of(key.parse_, text));
  }
  return key;
}

}  // namespace latchkey::inline v1
