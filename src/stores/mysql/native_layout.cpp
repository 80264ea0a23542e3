// Locks in latchkey's own tables.
// SPDX-License-Identifier: BSL-1.0
#include "stores/mysql/native_layout.hpp"

#include <array>
#include <limits>
#include <optional>

#include "stores/mysql/server_errors.hpp"
#include "stores/sql/call_table.hpp"
#include "stores/sql/reply.hpp"

namespace latchkey::inline v1::detail::mysql {
namespace {

using std::chrono::milliseconds;

constexpr std::string_view version = "1";
/// When the statement began, in µs since 1970: a floating-point number that is exact to 1 µs. An
/// expression with UTC_TIMESTAMP(6) costs the server more.
constexpr std::string_view now = "@@timestamp*1000000";
constexpr std::string_view cure =
    "run `latchkey ddl mysql | mysql <database>`, or add create=yes to the URI";

/// The procedures that serve requests.
constexpr auto calls = [] {
  using enum sql::Argument;
  using enum LockType;
  constexpr std::optional<LockType> any;
  return std::to_array<sql::CallRow>({
      {Verb::acquire, PERMIT, "latchkey_acquire_permits", {key, owner, lease, taken, total}},
      {Verb::acquire, any, "latchkey_acquire", {key, type, owner, lease, wait, tokens}},
      {Verb::renew, PERMIT, "latchkey_renew_permits", {key, owner, lease, no}},
      {Verb::renew, any, "latchkey_renew", {key, type, owner, lease}},
      {Verb::verify, PERMIT, "latchkey_verify_permits", {key, owner}},
      {Verb::verify, any, "latchkey_verify", {key, type, owner}},
      {Verb::downgrade, PERMIT, "latchkey_renew_permits", {key, owner, lease, no}},
      {Verb::downgrade, any, "latchkey_downgrade", {key, owner, lease}},
      {Verb::expire, PERMIT, "latchkey_renew_permits", {key, owner, lease, yes}},
      {Verb::expire, any, "latchkey_expire", {key, type, owner, lease}},
      {Verb::release, PERMIT, "latchkey_release_permits", {key, owner}},
      {Verb::release, any, "latchkey_release", {key, type, owner, no}},
      {Verb::leave, PERMIT, "latchkey_release_permits", {key, owner}},
      {Verb::leave, any, "latchkey_release", {key, type, owner, yes}},
      {Verb::inspect, any, "latchkey_inspect", {key}},
      {Verb::list, any, "latchkey_list", {names}},
      {Verb::resize, PERMIT, "latchkey_resize_permits", {key, total}},
      {Verb::force_release, PERMIT, "latchkey_destroy_permits", {key}},
      {Verb::force_release, any, "latchkey_force_release", {key}},
  });
}();

/// Gives a WRITE or a FAIR a fencing token.
constexpr sql::CallRow give_token{
    Verb::acquire,
    {},
    "latchkey_give_token",
    {sql::Argument::key, sql::Argument::type, sql::Argument::owner, sql::Argument::tokens}};

/// Whether `give_token` follows the acquire.
bool is_given_token(const Request& request) noexcept {
  return request.verb == Verb::acquire && sql::is_given_token(request.type, request.fenced);
}

int number_of(LockType type) noexcept {
  switch (type) {
    case LockType::REENTRANT: return 0;
    case LockType::FAIR: return 1;
    case LockType::READ: return 2;
    case LockType::WRITE: return 3;
    case LockType::FENCED: return 4;
    case LockType::PERMIT: break;  // no procedure takes it
  }
  return 0;
}

void append_owner(std::string& text, const Request& request) {
  text += '\'';
  text += request.id.text();
  text += '\'';
}

/// The text that all names which match a glob begin with; and all rows from the first one on.
void append_names(std::string& text, std::string_view glob) {
  append_bytes(text, glob.substr(0, glob.find_first_of("*?[\\")));
  text += ",0,";
  text += std::to_string(std::numeric_limits<std::int64_t>::max());
}

void append_argument(std::string& text, sql::Argument argument, const Request& request) {
  using sql::Argument;
  const auto number = [&](std::int64_t each) { text += std::to_string(each); };
  switch (argument) {
    case Argument::key: return append_bytes(text, request.key);
    case Argument::names: return append_names(text, request.key);
    case Argument::owner: return append_owner(text, request);
    case Argument::type: return number(number_of(request.type));
    case Argument::lease: return number(microseconds_of(request.lease));
    case Argument::wait: return number(microseconds_of(request.queue_wait));
    case Argument::tokens: return number(request.tokens);
    case Argument::taken: return number(request.permits.taken);
    case Argument::total: return number(request.permits.total);
    case Argument::yes: text += "TRUE"; return;
    case Argument::no: text += "FALSE"; return;
    case Argument::none:
    case Argument::note:
    case Argument::channel:
    case Argument::waiter: break;
  }
}

void append_call(std::string& text, const sql::CallRow& row, const Request& request) {
  text += "CALL ";
  text += row.name;
  char before = '(';
  for (const sql::Argument each : row.arguments) {
    if (each == sql::Argument::none) break;
    text += before;
    append_argument(text, each, request);
    before = ',';
  }
  text += ')';
}

constexpr std::string_view unless_it_exists = "ON DUPLICATE KEY UPDATE name=latchkey_locks.name";

void append_insert(std::string& text) {
  text += "INSERT INTO latchkey_locks(name,mode,owner,ends)VALUES";
}

/// `(name,mode,owner` of a hold.
void append_hold(std::string& text, const Request& request) {
  text += '(';
  append_bytes(text, request.key);
  text += request.type == LockType::WRITE ? ",2," : ",1,";
  append_owner(text, request);
}

/// `(name,mode,owner,ends)` of a new hold.
void append_row(std::string& text, const Request& request) {
  append_hold(text, request);
  text += ',';
  text += now;
  text += '+' + std::to_string(microseconds_of(request.lease)) + ')';
}

/// The condition for a hold that lasts, and that nobody waits behind.
void append_alone(std::string& text) {
  text += " AND waiting=0 AND kept=0 AND ends>";
  text += now;
}

std::string missing_procedures(const std::string& whose) {
  return "the database lacks latchkey's procedures for " + whose +
         ": run `latchkey ddl mysql | mysql <database>` again";
}

}  // namespace

Capabilities NativeLayout::capabilities() const noexcept {
  Capabilities offered;
  offered.fair = offered.read_write = offered.fenced = offered.tokens = offered.permits = true;
  offered.administration = offered.expires = true;
  offered.in_order = true;
  return offered;
}

std::string NativeLayout::verdict(const std::deque<Rows>& results) {
  constexpr Shape expected{1, true};
  const bool fits = !results.empty() && expected.fits(results.front());
  if (fits && results.front().front().front() == version) return {};
  return "the procedures in the database are of another version of latchkey: " + std::string(cure);
}

std::string NativeLayout::meaning(const SqlError& error) const {
  if (error.number != no_such_procedure) return {};
  if (error.text.find("_permits") != std::string::npos) return missing_procedures("semaphores");
  if (error.text.find(give_token.name) != std::string::npos) {
    return missing_procedures("fencing tokens of WRITE and FAIR");
  }
  return "latchkey's tables and procedures are missing in the database: " + std::string(cure);
}

std::string NativeLayout::why_not(const Request& request) const {
  return sql::why_not_called(calls, request, "mysql://");
}

// A CALL returns rows, and has an end.
std::size_t NativeLayout::append(std::string& sql, const Request& request) const {
  append_call(sql, *sql::find_call(calls, request), request);
  if (!is_given_token(request)) return 2;
  sql += ';';
  append_call(sql, give_token, request);
  return 4;
}

// A free key has no row, and most keys are free. The row of a hold that has ended, or that somebody
// waits behind, takes the procedure.
NativeLayout::Joint NativeLayout::joint(const Request& request) const noexcept {
  if (request.type == LockType::READ || request.type == LockType::PERMIT) return Joint::none;
  if (request.verb == Verb::release) return Joint::release;
  const bool acquires = request.verb == Verb::acquire && !request.wants_token();
  return acquires ? Joint::acquire : Joint::none;
}

bool NativeLayout::append_shortcut(std::string& sql, const Request& request) const {
  const Joint kind = joint(request);
  if (kind == Joint::acquire) {
    append_insert(sql);
    append_row(sql, request);
    sql += unless_it_exists;
  } else if (kind == Joint::release) {
    sql += "DELETE FROM latchkey_locks WHERE name=";
    append_bytes(sql, request.key);
    sql += request.type == LockType::WRITE ? " AND mode=2" : " AND mode=1";
    sql += " AND owner=";
    append_owner(sql, request);
    append_alone(sql);
  }
  return kind != Joint::none;
}

// A row that existed before is returned, too.
void NativeLayout::append_joint(std::string& sql, std::span<Request* const> requests) const {
  if (joint(*requests.front()) == Joint::acquire) {
    append_insert(sql);
    for (const Request* const each : requests) {
      if (each != requests.front()) sql += ',';
      append_row(sql, *each);
    }
    sql += unless_it_exists;
    sql += " RETURNING name,owner,ends-CAST(FLOOR(";
    sql += now;
    sql += ")AS SIGNED)";
    return;
  }
  sql += "DELETE FROM latchkey_locks WHERE (name,mode,owner)IN(";
  for (const Request* const each : requests) {
    if (each != requests.front()) sql += ',';
    append_hold(sql, *each);
    sql += ')';
  }
  sql += ')';
  append_alone(sql);
  sql += " RETURNING name";
}

NativeLayout::Shape NativeLayout::shape(const Request& request) const {
  if (request.verb == Verb::inspect) return {4, false};
  if (request.verb == Verb::list) return {2, false};
  if (is_given_token(request)) return {6, true};
  return {request.verb == Verb::acquire ? std::size_t{5} : std::size_t{1}, true};
}

NativeLayout::Shape NativeLayout::shape(Joint kind) const noexcept {
  return {kind == Joint::acquire ? std::size_t{3} : std::size_t{1}, false};
}

bool NativeLayout::grants(const Request& request, const std::vector<std::string>& row) const {
  if (row.at(0) != request.key) return false;
  return joint(request) == Joint::release ||
         (row.at(1) == request.id.text() &&
          sql::number_in(row.at(2)) >= microseconds_of(request.lease));
}

std::string NativeLayout::sweep(std::string_view after) const {
  std::string sql = "CALL latchkey_sweep(";
  append_bytes(sql, after);
  return sql += ",100)";  // the most rows to examine
}

}  // namespace latchkey::inline v1::detail::mysql
