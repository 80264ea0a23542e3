// The statements on ShedLock's table.
// SPDX-License-Identifier: BSL-1.0
#include "stores/postgresql/shedlock_layout.hpp"

#include <algorithm>

#include <latchkey/hold_id.hpp>

#include "backend/refusals.hpp"
#include "stores/sql/reply.hpp"

namespace latchkey::inline v1::detail::postgresql {
namespace {

constexpr std::string_view now = "pg_catalog.timezone('utc'::text, pg_catalog.clock_timestamp())";
constexpr std::string_view later = "($3::int8::float8 ^* '1 millisecond'::interval)";
constexpr std::size_t longest_name = 64;

/// `@` is the table, `#` the server's time, `~` the lease, and `^=` the operator = of pg_catalog.
std::string filled(std::string_view pattern, const std::string& table) {
  std::string sql;
  for (std::size_t at = 0; at < pattern.size(); ++at) {
    if (pattern[at] == '@') {
      sql += table;
    } else if (pattern[at] == '#') {
      sql += now;
    } else if (pattern[at] == '~') {
      sql += filled(later, table);
    } else if (pattern[at] == '^') {
      const std::size_t begin = at + 1;
      at = pattern.find_first_not_of("<=>+-*", begin) - 1;
      ((sql += "OPERATOR(pg_catalog.") += pattern.substr(begin, at + 1 - begin)) += ')';
    } else {
      sql += pattern[at];
    }
  }
  return sql;
}

std::size_t characters(std::string_view text) noexcept {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char one) { return (static_cast<unsigned char>(one) >> 6U) != 2; }));
}

}  // namespace

ShedlockLayout::ShedlockLayout(const std::string& table) : table_(table) {
  // A statement reads the state before its own changes: the holder that it returns is for messages
  // only.
  statements_ = {
      {"acquire",
       filled("WITH taken AS (INSERT INTO @ AS l (name, lock_until, locked_at, locked_by) VALUES "
              "($1, # ^+ ~, #, $2) ON CONFLICT (name) DO UPDATE "
              "SET lock_until = greatest(CASE WHEN l.locked_by ^= $2 THEN l.lock_until END, "
              "# ^+ ~), locked_at = #, locked_by = $2 "
              "WHERE l.lock_until ^<= # OR l.locked_by ^= $2 RETURNING 1), "
              "before AS (SELECT locked_by, lock_until FROM @ WHERE name ^= $1) "
              "SELECT EXISTS (SELECT FROM taken), (SELECT locked_by FROM before), (SELECT "
              "pg_catalog.ceil(pg_catalog.date_part('epoch'::text, lock_until ^- #) ^* "
              "1000::float8)::bigint FROM before)",
              table)},
      {"renew", filled("UPDATE @ SET lock_until = greatest(lock_until, # ^+ ~) WHERE name ^= $1 "
                       "AND locked_by ^= $2 AND lock_until ^> # RETURNING 1",
                       table)},
      {"expire", filled("UPDATE @ SET lock_until = least(lock_until, # ^+ ~) WHERE name ^= $1 AND "
                        "locked_by ^= $2 AND lock_until ^> # RETURNING 1",
                        table)},
      {"release", filled("UPDATE @ SET lock_until = # WHERE name ^= $1 AND locked_by ^= $2 AND "
                         "lock_until ^> # RETURNING " +
                             std::string(as_not_durable),
                         table)},
      {"verify",
       filled("SELECT 1 FROM @ WHERE name ^= $1 AND locked_by ^= $2 AND lock_until ^> #", table)},
  };
}

Capabilities ShedlockLayout::capabilities() const noexcept {
  Capabilities offered;
  offered.expires = offered.in_order = offered.batches_checks = true;
  return offered;
}

