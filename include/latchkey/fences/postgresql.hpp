// The guard in PostgreSQL, on a connection of libpq that is the caller's.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <latchkey/detail/cxx20.hpp>

#include <libpq-fe.h>

#include <memory>
#include <string>
#include <string_view>

#include <latchkey/fence.hpp>
#include <latchkey/fences/sql.hpp>

#pragma GCC visibility push(default)
namespace latchkey::inline v1::postgresql {

/// Refuses old fences inside the caller's transaction: the check and the writes after it are
/// committed together or not at all. The table is `latchkey_seen_fences`, found by the search_path
/// of the connection; `latchkey ddl fences` prints it. Your program links libpq; this header needs
/// no store of latchkey, and locks of every store.
///
/// Not promised: the check of writes that are not in the transaction, and of those before admit().
class FenceTable {
 public:
  /// Borrows the connection, which must outlive it. One thread at a time, as libpq requires.
  explicit FenceTable(PGconn* connection) noexcept : connection_(connection) {}

  /// Throws FenceRejected if a higher token of the key was committed: roll back. Otherwise
  /// remembers the token, and locks the row of the key until the transaction ends; waits for
  /// another transaction that has locked it, as long as the lock_timeout of the connection permits.
  ///
  /// Throws Error, with the server's words, outside a transaction or if the server reports an
  /// error: the transaction has failed then. Under REPEATABLE READ and SERIALIZABLE that may be a
  /// serialization failure, after which you repeat the transaction.
  void admit(const Fence& fence) const {
    if (PQtransactionStatus(connection_) != PQTRANS_INTRANS) {
      detail::fence_outside_transaction(fence);
    }
    const std::string name = fence.escaped_key(), token = detail::bigint_text(fence);
    const char* const values[] = {name.c_str(), token.c_str()};
    const Result result(PQexecParams(connection_, fence_sql::postgresql.data(), 2, nullptr, values,
                                     nullptr, nullptr, 0));
    if (PQresultStatus(result.get()) != PGRES_TUPLES_OK || PQntuples(result.get()) != 1) {
      const char* const state = PQresultErrorField(result.get(), PG_DIAG_SQLSTATE);
      const bool undefined_table = state != nullptr && std::string_view(state) == "42P01";
      detail::fence_not_checked(fence, PQerrorMessage(connection_), undefined_table);
    }
    detail::require_highest(fence, PQgetvalue(result.get(), 0, 0));
  }

 private:
  struct Clear {
    void operator()(PGresult* result) const noexcept { PQclear(result); }
  };
  using Result = std::unique_ptr<PGresult, Clear>;

  PGconn* connection_;
};

}  // namespace latchkey::inline v1::postgresql
#pragma GCC visibility pop
