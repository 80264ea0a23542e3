// The results of latchkey's functions as outcomes.
// SPDX-License-Identifier: BSL-1.0
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>

#include "backend/refusals.hpp"
#include "stores/postgresql/native_layout.hpp"
#include "stores/sql/administration.hpp"
#include "stores/sql/reply.hpp"

namespace latchkey::inline v1::detail::postgresql {
namespace {

using Kind = Outcome::Kind;

/// Takes the first word of a reply.
std::string_view take_word(std::string_view& reply) noexcept {
  const std::size_t end = std::min(reply.find(' '), reply.size());
  const std::string_view word = reply.substr(0, end);
  reply.remove_prefix(std::min(end + 1, reply.size()));
  return word;
}

/// The outcome of `o`, the reply of the statements that stand for missing functions. `whose`: what
/// they are for.
Outcome lacks_functions(std::string_view whose) {
  return refusal("the database lacks latchkey's functions for " + std::string(whose) +
                 "; run 'latchkey ddl postgresql | psql <database>' again");
}

/// Reads `g <token>` and `b <ms> <holder>`; of acquire_all, `b <ms> <member> <holder>`.
Outcome acquired(const Request& request, std::string_view reply) {
  if (reply == "o" && gives_tokens(request)) {
    return lacks_functions("fencing tokens of WRITE and FAIR");
  }
  Outcome outcome;
  const std::string_view word = take_word(reply);
  const std::optional<std::int64_t> number = sql::exact_number_in(take_word(reply));
  if (!number || (word != "g" && word != "b")) return sql::malformed_outcome();
  if (word == "g") {
    if (*number < 0) return sql::malformed_outcome();
    outcome.kind = Kind::granted;
    outcome.token = static_cast<std::uint64_t>(*number);
    return outcome;
  }
  outcome.kind = Kind::busy;
  outcome.retry_after = time_of(*number);
  if (request.verb == Verb::acquire_all) {
    const auto members = static_cast<std::int64_t>(request.members.size());
    const std::optional<std::int64_t> member = sql::exact_number_in(take_word(reply));
    if (!member || *member < 0 || *member >= members) return sql::malformed_outcome();
    outcome.busy_member = static_cast<std::uint32_t>(*member);
  }
  outcome.holder = reply;
  if (outcome.holder == sql::semaphore_owner) return refusal(key_is_a_semaphore);
  return outcome;
}

/// Reads `g <permits left>`, `b <ms>`, `f <permits>` and `l`.
Outcome acquired_permits(const Request& request, std::string_view reply) {
  if (reply == "l") return refusal(key_is_a_lock);
  if (reply == "o") return lacks_functions("semaphores");
  const std::string_view word = take_word(reply);
  const std::optional<std::int64_t> number = sql::exact_number_in(take_word(reply));
  if (!number || *number < 0) return sql::malformed_outcome();
  if (word == "g") return sql::permits_granted(*number);
  if (word == "f") return refusal(too_few_permits(request, *number));
  if (word != "b") return sql::malformed_outcome();
  Outcome outcome;
  outcome.kind = Kind::busy;
  outcome.retry_after = time_of(*number);
  return outcome;
}

/// Reads how many were notified; negative: nothing was held.
Outcome released(const Request& request, std::string_view reply) {
  const std::optional<std::int64_t> notified = sql::exact_number_in(reply);
  if (!notified) return sql::malformed_outcome();
  Outcome outcome;
  outcome.kind = *notified >= 0 ? Kind::granted : Kind::gone;
  if (request.verb == Verb::release && *notified > 0) {
    outcome.notified = static_cast<std::uint64_t>(*notified);
  }
  return outcome;
}

/// The outcome of a resize, or of the end of a semaphore.
Outcome changed_semaphore(const Request& request, std::string_view reply) {
  if (reply == "o") return lacks_functions("semaphores");
  const bool resizes = request.verb == Verb::resize;
  if (resizes ? reply != "t" : reply.empty()) return refusal(key_is_a_lock);
  Outcome outcome;
  outcome.kind = reply == "f" ? Kind::gone : Kind::granted;
  return outcome;
}

LockType type_of(std::string_view mode) noexcept {
  if (mode == "r") return LockType::READ;
  return mode == "w" ? LockType::WRITE : LockType::REENTRANT;
}

Outcome inspected(const Request& request, const PGresult* result) {
  sql::Inspection inspection(request);
  for (int row = 0; row < ::PQntuples(result); ++row) {
    const std::string_view kind = cell(result, row, 0), id = cell(result, row, 1);
    const std::string_view mode = cell(result, row, 2), note = cell(result, row, 5);
    const std::int64_t number = sql::number_in(cell(result, row, 3));
    const std::int64_t token = sql::number_in(cell(result, row, 4));
    if (kind == "q") {
      inspection.add_place(id);
    } else if (kind == "s") {
      inspection.set_subscribers(static_cast<std::uint64_t>(number));
    } else if (mode == "s") {
      inspection.set_total(token);
    } else if (mode == "p") {
      inspection.add_permits(token, id, time_of(number), note);
    } else {
      inspection.add_hold(type_of(mode), id, time_of(number), note);
      if (token > 0) inspection.set_fence(static_cast<std::uint64_t>(token));
    }
  }
  return inspection.finish();
}

// The server's whole listing arrives at once, so there is one page.
void read_list(const Request& request, const PGresult* result) {
  if (request.names == nullptr) return;
  ListPart* const part = request.part;
  const bool awaited = part != nullptr && part->awaited;
  const int rows = ::PQntuples(result);
  std::uint32_t listed = 0;
  for (int row = 0; row < rows; ++row) {
    const std::string_view name = cell(result, row, 0);
    if (awaited && listed == part->budget) break;
    request.names->emplace_back(name);
    if (awaited) {
      part->waiters.push_back(static_cast<std::uint64_t>(sql::number_in(cell(result, row, 1))));
    }
    ++listed;
  }
  sql::finish_listing(request, static_cast<std::size_t>(rows));
}

/// Whether the result has the rows and columns of this request. Functions of an older latchkey
/// return fewer columns.
bool has_shape(const Request& request, const PGresult* result) {
  const int columns = ::PQnfields(result);
  const bool awaited = request.part != nullptr && request.part->awaited;
  if (request.verb == Verb::inspect) return columns >= 5;
  if (request.verb == Verb::list) return columns >= (awaited ? 2 : 1);
  return ::PQntuples(result) == 1 && columns >= 1;
}

}  // namespace

Outcome NativeLayout::outcome(const Request& request, const PGresult* result) const {
  if (!has_shape(request, result)) return sql::malformed_outcome();
  const std::string_view reply = cell(result, 0, 0);
  const bool is_permit = request.type == LockType::PERMIT;
  Outcome outcome;
  outcome.kind = Kind::granted;
  switch (request.verb) {
    case Verb::acquire:
    case Verb::acquire_all:
      return is_permit ? acquired_permits(request, reply) : acquired(request, reply);
    case Verb::release: return released(request, reply);
    case Verb::leave: return is_permit ? released(request, reply) : boolean_outcome(reply);
    case Verb::subscribe:
    case Verb::unsubscribe: return outcome;
    case Verb::inspect: return inspected(request, result);
    case Verb::list: read_list(request, result); return outcome;
    case Verb::resize:
    case Verb::force_release:
      return is_permit ? changed_semaphore(request, reply) : boolean_outcome(reply);
    default: return boolean_outcome(reply);
  }
}

}  // namespace latchkey::inline v1::detail::postgresql
