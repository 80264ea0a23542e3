// The beginning of every error message about a key.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "core/in_quotes.hpp"

namespace latchkey::inline v1::detail {

inline std::string about_key(std::string_view key_template) {
  return "key " + in_quotes(key_template) + ": ";
}

/// With the position; columns count bytes, from 1.
inline std::string about_key(std::string_view key_template, std::size_t at) {
  return "key " + in_quotes(key_template) + ", column " + std::to_string(at + 1) + ": ";
}

}  // namespace latchkey::inline v1::detail
