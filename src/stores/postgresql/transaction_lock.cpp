// Takes advisory locks of the caller's transaction.
// SPDX-License-Identifier: BSL-1.0
#include <latchkey/postgresql/transaction_lock.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>

#include <latchkey/error.hpp>

#include "core/full_key.hpp"
#include "core/text/number.hpp"
#include "stores/postgresql/layout.hpp"
#include "stores/postgresql/pg_handles.hpp"
#include "stores/postgresql/uri.hpp"

namespace latchkey::inline v1::postgresql {
namespace {

using detail::postgresql::cell;
using detail::postgresql::ResultHandle;

constexpr Oid oid_of_bytea = 17;

// The hash is that of the mutex of a name (ddl.sql), and its seed is the successor of that one's:
// with the same number, a transaction would stop all acquires of postgresql:// for its key, and
// those that share a batch with them. The key is sent as bytea, so that the encoding of the
// caller's session does not matter. The statements name the schema of each function and type,
// because the search_path is the caller's.
constexpr std::string_view lock_number =
    "(pg_catalog.hashtextextended(pg_catalog.convert_from($1, 'UTF8'), 7809644666444609894))";

/// The reply is `true`, `false`, or why it was not tried; then the lock_timeout of the session.
std::string try_statement(LockType type) {
  std::string sql =
      "SELECT CASE WHEN pg_catalog.pg_is_in_recovery() THEN 'replica' WHEN NOT "
      "pg_catalog.starts_with(pg_catalog.current_setting('transaction_isolation'), 'read ') THEN "
      "'snapshot' ELSE pg_catalog.pg_try_advisory_xact_lock";
  if (type == LockType::READ) sql += "_shared";
  sql += lock_number;
  return sql += "::pg_catalog.text END, pg_catalog.current_setting('lock_timeout')";
}

std::string wait_statement(LockType type) {
  std::string sql = "SELECT pg_catalog.pg_advisory_xact_lock";
  if (type == LockType::READ) sql += "_shared";
  return sql += lock_number;
}

std::string text_of(const char* text) { return text == nullptr ? std::string() : text; }

std::string describe(const PGconn& connection) {
  detail::postgresql::PostgresqlUri uri;
  std::uint16_t port = 0;
  static_cast<void>(detail::read_number(text_of(::PQport(&connection)), port));
  uri.hosts.push_back({text_of(::PQhost(&connection)), port});
  uri.database = text_of(::PQdb(&connection));
  return uri.describe();
}

/// One call on one connection.
class LockCall {
 public:
  LockCall(PGconn& connection, std::string_view key, LockType type)
      : connection_(connection),
        site_{.key = std::string(key), .type = type, .backend = describe(connection)} {}

  /// False: others hold the lock.
  [[nodiscard]] bool acquire(Wait wait) {
    check_connection();
    if (!detail::postgresql::is_utf8(site_.key)) {
      refuse(std::string(detail::postgresql::key_is_not_utf8));
    }
    std::string lock_timeout;
    if (try_now(lock_timeout)) return true;
    return wait.length() > wait.length().zero() && acquire_within(wait, lock_timeout);
  }

  [[noreturn]] void time_out(Wait wait) const { throw LockTimeout(site_, wait.length(), {}); }

 private:
  [[noreturn]] void refuse(const std::string& reason) const { throw BackendRefused(site_, reason); }

  /// Throws for what libpq says about the connection before anything is sent.
  void check_connection() const {
    if (::PQpipelineStatus(&connection_) != PQ_PIPELINE_OFF) {
      refuse(
          "its connection is in pipeline mode, in which nothing can wait for a lock; leave it "
          "with PQexitPipelineMode first");
    }
    switch (::PQtransactionStatus(&connection_)) {
      case PQTRANS_INTRANS: return;
      case PQTRANS_IDLE:
        refuse(
            "its connection is in no transaction, so the lock would end with the statement that "
            "takes it; send BEGIN first");
      case PQTRANS_INERROR:
        refuse(
            "the transaction of its connection has failed and can only be rolled back; send "
            "ROLLBACK, then begin again");
      case PQTRANS_ACTIVE:
        refuse(
            "a statement of its connection is still under way; read its results to the end "
            "first");
      case PQTRANS_UNKNOWN: break;
    }
    throw BackendUnavailable(site_, "its connection is broken");
  }

