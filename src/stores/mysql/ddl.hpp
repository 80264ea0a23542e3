// The statements that make latchkey's tables in MariaDB and MySQL.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <span>
#include <string_view>

namespace latchkey::inline v1::detail::mysql {

/// The text of ddl.sql, which the build embeds and splits (cmake/Ddl.cmake).
extern const std::string_view ddl;
/// Its statements.
extern const std::span<const std::string_view> statements;
/// Those for a database without tables, in which there is nothing to replace.
extern const std::span<const std::string_view> creation;

}  // namespace latchkey::inline v1::detail::mysql
