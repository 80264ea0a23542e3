// Several keys as one text.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>

namespace latchkey::inline v1::detail {

/// Appends the keys, separated by commas, or the first of many. Throws std::bad_alloc.
template <class KeyAt>
void append_keys(std::string& text, std::size_t size, const KeyAt& key_at) {
  constexpr std::size_t shown = 5;
  for (std::size_t index = 0; index < std::min(shown, size); ++index) {
    if (index > 0) text += ", ";
    text += key_at(index);
  }
  if (size > shown) text += " and " + std::to_string(size - shown) + " more";
}

}  // namespace latchkey::inline v1::detail
