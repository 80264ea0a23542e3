// Writes a glob as a regular expression of PostgreSQL.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <string>
#include <string_view>

namespace latchkey::inline v1::detail::postgresql {

/// The regular expression of PostgreSQL for a glob: `*` is any text, `?` any character, `[a-c_]`
/// one of these, `[^a-c]` any other, `\x` the character x itself.
[[nodiscard]] std::string glob_expression(std::string_view glob);

}  // namespace latchkey::inline v1::detail::postgresql
