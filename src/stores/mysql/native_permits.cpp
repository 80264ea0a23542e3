// The calls of latchkey's procedures for semaphores.
// SPDX-License-Identifier: BSL-1.0
#include "stores/mysql/native_permits.hpp"

#include <algorithm>
#include <limits>
#include <optional>

#include "backend/refusals.hpp"
#include "core/text/number.hpp"

namespace latchkey::inline v1::detail::mysql {
namespace {

using Kind = Outcome::Kind;

/// Values of the column `what` of latchkey_inspect.
constexpr std::int64_t hold_row = 6, semaphore_row = 7;
/// How many holders of a semaphore an inspection reports at most.
constexpr std::size_t most_holders = 1'000;

std::string_view permits_procedure(Verb verb) noexcept {
  switch (verb) {
    case Verb::acquire: return "latchkey_acquire_permits";
    case Verb::renew:
    case Verb::downgrade:
    case Verb::expire: return "latchkey_renew_permits";
    case Verb::verify: return "latchkey_verify_permits";
    case Verb::release:
    case Verb::leave: return "latchkey_release_permits";
    case Verb::resize: return "latchkey_resize_permits";
    case Verb::force_release: return "latchkey_destroy_permits";
    default: return {};
  }
}

/// The whole of a cell as a number of permits; empty: it is none.
std::optional<std::int64_t> permits_in(std::string_view cell) noexcept {
  std::int64_t number = 0;
  return read_number(cell, number) && number >= 0 ? std::optional(number) : std::nullopt;
}

}  // namespace

bool append_permits(std::string& sql, const Request& request) {
  const std::string_view procedure = permits_procedure(request.verb);
  if (request.type != LockType::PERMIT || procedure.empty()) return false;
  const auto number = [&](std::int64_t each) { sql += ',' + std::to_string(each); };
  sql += "CALL ";
  sql += procedure;
  sql += '(';
  append_bytes(sql, request.key);
  if (request.verb == Verb::resize) {
    number(request.permits.total);
  } else if (request.verb != Verb::force_release) {
    sql += ",'" + request.id.text() + '\'';
  }
  if (request.verb == Verb::acquire) {
    number(microseconds_of(request.lease));
    number(request.permits.taken);
    number(request.permits.total);
  } else if (procedure == permits_procedure(Verb::renew)) {
    number(microseconds_of(request.lease));
    sql += request.verb == Verb::expire ? ",TRUE" : ",FALSE";
  }
  sql += ')';
  return true;
}

Outcome permits_outcome(const Request& request, const std::vector<std::string>& row,
                        std::chrono::milliseconds poll) {
  const std::string& result = row.at(0);
  if (result == "4") return refusal(key_is_a_lock);
  Outcome outcome;
  if (request.verb != Verb::acquire) {
    if (result != "0" && result != "2") return malformed_outcome();
    outcome.kind = result == "0" ? Kind::granted : Kind::gone;
    return outcome;
  }
  const std::optional<std::int64_t> permits = permits_in(row.at(1));
  if (!permits) return malformed_outcome();
  if (result == "3") return refusal(too_few_permits(request, *permits));
  if (result == "1") {
    outcome.kind = Kind::busy;
    outcome.retry_after = pause_of(number_in(row.at(2)), poll);
  } else if (result == "0") {
    constexpr std::int64_t most = std::numeric_limits<std::uint32_t>::max();
    outcome.kind = Kind::granted;
    outcome.permits_left = static_cast<std::uint32_t>(std::min(*permits, most));
  } else {
    return malformed_outcome();
  }
  return outcome;
}

bool is_of_semaphore(std::int64_t what) noexcept {
  return what == hold_row || what == semaphore_row;
}

// The row of the semaphore comes last.
void read_permits(LockInfo& info, std::int64_t what, const std::vector<std::string>& row) {
  constexpr std::int64_t most = std::numeric_limits<std::uint32_t>::max();
  const std::int64_t number = std::clamp<std::int64_t>(number_in(row.at(3)), 0, most);
  if (!info.permits) info.permits.emplace();
  info.type = LockType::PERMIT;
  if (what == semaphore_row) {
    info.permits->total = number;
    info.permits->available += number;
    return;
  }
  info.locked = true;
  info.permits->available -= number;
  if (info.holders.size() == most_holders) return;
  HolderInfo& holder = info.holders.emplace_back();
  holder.id = row.at(1);
  holder.left = std::chrono::floor<std::chrono::milliseconds>(
      std::chrono::microseconds(number_in(row.at(2))));
}

Outcome inspected(const Request& request) {
  LockInfo& info = *request.info;
  if (info.permits && info.permits->total == 0) info.permits.reset();
  Outcome outcome;
  outcome.kind = Kind::granted;
  if (request.type != LockType::PERMIT || info.permits) return outcome;
  if (info.locked) return refusal(key_is_a_lock);
  outcome.kind = Kind::gone;
  return outcome;
}

bool lacks_permits(const SqlError& error) noexcept {
  return error.text.find("_permits") != std::string::npos;
}

}  // namespace latchkey::inline v1::detail::mysql
