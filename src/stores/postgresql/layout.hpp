// How locks are kept in a database: the SQL of requests, and what its results mean.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <latchkey/backend.hpp>

#include "backend/connection/failure.hpp"
#include "stores/postgresql/pg_handles.hpp"
#include "stores/postgresql/uri.hpp"

namespace latchkey::inline v1::detail::postgresql {

/// A prepared statement.
struct Statement {
  const char* name;
  std::string sql;
  std::string sql_if_old{};  ///< replaces `sql` if the tables are old; empty: nothing does
};

/// A column by which a statement keeps the commit of its transaction from waiting for the disk.
inline constexpr std::string_view as_not_durable =
    "pg_catalog.set_config('synchronous_commit', 'off', true)";

/// One execution of a prepared statement.
struct Call {
  const char* statement = nullptr;  ///< null: nothing is to be executed, the request is granted
  std::vector<std::optional<std::string>> parameters{};

  [[nodiscard]] std::size_t size() const noexcept;
};

/// The SQL of one schema.
class Layout {
 public:
  Layout() = default;
  Layout(const Layout&) = delete;
  Layout& operator=(const Layout&) = delete;
  virtual ~Layout() = default;

  [[nodiscard]] virtual Capabilities capabilities() const noexcept = 0;
  [[nodiscard]] virtual std::span<const Statement> statements() const noexcept = 0;

  /// A query whose first row says whether the tables can be used; `verdict` reads it.
  [[nodiscard]] virtual std::string check() const = 0;
  struct Verdict {
    std::optional<ConnectionFailure> failure{};
    bool creatable = false;        ///< the tables are missing, or of an older version
    bool is_old = false;           ///< they can be used, but lack functions that were added later
    bool tells_of_losses = false;  ///< a forced release notifies those who held the key
    std::string warning{};         ///< StoreClient::warning
  };
  [[nodiscard]] virtual Verdict verdict(const PGresult* result) const = 0;

  /// Why a request cannot be executed, as a clause; empty: it can.
  [[nodiscard]] virtual std::string why_not(const Request& request) const = 0;
  /// `is_own`: the hold that the request is about is one of this client.
  [[nodiscard]] virtual Call call(const Request& request, std::string_view channel,
                                  bool is_own) const = 0;
  /// Reads the result of a call that succeeded.
  [[nodiscard]] virtual Outcome outcome(const Request& request, const PGresult* result) const = 0;

  [[nodiscard]] static std::unique_ptr<Layout> make(const PostgresqlUri& uri);
};

/// The clause for an error that the server reports for a statement.
[[nodiscard]] std::string error_text(const PGresult* result);
/// Whether the server has undone the transaction, and another attempt may succeed.
[[nodiscard]] bool is_transient(std::string_view sql_state) noexcept;

/// An array literal of PostgreSQL.
[[nodiscard]] std::string array_literal(std::span<const std::string_view> texts);

/// In ms, at most a hundred years.
[[nodiscard]] std::string milliseconds_text(std::chrono::milliseconds time);

/// The outcome of a function that returns a boolean.
[[nodiscard]] Outcome boolean_outcome(std::string_view cell);
/// Whether libpq waits for rows in bulk, which latchkey never asks for. No other result follows.
[[nodiscard]] bool is_copy(const PGresult* result) noexcept;

/// At most a hundred years, before or after now.
[[nodiscard]] std::chrono::milliseconds time_of(std::int64_t milliseconds) noexcept;

[[nodiscard]] bool is_utf8(std::string_view text) noexcept;
/// The clause for a key that is not.
inline constexpr std::string_view key_is_not_utf8 =
    "PostgreSQL keeps keys as text, and this key is not UTF-8 without NUL";

/// The holder's note; null: there is none, or PostgreSQL cannot store it.
[[nodiscard]] std::optional<std::string> note_of(const Request& request);

}  // namespace latchkey::inline v1::detail::postgresql
