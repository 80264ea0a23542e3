// The queries of a new connection before the first request.
// SPDX-License-Identifier: BSL-1.0
#include <string_view>
#include <utility>

#include "stores/postgresql/connection.hpp"
#include "stores/postgresql/ddl.hpp"
#include "stores/postgresql/session_settings.hpp"
#include "stores/sql/reply.hpp"

namespace latchkey::inline v1::detail::postgresql {
namespace {

constexpr std::chrono::milliseconds pause_between_looks{5};

constexpr std::string_view pooled =
    "a pooler on the way gives the session to other clients between transactions (pgbouncer with "
    "pool_mode transaction or statement), and notifications need a session; connect to PostgreSQL "
    "itself";

std::string quoted_literal(std::string_view text) {
  std::string literal = "'";
  for (const char one : text) {
    if (one == '\'') literal += '\'';
    literal += one;
  }
  return literal += '\'';
}

}  // namespace

std::string PostgresqlConnection::identity_query() const {
  return set_settings(uri_.schema, timeout_) +
         "SELECT pg_backend_pid(), pg_is_in_recovery(), (SELECT date_part('epoch', backend_start) "
         "FROM pg_stat_activity WHERE pid = pg_backend_pid()), "
         "current_setting('transaction_read_only')";
}

std::optional<ConnectionFailure> PostgresqlConnection::read_result(const PGresult* found,
                                                                   Clock::time_point now) {
  switch (state_) {
    case State::identifying: return on_identity(found);
    case State::checking: return on_check(found);
    case State::creating:
      if (::PQresultStatus(found) == PGRES_FATAL_ERROR) {
        return ConnectionFailure{true, "latchkey's tables cannot be created: " + error_text(found)};
      }
      return query(State::checking, layout_.check());
    case State::ending_old: return on_old_session(found, now);
    default: return std::nullopt;
  }
}

// A pooler makes up the id that libpq was told.
std::optional<ConnectionFailure> PostgresqlConnection::on_identity(const PGresult* found) {
  if (::PQresultStatus(found) != PGRES_TUPLES_OK)
    return ConnectionFailure{false, error_text(found)};
  mine_ = {std::string(cell(found, 0, 0)), std::string(cell(found, 0, 2))};
  if (cell(found, 0, 1) == "t") {
    return ConnectionFailure{false, "the server is a replica, which accepts no writes"};
  }
  if (cell(found, 0, 3) == "on") {
    return ConnectionFailure{false,
                             "the server accepts no writes (default_transaction_read_only = on)"};
  }
  if (!uri_.session_pooler && mine_.process != std::to_string(::PQbackendPID(connection_.get()))) {
    return ConnectionFailure{
        true,
        std::string(pooled) + ", or to a pool in session mode with pooler=session in the URI"};
  }
  return query(State::checking, layout_.check());
}

std::optional<ConnectionFailure> PostgresqlConnection::on_check(const PGresult* found) {
  Layout::Verdict verdict = layout_.verdict(found);
  if (verdict.creatable && uri_.create && !created_) {
    created_ = true;
    return query(State::creating, std::string(ddl));
  }
  if (verdict.failure) return std::move(verdict.failure);
  is_old_ = verdict.is_old;
  tells_of_losses_ = verdict.tells_of_losses;
  warning_ = std::move(verdict.warning);
  return query(State::ending_old, old_session_query());
}

// pg_stat_activity shows the sessions of the own role, which may end them, too. Behind a pooler the
// session may serve somebody else by now.
std::string PostgresqlConnection::old_session_query() const {
  const bool knows = !old_.process.empty() && !uri_.session_pooler;
  return "SELECT pg_backend_pid(), (SELECT count(pg_terminate_backend(a.pid)) FROM "
         "pg_stat_activity a WHERE a.pid = " +
         (knows ? old_.process : "0") +
         " AND date_part('epoch', a.backend_start)::text = " + quoted_literal(old_.started) +
         "), " + differing_settings(uri_.schema, timeout_);
}

std::optional<ConnectionFailure> PostgresqlConnection::on_old_session(const PGresult* found,
                                                                      Clock::time_point now) {
  if (::PQresultStatus(found) != PGRES_TUPLES_OK)
    return ConnectionFailure{false, error_text(found)};
  if (cell(found, 0, 0) != mine_.process) return ConnectionFailure{true, std::string(pooled)};
  if (const std::string_view differing = cell(found, 0, 2); !differing.empty()) {
    return ConnectionFailure{true, "the session does not keep the settings that latchkey needs: " +
                                       std::string(differing) +
                                       "; expected those that docs/stores/postgresql.md lists"};
  }
  if (sql::number_in(cell(found, 0, 1)) > 0) {
    again_at_ = later(now, pause_between_looks);
    return std::nullopt;
  }
  return restore();
}

std::optional<ConnectionFailure> PostgresqlConnection::restore() {
  PGconn* const connection = connection_.get();
  state_ = State::restoring;
  bool sent = ::PQenterPipelineMode(connection) == 1;
  for (const Statement& each : layout_.statements()) {
    const std::string& sql = is_old_ && !each.sql_if_old.empty() ? each.sql_if_old : each.sql;
    sent = sent && ::PQsendPrepare(connection, each.name, sql.c_str(), 0, nullptr) == 1;
  }
  const auto listen = [&](std::string_view channel) {
    const std::string sql = "LISTEN " + std::string(channel);
    sent = sent && ::PQsendQueryParams(connection, sql.c_str(), 0, nullptr, nullptr, nullptr,
                                       nullptr, 0) == 1;
  };
  if (is_told_of_losses()) listen(Subscriptions::forced_releases);
  if (layout_.capabilities().pushes) {
    listen(subscriptions_.channel());
    const Subscriptions::Rows rows = subscriptions_.rows();
    const std::vector<std::string_view> key_views(rows.keys.begin(), rows.keys.end());
    const std::vector<std::string_view> waiter_views(rows.waiters.begin(), rows.waiters.end());
    const std::string keys = array_literal(key_views), waiters = array_literal(waiter_views);
    const char* const values[] = {subscriptions_.channel().c_str(), keys.c_str(), waiters.c_str()};
    sent = sent && ::PQsendQueryParams(connection, "SELECT latchkey.subscribe_all($1, $2, $3)", 3,
                                       nullptr, values, nullptr, nullptr, 0) == 1;
  }
  sent = sent && ::PQpipelineSync(connection) == 1;
  if (!sent || !flush()) return lost();
  return std::nullopt;
}

std::optional<ConnectionFailure> PostgresqlConnection::read_restored() {
  int nothing = 0;  // one null result ends each statement
  while (::PQisBusy(connection_.get()) == 0) {
    const ResultHandle next(::PQgetResult(connection_.get()));
    result_ended();
    if (!next && ++nothing > 2) return ConnectionFailure{false, std::string(sql::malformed)};
    if (!next) continue;
    nothing = 0;
    const ExecStatusType status = ::PQresultStatus(next.get());
    if (is_copy(next.get())) return ConnectionFailure{false, std::string(sql::malformed)};
    if (status == PGRES_FATAL_ERROR) {
      return ConnectionFailure{sql_state(next.get()) == "42501", error_text(next.get())};
    }
    if (status != PGRES_PIPELINE_SYNC) continue;
    state_ = State::up;
    old_ = mine_;
    ends_at_ = Clock::never();
    return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace latchkey::inline v1::detail::postgresql