  [[nodiscard]] bool try_now(std::string& lock_timeout) {
    const ResultHandle result = run(try_statement(site_.type), site_.key, Parameter::bytes);
    const std::string_view reply = cell(result.get(), 0, 0);
    if (reply == "replica") {
      refuse(
          "the server is a replica, where the lock excludes no transaction of the primary; "
          "connect to the primary");
    }
    if (reply == "snapshot") {
      refuse(
          "its transaction is REPEATABLE READ or SERIALIZABLE, and does not see what the last "
          "holder has committed; begin it with BEGIN ISOLATION LEVEL READ COMMITTED");
    }
    lock_timeout = cell(result.get(), 0, 1);
    return reply == "true";
  }

  // An error ends the transaction, or the part since the last savepoint. ROLLBACK TO undoes SET
  // LOCAL too, RELEASE does not.
  [[nodiscard]] bool acquire_within(Wait wait, const std::string& lock_timeout) {
    constexpr std::int64_t longest = std::numeric_limits<std::int32_t>::max();
    const std::int64_t limit =
        wait.is_forever() ? 0 : std::min<std::int64_t>(wait.length().count(), longest);
    run("SAVEPOINT latchkey_transaction_lock");
    set_lock_timeout(std::to_string(limit));
    const ResultHandle result = send(wait_statement(site_.type), site_.key, Parameter::bytes);
    if (detail::postgresql::sql_state(result.get()) == "55P03") {  // lock_timeout
      run("ROLLBACK TO SAVEPOINT latchkey_transaction_lock");
      run("RELEASE SAVEPOINT latchkey_transaction_lock");
      return false;
    }
    check(result.get());
    set_lock_timeout(lock_timeout);
    run("RELEASE SAVEPOINT latchkey_transaction_lock");
    return true;
  }

  void set_lock_timeout(const std::string& value) {
    run("SELECT pg_catalog.set_config('lock_timeout', $1, true)", value, Parameter::text);
  }

  enum class Parameter { text, bytes };
  [[nodiscard]] ResultHandle send(const std::string& sql, const std::string& parameter,
                                  Parameter kind) {
    const Oid type = kind == Parameter::bytes ? oid_of_bytea : 0;
    const char* const value = parameter.data();
    const int length = static_cast<int>(parameter.size());
    const int format = kind == Parameter::bytes ? 1 : 0;
    return ResultHandle(
        ::PQexecParams(&connection_, sql.c_str(), 1, &type, &value, &length, &format, 0));
  }
  ResultHandle run(const std::string& sql, const std::string& parameter, Parameter kind) {
    ResultHandle result = send(sql, parameter, kind);
    check(result.get());
    return result;
  }
  void run(const char* sql) { check(ResultHandle(::PQexec(&connection_, sql)).get()); }

  /// Throws if the statement has failed.
  void check(const PGresult* result) const {
    const ExecStatusType status = ::PQresultStatus(result);
    if (status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK) return;
    if (::PQstatus(&connection_) == CONNECTION_BAD) {
      throw BackendUnavailable(site_, "its connection broke, which ends the transaction");
    }
    const std::string reason = detail::postgresql::error_text(result);
    if (detail::postgresql::is_transient(detail::postgresql::sql_state(result))) {
      throw BackendUnavailable(site_, reason + "; roll back, then begin again");
    }
    refuse(reason);
  }

  PGconn& connection_;
  LockSite site_;
};

LockCall checked_call(PGconn* connection, std::string_view key, LockType type) {
  if (connection == nullptr) {
    throw std::invalid_argument("a transaction lock needs a connection: this is null");
  }
  if (type != LockType::REENTRANT && type != LockType::READ && type != LockType::WRITE) {
    throw std::invalid_argument("a transaction lock cannot be " + std::string(to_string(type)) +
                                "; expected REENTRANT, READ or WRITE");
  }
  detail::FullKey::check({}, key);
  return {*connection, key, type};
}

}  // namespace

void transaction_lock(PGconn* connection, std::string_view key, LockType type, Wait wait) {
  LockCall call = checked_call(connection, key, type);
  if (!call.acquire(wait)) call.time_out(wait);
}

bool try_transaction_lock(PGconn* connection, std::string_view key, LockType type, Wait wait) {
  return checked_call(connection, key, type).acquire(wait);
}

}  // namespace latchkey::inline v1::postgresql