// Columns whose times depend on the zone of the session, or are rounded, do not end a lock when its
// holder believes so.
std::string ShedlockLayout::check() const {
  return filled(
      "SELECT has_table_privilege('@', 'SELECT') AND has_table_privilege('@', 'INSERT') AND "
      "has_table_privilege('@', 'UPDATE'), (SELECT count(name) ^+ count(lock_until) ^+ "
      "count(locked_at) ^+ count(locked_by) FROM @ WHERE false), "
      "(SELECT string_agg(concat(a.attname, ' ', format_type(a.atttypid, a.atttypmod)), "
      "', '::text ORDER BY a.attnum) FROM pg_catalog.pg_attribute a "
      "WHERE a.attrelid ^= '@'::regclass::oid AND a.attname IN ('lock_until', 'locked_at') AND "
      "(a.atttypid ^<> 'pg_catalog.timestamp'::regtype::oid OR a.atttypmod IN (0, 1, 2))), "
      "EXISTS (SELECT FROM pg_catalog.pg_index i JOIN pg_catalog.pg_attribute a ON a.attrelid ^= "
      "i.indrelid AND a.attnum ^= i.indkey[0] WHERE i.indrelid ^= '@'::regclass::oid AND "
      "i.indisunique AND i.indisvalid AND i.indpred IS NULL AND i.indnkeyatts ^= 1::int2 AND "
      "a.attname ^= 'name'::name)",
      table_);
}

Layout::Verdict ShedlockLayout::verdict(const PGresult* result) const {
  const auto failure = [](std::string text) {
    return Verdict{ConnectionFailure{true, std::move(text)}, false};
  };
  if (::PQresultStatus(result) != PGRES_TUPLES_OK) {
    const std::string_view state = sql_state(result);
    if (state == "42P01" || state == "3F000") {
      return failure("the database lacks ShedLock's table " + table_ +
                     "; create it as ShedLock's documentation says, or name another one with the "
                     "option table");
    }
    if (state == "42703") {
      return failure("the table " + table_ +
                     " is not ShedLock's, which has the columns name, lock_until, locked_at and "
                     "locked_by");
    }
    if (state != "42501") return {ConnectionFailure{false, error_text(result)}, false};
  }
  if (cell(result, 0, 0) != "t") {
    return failure("the role may not use the table " + table_ +
                   "; grant it SELECT, INSERT and UPDATE");
  }
  if (const std::string_view columns = cell(result, 0, 2); !columns.empty()) {
    return failure("the table " + table_ + " has the columns " + std::string(columns) +
                   "; expected timestamp without time zone, with milliseconds: the time that is "
                   "stored must not depend on the zone of a session (ALTER TABLE " +
                   table_ + " ALTER lock_until TYPE timestamp, ALTER locked_at TYPE timestamp)");
  }
  if (cell(result, 0, 3) != "t") {
    return failure("the table " + table_ +
                   " has no primary key or unique index on the column name alone");
  }
  return {};
}

std::string ShedlockLayout::why_not(const Request& request) const {
  if (std::string reason = why_not_with_shedlock(request.verb); !reason.empty()) return reason;
  if (!is_utf8(request.key)) return std::string(key_is_not_utf8);
  const std::size_t length = characters(request.key);
  if (length > longest_name) {
    return "ShedLock's table has names of at most 64 characters, and this key has " +
           std::to_string(length);
  }
  return {};
}

Call ShedlockLayout::call(const Request& request, std::string_view /*channel*/,
                          bool /*is_own*/) const {
  std::string name(request.key), owner = request.id.text();
  std::string lease = milliseconds_text(request.lease);
  switch (request.verb) {
    case Verb::acquire: return {"acquire", {name, owner, lease}};
    case Verb::renew: return {"renew", {name, owner, lease}};
    case Verb::expire: return {"expire", {name, owner, lease}};
    case Verb::verify: return {"verify", {name, owner}};
    case Verb::release:
    case Verb::leave: return {"release", {name, owner}};
    default: return {};  // refused by why_not: notifications, several keys, administration
  }
}

Outcome ShedlockLayout::outcome(const Request& request, const PGresult* result) const {
  const bool acquires = request.verb == Verb::acquire;
  const int rows = ::PQntuples(result), columns = ::PQnfields(result);
  if (rows > 1 || (acquires ? rows != 1 || columns != 3 : columns == 0))
    return sql::malformed_outcome();
  Outcome outcome;
  if (!acquires) {
    outcome.kind = rows > 0 ? Outcome::Kind::granted : Outcome::Kind::gone;
    return outcome;
  }
  outcome = boolean_outcome(cell(result, 0, 0));
  if (outcome.kind != Outcome::Kind::gone) return outcome;
  outcome.kind = Outcome::Kind::busy;
  outcome.holder = cell(result, 0, 1);
  outcome.holder_is_foreign = !HoldId::parse(outcome.holder);
  const std::int64_t left = sql::number_in(cell(result, 0, 2));
  if (left > 0) outcome.retry_after = time_of(left);
  return outcome;
}

}  // namespace latchkey::inline v1::detail::postgresql
