// Locks in ShedLock's table.
// SPDX-License-Identifier: BSL-1.0
#include "stores/mysql/shedlock_layout.hpp"

#include "stores/mysql/server_errors.hpp"

namespace latchkey::inline v1::detail::mysql {
namespace {

using Kind = Outcome::Kind;

constexpr std::string_view server_time = "UTC_TIMESTAMP(3)";
/// The table's column for names.
constexpr std::size_t longest_name = 64;

std::string in(std::chrono::milliseconds lease) {
  return "TIMESTAMPADD(MICROSECOND," + std::to_string(microseconds_of(lease)) + "," +
         std::string(server_time) + ")";
}

std::string owner_of(const Request& request) { return "'" + request.id.text() + "'"; }

}  // namespace

Capabilities ShedlockLayout::capabilities() const noexcept {
  Capabilities offered;
  offered.in_order = offered.expires = true;
  return offered;
}

std::string ShedlockLayout::check() const {
  return "SELECT name,lock_until,locked_at,locked_by FROM " + table_ + " LIMIT 0";
}

std::string ShedlockLayout::verdict(const Rows& /*rows*/) const { return {}; }

std::string ShedlockLayout::meaning(const SqlError& error) const {
  if (error.number == no_such_table) {
    return "the table " + table_ +
           " is missing in the database: create it as ShedLock's documentation says";
  }
  constexpr unsigned unknown_column = 1054;
  if (error.number == unknown_column) {
    return "the table " + table_ + " lacks a column of ShedLock's; " + error.text;
  }
  return {};
}

std::string ShedlockLayout::why_not(const Request& request) const {
  switch (request.verb) {
    case Verb::acquire:
    case Verb::renew:
    case Verb::verify:
    case Verb::expire:
    case Verb::release:
    case Verb::leave: break;
    default: return std::string(to_string(request.verb)) + " is not offered with ShedLock's table";
  }
  if (request.key.size() > longest_name) return "a name in ShedLock's table has at most 64 bytes";
  return {};
}

std::string ShedlockLayout::name_of(const Request& request) const {
  std::string text = "CONVERT(";
  append_bytes(text, request.key);
  return text += " USING utf8mb4)";
}

std::string ShedlockLayout::held_by(const Request& request) const {
  return " WHERE name=" + name_of(request) + " AND locked_by=" + owner_of(request) +
         " AND lock_until>" + std::string(server_time);
}

// The row is locked exclusively by its first statement, so that two acquires never wait for each
// other; INSERT IGNORE would share it first.
std::size_t ShedlockLayout::append(std::string& sql, const Request& request) const {
  const std::string held = held_by(request);
  switch (request.verb) {
    case Verb::acquire:
      sql += "INSERT INTO " + table_ + "(name,lock_until,locked_at,locked_by) VALUES(" +
             name_of(request) + "," + in(request.lease) + "," + std::string(server_time) + "," +
             owner_of(request) + ") ON DUPLICATE KEY UPDATE name=" + table_ + ".name;UPDATE " +
             table_ + " SET locked_at=" + std::string(server_time) +
             ",lock_until=GREATEST(IF(locked_by=" + owner_of(request) + ",lock_until," +
             std::string(server_time) + ")," + in(request.lease) +
             "),locked_by=" + owner_of(request) + " WHERE name=" + name_of(request) +
             " AND (lock_until<=" + std::string(server_time) +
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
      sql += "UPDATE " + table_ + " SET lock_until=" + std::string(server_time) + held +
             ";SELECT ROW_COUNT()=1";
      return 2;
    default: sql += "SELECT COUNT(*) FROM " + table_ + held; return 1;
  }
  sql += "SELECT COUNT(*) FROM " + table_ + held;
  return 2;
}

Outcome ShedlockLayout::outcome(const Request& request, const Rows& rows,
                                std::chrono::milliseconds poll) const {
  Outcome outcome;
  const bool yes = rows.at(0).at(0) == "1";
  outcome.kind = yes ? Kind::granted : Kind::gone;
  if (request.verb != Verb::acquire || yes) return outcome;
  outcome.kind = Kind::busy;
  outcome.retry_after = pause_of(number_in(rows.at(0).at(1)), poll);
  outcome.holder = rows.at(0).at(2);
  outcome.holder_is_foreign = !HoldId::parse(outcome.holder);
  return outcome;
}

std::string ShedlockLayout::sweep(std::string_view /*after*/) const { return {}; }

}  // namespace latchkey::inline v1::detail::mysql
