// The results of latchkey's procedures as outcomes.
// SPDX-License-Identifier: BSL-1.0
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "backend/refusals.hpp"
#include "core/text/glob.hpp"
#include "core/text/number.hpp"
#include "stores/mysql/native_layout.hpp"
#include "stores/sql/administration.hpp"
#include "stores/sql/call_table.hpp"
#include "stores/sql/reply.hpp"

namespace latchkey::inline v1::detail::mysql {
namespace {

using Kind = Outcome::Kind;
using std::chrono::milliseconds;

/// The longest pause of a waiter in the FAIR queue, whose place lasts 5 s.
constexpr milliseconds longest_fair_pause{500};

Outcome acquired(const Request& request, const Rows& rows, milliseconds poll) {
  const auto& row = rows.at(0);
  const bool is_given = sql::is_given_token(request.type, request.fenced);
  Outcome outcome;
  if (row.at(0) == "0") {
    if (!read_number(row.at(is_given ? 5 : 1), outcome.token)) return sql::malformed_outcome();
    if (is_given && outcome.token == 0) return sql::malformed_outcome();
    if (!request.wants_token()) outcome.token = 0;
    outcome.kind = Kind::granted;
    return outcome;
  }
  if (row.at(3) == sql::semaphore_owner) return refusal(key_is_a_semaphore);
  outcome.kind = Kind::busy;
  if (request.type == LockType::FAIR) {  // the first in the queue polls the fastest
    const milliseconds slower =
        poll * (1 + std::clamp<std::int64_t>(sql::number_in(row.at(4)), 0, 1000));
    poll = std::max(poll, std::min(slower, longest_fair_pause));
  }
  outcome.retry_after = pause_of(sql::number_in(row.at(2)), poll);
  outcome.holder = row.at(3);
  return outcome;
}

Outcome acquired_permits(const Request& request, const std::vector<std::string>& row,
                         milliseconds poll) {
  const std::optional<std::int64_t> permits = sql::exact_number_in(row.at(1));
  if (!permits || *permits < 0) return sql::malformed_outcome();
  const std::string& result = row.at(0);
  if (result == "0") return sql::permits_granted(*permits);
  if (result == "3") return refusal(too_few_permits(request, *permits));
  if (result != "1") return sql::malformed_outcome();
  Outcome outcome;
  outcome.kind = Kind::busy;
  outcome.retry_after = pause_of(sql::number_in(row.at(2)), poll);
  return outcome;
}

Outcome permits_outcome(const Request& request, const std::vector<std::string>& row,
                        milliseconds poll) {
  const std::string& result = row.at(0);
  if (result == "4") return refusal(key_is_a_lock);
  if (request.verb == Verb::acquire) return acquired_permits(request, row, poll);
  if (result != "0" && result != "2") return sql::malformed_outcome();
  Outcome outcome;
  outcome.kind = result == "0" ? Kind::granted : Kind::gone;
  return outcome;
}

/// Reads the rows of latchkey_inspect: what the row is about, whose it is, the microseconds that
/// are left, a number. The row of a semaphore comes last.
Outcome inspected(const Request& request, const Rows& rows) {
  constexpr std::int64_t exclusive = 1, write = 2, place = 4, fence = 5, permits = 6, semaphore = 7;
  sql::Inspection inspection(request);
  for (const auto& row : rows) {
    const std::int64_t what = sql::number_in(row.at(0)), number = sql::number_in(row.at(3));
    const auto left =
        std::chrono::floor<milliseconds>(std::chrono::microseconds(sql::number_in(row.at(2))));
    if (what == fence) {
      inspection.set_fence(token_in(row.at(3)));
    } else if (what == place) {
      inspection.add_place(row.at(1));
    } else if (what == permits) {
      inspection.add_permits(number, row.at(1), left);
    } else if (what == semaphore) {
      inspection.set_total(number);
    } else {
      inspection.add_hold(what == exclusive ? LockType::REENTRANT
                          : what == write   ? LockType::WRITE
                                            : LockType::READ,
                          row.at(1), left);
    }
  }
  return inspection.finish();
}

// There is one page: a release between two of them would move the rows of other keys to the page
// before, which has been read.
void read_list(const Request& request, const Rows& rows) {
  for (const auto& row : rows) {
    const std::string& name = row.at(0);
    if (row.at(1) == "1" && glob_matches(request.key, name)) request.names->push_back(name);
  }
  sql::finish_listing(request, rows.size());
}

}  // namespace

Outcome NativeLayout::outcome(const Request& request, const Rows& rows, milliseconds poll) const {
  Outcome outcome;
  outcome.kind = Kind::granted;
  if (request.verb == Verb::inspect) return inspected(request, rows);
  if (request.verb == Verb::list) {
    read_list(request, rows);
    return outcome;
  }
  if (request.type == LockType::PERMIT) return permits_outcome(request, rows.at(0), poll);
  if (request.verb == Verb::acquire) return acquired(request, rows, poll);
  const std::string& result = rows.at(0).at(0);
  if (request.verb == Verb::force_release && result == "4") return refusal(key_is_a_semaphore);
  if (result != "0") outcome.kind = Kind::gone;
  return outcome;
}

}  // namespace latchkey::inline v1::detail::mysql
