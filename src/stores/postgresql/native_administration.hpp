// The results of inspect and list from latchkey's own tables.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <string>
#include <string_view>

#include <latchkey/backend.hpp>

#include "stores/postgresql/pg_handles.hpp"

namespace latchkey::inline v1::detail::postgresql {

/// The regular expression of PostgreSQL for a glob: `*` is any text, `?` any character, `[a-c_]`
/// one of these, `[^a-c]` any other, `\x` the character x itself.
[[nodiscard]] std::string glob_expression(std::string_view glob);

/// Fills what the request points to. Throw std::bad_alloc.
void read_inspect(const Request& request, const PGresult* result);
void read_list(const Request& request, const PGresult* result);

}  // namespace latchkey::inline v1::detail::postgresql
