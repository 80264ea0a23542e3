// Owners of what libpq allocates.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <libpq-fe.h>

#include <cstddef>
#include <memory>
#include <string_view>

namespace latchkey::inline v1::detail::postgresql {

struct PgDeleter {
  void operator()(PGconn* connection) const noexcept { ::PQfinish(connection); }
  void operator()(PGresult* result) const noexcept { ::PQclear(result); }
  void operator()(PGnotify* notification) const noexcept { ::PQfreemem(notification); }
};
using ConnectionHandle = std::unique_ptr<PGconn, PgDeleter>;
using ResultHandle = std::unique_ptr<PGresult, PgDeleter>;
using NotificationHandle = std::unique_ptr<PGnotify, PgDeleter>;

/// A cell of a result in text format; empty: NULL, too, or there is no such cell.
inline std::string_view cell(const PGresult* result, int row, int column) {
  if (row >= ::PQntuples(result) || column >= ::PQnfields(result)) return {};
  return {::PQgetvalue(result, row, column),
          static_cast<std::size_t>(::PQgetlength(result, row, column))};
}

/// The SQLSTATE of an error; empty: the error is libpq's own.
inline std::string_view sql_state(const PGresult* result) {
  const char* const state = ::PQresultErrorField(result, PG_DIAG_SQLSTATE);
  return state == nullptr ? std::string_view() : state;
}

}  // namespace latchkey::inline v1::detail::postgresql
