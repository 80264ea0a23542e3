// The statements that make latchkey's tables in PostgreSQL.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <string_view>

namespace latchkey::inline v1::detail::postgresql {

/// The text of ddl.sql, which the build embeds (cmake/Ddl.cmake).
extern const std::string_view ddl;

}  // namespace latchkey::inline v1::detail::postgresql
