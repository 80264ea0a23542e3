// The guard in SQL: the statements of a table of the highest tokens, for any driver.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <latchkey/detail/cxx20.hpp>

#include <initializer_list>
#include <string>
#include <string_view>

#include <latchkey/fence.hpp>

#pragma GCC visibility push(default)
namespace latchkey::inline v1 {

/// The statements of a table with one row for each key that was ever written under a fence. They
/// run inside the transaction of the writes, on the same connection, before the writes. The row
/// stays locked until the transaction ends, so a later holder waits for an earlier one or the
/// earlier one sees the later token. Whoever sees a token higher than its own rolls back.
///
/// Parameters: `name` is Fence::escaped_key(), the part of a fence's text before the first '/';
/// `token` is a bigint. postgresql::FenceTable and mysql::FenceTable run these statements.
namespace fence_sql {

/// Makes the table, in PostgreSQL, MariaDB, MySQL and SQLite: what `latchkey ddl fences` prints.
inline constexpr std::string_view ddl =
    R"sql(-- The highest fencing token of each key under which a transaction has written.
-- MariaDB and MySQL read its two comments; for other databases they are comments.
CREATE TABLE IF NOT EXISTS latchkey_seen_fences (
  name varchar(3072) /*! CHARACTER SET ascii COLLATE ascii_bin */ NOT NULL,
  token bigint NOT NULL,
  PRIMARY KEY (name)
) /*! ENGINE = InnoDB */;
)sql";

/// PostgreSQL, also SQLite: $1 is the name, $2 the token. The row of the result is the highest
/// token: refuse if it is not $2.
inline constexpr std::string_view postgresql =
    "INSERT INTO latchkey_seen_fences AS seen (name, token) VALUES ($1, $2) "
    "ON CONFLICT (name) DO UPDATE SET token = CASE WHEN excluded.token > seen.token "
    "THEN excluded.token ELSE seen.token END RETURNING token";

/// MariaDB and MySQL, first: the parameters are the name, the token, and the token again.
inline constexpr std::string_view mysql_note =
    "INSERT INTO latchkey_seen_fences (name, token) VALUES (?, ?) "
    "ON DUPLICATE KEY UPDATE token = GREATEST(token, ?)";
/// MariaDB and MySQL, second: the parameter is the name. The row is the highest token: refuse if it
/// is not yours.
inline constexpr std::string_view mysql_highest =
    "SELECT token FROM latchkey_seen_fences WHERE name = ? FOR UPDATE";

}  // namespace fence_sql

namespace detail {

/// The statement with each '?' replaced by the next of the literals, which need no quoting.
[[nodiscard]] std::string with_literals(std::string_view statement,
                                        std::initializer_list<std::string_view> literals);
/// The token in decimal. Throws Error if a bigint cannot keep it.
[[nodiscard]] std::string bigint_text(const Fence& fence);
/// Throws FenceRejected if `highest`, a cell of the table, is not the token.
void require_highest(const Fence& fence, std::string_view highest);
/// Throws Error: the table was not asked, for this reason.
[[noreturn]] void fence_not_checked(const Fence& fence, std::string_view reason,
                                    bool missing_table = false);
/// Throws Error: there is no transaction that keeps the row locked.
[[noreturn]] void fence_outside_transaction(const Fence& fence);

}  // namespace detail

}  // namespace latchkey::inline v1
#pragma GCC visibility pop
