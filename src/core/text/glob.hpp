// Glob patterns over keys.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <string_view>

namespace latchkey::inline v1::detail {

/// Whether all of `text` matches `pattern`, with Redis' syntax: `*` is any text, `?` any byte,
/// `[a-c_]` one of these bytes, `[^a-c]` any other byte, `\x` the byte x itself. A `[` that is
/// never closed extends to the end of the pattern. Time: at most the product of the two lengths.
[[nodiscard]] bool glob_matches(std::string_view pattern, std::string_view text) noexcept;

}  // namespace latchkey::inline v1::detail
