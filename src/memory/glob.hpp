// Glob patterns over keys.
#pragma once

#include <string_view>

namespace latchkey::detail {

/// Does all of `text` match `pattern`? `*` is any text, `?` any byte, `[a-c_]` one of these bytes,
/// `[^a-c]` one other than these, `\x` the byte x itself: as Redis has it. A `[` that is never
/// closed reaches to the end of the pattern. Time: at most the product of the two lengths.
[[nodiscard]] bool glob_matches(std::string_view pattern, std::string_view text) noexcept;

}  // namespace latchkey::detail
