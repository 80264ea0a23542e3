// Locks in latchkey's own tables.
// tidy: long-file because each verb appears in its statement, its shape and its outcome.
// SPDX-License-Identifier: BSL-1.0
#include "stores/mysql/native_layout.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "backend/refusals.hpp"
#include "backend/verbs.hpp"
#include "core/text/glob.hpp"
#include "core/text/number.hpp"
#include "stores/mysql/native_permits.hpp"
#include "stores/mysql/server_errors.hpp"

namespace latchkey::inline v1::detail::mysql {
namespace {

using Kind = Outcome::Kind;
using std::chrono::milliseconds;

constexpr std::string_view version = "1";
/// When the statement began, in µs since 1970: a floating-point number that is exact to 1 µs. An
/// expression with UTC_TIMESTAMP(6) costs the server more.
constexpr std::string_view now = "@@timestamp*1000000";
constexpr std::string_view cure =
    "run `latchkey ddl mysql | mysql <database>`, or add create=yes to the URI";
/// How many rows one sweep examines.
constexpr int swept_rows = 100;
/// The longest pause of a waiter in the FAIR queue, whose place lasts 5 s.
constexpr milliseconds longest_fair_pause{500};

/// Gives a WRITE or a FAIR a fencing token.
constexpr std::string_view give_token = "latchkey_give_token";

/// Whether `give_token` follows the acquire, which gives FENCED its tokens itself.
bool is_given_token(const Request& request) noexcept {
  return request.verb == Verb::acquire && request.fenced &&
         (request.type == LockType::WRITE || request.type == LockType::FAIR);
}

std::string_view procedure_of(Verb verb) noexcept {
  switch (verb) {
    case Verb::acquire: return "latchkey_acquire";
    case Verb::renew: return "latchkey_renew";
    case Verb::verify: return "latchkey_verify";
    case Verb::downgrade: return "latchkey_downgrade";
    case Verb::expire: return "latchkey_expire";
    case Verb::release:
    case Verb::leave: return "latchkey_release";
    case Verb::inspect: return "latchkey_inspect";
    case Verb::list: return "latchkey_list";
    case Verb::force_release: return "latchkey_force_release";
    default: return {};
  }
}

int number_of(LockType type) noexcept {
  switch (type) {
    case LockType::REENTRANT: return 0;
    case LockType::FAIR: return 1;
    case LockType::READ: return 2;
    case LockType::WRITE: return 3;
    case LockType::FENCED: return 4;
    case LockType::PERMIT: break;  // append_permits writes its calls
  }
  return 0;
}

void append_number(std::string& sql, std::uint64_t number) {
  sql += ',';
  sql += std::to_string(number);
}

void append_time(std::string& sql, milliseconds time) {
  append_number(sql, static_cast<std::uint64_t>(microseconds_of(time)));
}

void append_owner(std::string& sql, const Request& request) {
  sql += ",'";
  sql += request.id.text();
  sql += '\'';
}

constexpr std::string_view unless_it_exists = "ON DUPLICATE KEY UPDATE name=latchkey_locks.name";

void append_insert(std::string& sql) {
  sql += "INSERT INTO latchkey_locks(name,mode,owner,ends)VALUES";
}

/// `(name,mode,owner,ends)` of a new hold.
void append_row(std::string& sql, const Request& request) {
  sql += '(';
  append_bytes(sql, request.key);
  append_number(sql, request.type == LockType::WRITE ? 2 : 1);
  append_owner(sql, request);
  sql += ',';
  sql += now;
  sql += '+' + std::to_string(microseconds_of(request.lease)) + ')';
}

/// The condition for a hold that lasts, and that nobody waits behind.
void append_alone(std::string& sql) {
  sql += " AND waiting=0 AND kept=0 AND ends>";
  sql += now;
}

/// Returns the text that all names that match a glob begin with.
std::string_view prefix_of(std::string_view glob) noexcept {
  return glob.substr(0, glob.find_first_of("*?[\\"));
}

void append_list(std::string& sql, const Request& request) {
  append_bytes(sql, prefix_of(request.key));
  append_number(sql, 0);
  append_number(sql, static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()));
}

std::string missing_procedures(const std::string& whose) {
  return "the database lacks latchkey's procedures for " + whose +
         ": run `latchkey ddl mysql | mysql <database>` again";
}

Outcome acquired(const Request& request, const Rows& rows, milliseconds poll) {
  const auto& row = rows.at(0);
  const bool is_given = is_given_token(request);
  Outcome outcome;
  if (row.at(0) == "0") {
    if (!read_number(row.at(is_given ? 5 : 1), outcome.token)) return malformed_outcome();
    if (is_given && outcome.token == 0) return malformed_outcome();
    if (!request.wants_token()) outcome.token = 0;
    outcome.kind = Kind::granted;
    return outcome;
  }
  if (row.at(3) == semaphore_owner) return refusal(key_is_a_semaphore);
  outcome.kind = Kind::busy;
  if (request.type == LockType::FAIR) {  // the first in the queue polls the fastest
    const milliseconds slower =
        poll * (1 + std::clamp<std::int64_t>(number_in(row.at(4)), 0, 1000));
    poll = std::max(poll, std::min(slower, longest_fair_pause));
  }
  outcome.retry_after = pause_of(number_in(row.at(2)), poll);
  outcome.holder = row.at(3);
  return outcome;
}

/// Values of the column `what` of latchkey_inspect, beside the modes 1, 2 and 3 and those that
/// native_permits.cpp reads.
constexpr std::int64_t place_row = 4, fence_row = 5;

std::optional<milliseconds> time_left(std::string_view cell) {
  return std::chrono::floor<milliseconds>(std::chrono::microseconds(number_in(cell)));
}

void read_info(LockInfo& info, std::string_view key, const Rows& rows) {
  info = LockInfo{};
  info.key = key;
  for (const auto& row : rows) {
    const std::int64_t what = number_in(row.at(0));
    if (what == fence_row) {
      info.fencing_token = token_in(row.at(3));
    } else if (what == place_row) {
      info.queue.push_back(row.at(1));
    } else if (is_of_semaphore(what)) {
      read_permits(info, what, row);
    } else {
      info.locked = true;
      info.type = what == 1 ? LockType::REENTRANT : what == 2 ? LockType::WRITE : LockType::READ;
      HolderInfo holder;
      holder.id = row.at(1);
      holder.left = time_left(row.at(2));
      info.holders.push_back(std::move(holder));
    }
  }
}

// There is one page: a release between two of them would move the rows of other keys to the page
// before, which has been read.
void read_list(const Request& request, const Rows& rows) {
  for (const auto& row : rows) {
    const std::string& name = row.at(0);
    if (row.at(1) == "1" && glob_matches(request.key, name)) request.names->push_back(name);
  }
  ListPart* const part = request.part;
  if (part == nullptr) return;
  part->cursor = {};
  part->examined = part->total = rows.size();
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
  if (lacks_permits(error)) return missing_procedures("semaphores");
  if (error.text.find(give_token) != std::string::npos) {
    return missing_procedures("fencing tokens of WRITE and FAIR");
  }
  return "latchkey's tables and procedures are missing in the database: " + std::string(cure);
}

std::string NativeLayout::why_not(const Request& request) const {
  const bool resizes = request.verb == Verb::resize && request.type == LockType::PERMIT;
  if (resizes || !procedure_of(request.verb).empty()) return {};
  return std::string(to_string(request.verb)) + " is not offered by mysql://";
}

std::size_t NativeLayout::append(std::string& sql, const Request& request) const {
  const Verb verb = request.verb;
  if (append_permits(sql, request)) return 2;
  sql += "CALL ";
  sql += procedure_of(verb);
  sql += '(';
  if (verb == Verb::list) {
    append_list(sql, request);
  } else {
    append_bytes(sql, request.key);
    const bool of_owner = verb != Verb::inspect && verb != Verb::force_release;
    if (of_owner && verb != Verb::downgrade) {
      append_number(sql, static_cast<std::uint64_t>(number_of(request.type)));
    }
    if (of_owner) append_owner(sql, request);
    if (verb == Verb::acquire) {
      append_time(sql, request.lease);
      append_time(sql, request.queue_wait);
      append_number(sql, request.tokens);
    } else if (verb == Verb::renew || verb == Verb::expire || verb == Verb::downgrade) {
      append_time(sql, request.lease);
    } else if (is_release(verb)) {
      sql += verb == Verb::leave ? ",TRUE" : ",FALSE";
    }
  }
  sql += ')';
  if (!is_given_token(request)) return 2;  // rows, and the end of the CALL
  sql += ";CALL ";
  sql += give_token;
  sql += '(';
  append_bytes(sql, request.key);
  append_number(sql, static_cast<std::uint64_t>(number_of(request.type)));
  append_owner(sql, request);
  append_number(sql, request.tokens);
  sql += ')';
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
    sql += " AND owner='" + request.id.text() + '\'';
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
    sql += '(';
    append_bytes(sql, each->key);
    append_number(sql, each->type == LockType::WRITE ? 2 : 1);
    append_owner(sql, *each);
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
         (row.at(1) == request.id.text() && number_in(row.at(2)) >= microseconds_of(request.lease));
}

Outcome NativeLayout::outcome(const Request& request, const Rows& rows, milliseconds poll) const {
  const bool is_described = request.verb == Verb::inspect || request.verb == Verb::list;
  if (request.type == LockType::PERMIT && !is_described) {
    return permits_outcome(request, rows.at(0), poll);
  }
  if (request.verb == Verb::acquire) return acquired(request, rows, poll);
  Outcome outcome;
  outcome.kind = Kind::granted;
  if (request.verb == Verb::inspect) {
    read_info(*request.info, request.key, rows);
    return inspected(request);
  }
  if (rows.size() == 1 && request.verb == Verb::force_release && rows.at(0).at(0) == "4") {
    return refusal(key_is_a_semaphore);
  }
  if (request.verb == Verb::list) {
    read_list(request, rows);
  } else if (rows.at(0).at(0) != "0") {
    outcome.kind = Kind::gone;
  }
  return outcome;
}

std::string NativeLayout::sweep(std::string_view after) const {
  std::string sql = "CALL latchkey_sweep(";
  append_bytes(sql, after);
  append_number(sql, swept_rows);
  sql += ')';
  return sql;
}

}  // namespace latchkey::inline v1::detail::mysql
