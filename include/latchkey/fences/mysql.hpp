// The guard in MariaDB or MySQL, on a connection that is the caller's.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <latchkey/detail/cxx20.hpp>

// The client libraries of MariaDB and of MySQL, however the include path names them.
#if __has_include(<mysql.h>)
#include <mysql.h>
#elif __has_include(<mariadb/mysql.h>)
#include <mariadb/mysql.h>
#else
#include <mysql/mysql.h>
#endif

#include <memory>
#include <string>
#include <string_view>

#include <latchkey/detail/in_quotes.hpp>
#include <latchkey/fence.hpp>
#include <latchkey/fences/sql.hpp>

#pragma GCC visibility push(default)
namespace latchkey::inline v1::mysql {

/// Refuses old fences inside the caller's transaction: the check and the writes after it are
/// committed together or not at all. The table is `latchkey_seen_fences` of the connection's
/// database; `latchkey ddl fences` prints it. Your program links MariaDB's or MySQL's client
/// library; this header needs no store of latchkey, and takes locks of every store.
///
/// Not promised: the check of writes that are not in the transaction, of those before admit(), and
/// of those to tables that are not transactional.
class FenceTable {
 public:
  /// Borrows the connection, which must outlive it. One thread at a time.
  explicit FenceTable(MYSQL* connection) noexcept : connection_(connection) {}

  /// Throws FenceRejected if a higher token of the key was committed: roll back. Otherwise
  /// remembers the token, and locks the row of the key until the transaction ends; waits for
  /// another transaction that has locked it, as long as innodb_lock_wait_timeout permits.
  ///
  /// Throws Error, with the server's words, outside a transaction or if the server reports an
  /// error, such as a deadlock: roll back, and repeat the transaction if you like.
  void admit(const Fence& fence) const {
    if ((connection_->server_status & SERVER_STATUS_IN_TRANS) == 0 &&
        (connection_->server_status & SERVER_STATUS_AUTOCOMMIT) != 0) {
      detail::fence_outside_transaction(fence);
    }
    const std::string name = detail::in_quotes(fence.escaped_key());
    const std::string token = detail::bigint_text(fence);
    run(fence, detail::with_literals(fence_sql::mysql_note, {name, token, token}));
    run(fence, detail::with_literals(fence_sql::mysql_highest, {name}));
    const std::unique_ptr<MYSQL_RES, Free> rows(mysql_store_result(connection_));
    const MYSQL_ROW row = rows == nullptr ? nullptr : mysql_fetch_row(rows.get());
    if (row == nullptr) detail::fence_not_checked(fence, mysql_error(connection_));
    detail::require_highest(fence, row[0]);
  }

 private:
  struct Free {
    void operator()(MYSQL_RES* rows) const noexcept { mysql_free_result(rows); }
  };

  void run(const Fence& fence, const std::string& statement) const {
    constexpr unsigned no_such_table = 1146;
    if (mysql_real_query(connection_, statement.data(), statement.size()) == 0) return;
    detail::fence_not_checked(fence, mysql_error(connection_),
                              mysql_errno(connection_) == no_such_table);
  }

  MYSQL* connection_;
};

}  // namespace latchkey::inline v1::mysql
#pragma GCC visibility pop
