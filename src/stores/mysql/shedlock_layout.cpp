// Locks in ShedLock's table.
// SPDX-License-Identifier: BSL-1.0
#include "stores/mysql/shedlock_layout.hpp"

#include "backend/refusals.hpp"
#include "stores/mysql/server_errors.hpp"
#include "stores/sql/reply.hpp"

namespace latchkey::inline v1::detail::mysql {
namespace {

using Kind = Outcome::Kind;

constexpr std::string_view server_time = "UTC_TIMESTAMP(3)";
/// The table's column for names.
constexpr std::size_t longest_name = 64;

std::string owner_of(const Request& request) { return "'" + request.id.text() + "'"; }

}  // namespace

Capabilities ShedlockLayout::capabilities() const noexcept {
  Capabilities offered;
  offered.in_order = offered.expires = true;
  return offered;
}

// The lock of the check is taken and undone. Its name is that of no other check, so that none waits
// for another one.
std::string ShedlockLayout::check() const {
  Request request;
  request.verb = Verb::acquire;
  request.id = {HoldId::new_space(), 1};
  const std::string name = "latchkey:check:" + request.id.text();
  request.key = name;
  std::string sql =
      "SELECT DATA_TYPE='timestamp' FROM information_schema.COLUMNS WHERE TABLE_SCHEMA=DATABASE() "
      "AND COLUMN_NAME='lock_until' AND TABLE_NAME='" +
      table_.substr(1, table_.size() - 2) + "';ROLLBACK;BEGIN;";
  append(sql, request);
  return sql += ";ROLLBACK";
}

std::string ShedlockLayout::verdict(const std::deque<Rows>& results) {
  constexpr Shape type{1, true};
  const bool fits = results.size() == 2 && type.fits(results.front()) &&
                    shape_of(Verb::acquire).fits(results.back());
  if (!fits) return "the table " + table_ + " is not ShedLock's: it gives no row of a lock back";
  is_timestamp_ = results.front().front().front() == "1";
  const bool granted = results.back().front().front() == "1";
  return granted ? std::string() : "a new lock in the table " + table_ + " is not granted";
}

std::string ShedlockLayout::meaning(const SqlError& error) const {
  if (error.number == no_such_table) {
    return "the table " + table_ +
           " is missing in the database: create it as ShedLock's documentation says";
  }
  constexpr unsigned unknown_column = 1054, mixed_collations = 1267, wrong_time = 1292,
                     not_text = 1300, no_default = 1364, wrong_text = 1366, too_long = 1406;
  switch (error.number) {
    case unknown_column:
      return "the table " + table_ + " lacks a column of ShedLock's; " + error.text;
    case mixed_collations:
    case wrong_time:
    case not_text:
    case no_default:
    case wrong_text:
    case too_long: return "the table " + table_ + " does not take the lock; " + error.text;
    case table_denied:
    case column_denied:
      return "the user lacks a permission: GRANT SELECT, INSERT, UPDATE ON " + table_;
    default: return {};
  }
}

std::string ShedlockLayout::why_not(const Request& request) const {
  if (std::string reason = why_not_with_shedlock(request.verb); !reason.empty()) return reason;
  if (request.key.size() > longest_name) return "a name in ShedLock's table has at most 64 bytes";
  return {};
}

// A literal takes the character set and the collation of the column that it is compared with.
std::string ShedlockLayout::name_of(const Request& request) const {
  std::string text = "_utf8mb4 ";
  append_bytes(text, request.key);
  return text;
}

// A TIMESTAMP column stores UTC as if it were the local time of the session. When clocks go
// forward, an hour of it does not exist: a time in that hour becomes the first one after it, so
// that nobody takes the lock too early.
std::string ShedlockLayout::stored(const std::string& time) const {
  return is_timestamp_ ? "FROM_UNIXTIME(UNIX_TIMESTAMP(" + time + "))" : time;
}

std::string ShedlockLayout::in(std::chrono::milliseconds lease) const {
  return stored("TIMESTAMPADD(MICROSECOND," + std::to_string(microseconds_of(lease)) + "," +
                std::string(server_time) + ")");
}

// In an hour that does not exist (see `stored`): the last second before that hour.
std::string ShedlockLayout::ended() const {
  std::string time(server_time);
  if (!is_timestamp_) return time;
  return "IF(" + stored(time) + "=" + time + "," + time + ",FROM_UNIXTIME(FLOOR(UNIX_TIMESTAMP(" +
         time + "))-1))";
}

std::string ShedlockLayout::held_by(const Request& request) const {
  return " WHERE name=" + name_of(request) + " AND locked_by=" + owner_of(request) +
         " AND lock_until>" + std::string(server_time);
}

// The row is locked exclusively by its first statement, so that two acquires never wait for each
// other; INSERT IGNORE would share it first.
std::size_t ShedlockLayout::append(std::string& sql, const Request& request) const {
  const std::string held = held_by(request), current = stored(std::string(server_time));
  switch (request.verb) {
    case Verb::acquire:
      sql += "INSERT INTO " + table_ + "(name,lock_until,locked_at,locked_by) VALUES(" +
             name_of(request) + "," + in(request.lease) + "," + current + "," + owner_of(request) +
             ") ON DUPLICATE KEY UPDATE name=" + table_ + ".name;UPDATE " + table_ +
             " SET locked_at=" + current +
             ",lock_until=GREATEST(IF(locked_by=" + owner_of(request) + ",lock_until," + current +
             ")," + in(request.lease) + "),locked_by=" + owner_of(request) +
             " WHERE name=" + name_of(request) + " AND (lock_until<=" + std::string(server_time) +
             " OR locked_by=" + owner_of(request) + ");SELECT locked_by=" + owner_of(request) +
             ",TIMESTAMPDIFF(MICROSECOND," + std::string(server_time) +
             ",lock_until),locked_by FROM " + table_ + " WHERE name=" + name_of(request);
      return 3;
    case Verb::renew:
      sql += "UPDATE " + table_ + " SET lock_until=GREATEST(lock_until," + in(request.lease) + ")" +
             held + ";";
      break;
    case Verb::expire:
      sql += "UPDATE " + table_ + " SET lock_until=LEAST(lock_until," + in(request.lease) + ")" +
             held + ";";
      break;
    case Verb::release:
    case Verb::leave:
      sql += "UPDATE " + table_ + " SET lock_until=" + ended() + held + ";SELECT ROW_COUNT()=1";
      return 2;
    default: sql += "SELECT COUNT(*) FROM " + table_ + held; return 1;
  }
  sql += "SELECT COUNT(*) FROM " + table_ + held;
  return 2;
}

Layout::Shape ShedlockLayout::shape_of(Verb verb) noexcept {
  return {verb == Verb::acquire ? std::size_t{3} : std::size_t{1}, true};
}

Layout::Shape ShedlockLayout::shape(const Request& request) const { return shape_of(request.verb); }

Outcome ShedlockLayout::outcome(const Request& request, const Rows& rows,
                                std::chrono::milliseconds poll) const {
  Outcome outcome;
  const bool yes = rows.at(0).at(0) == "1";
  outcome.kind = yes ? Kind::granted : Kind::gone;
  if (request.verb != Verb::acquire || yes) return outcome;
  outcome.kind = Kind::busy;
  outcome.retry_after = pause_of(sql::number_in(rows.at(0).at(1)), poll);
  outcome.holder = rows.at(0).at(2);
  outcome.holder_is_foreign = !HoldId::parse(outcome.holder);
  return outcome;
}

std::string ShedlockLayout::sweep(std::string_view /*after*/) const { return {}; }

}  // namespace latchkey::inline v1::detail::mysql
