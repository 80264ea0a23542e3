// The calls of latchkey's functions.
// SPDX-License-Identifier: BSL-1.0
#include "stores/postgresql/native_layout.hpp"

#include <array>
#include <utility>

#include "backend/refusals.hpp"
#include "stores/postgresql/native_administration.hpp"
#include "stores/postgresql/native_permits.hpp"
#include "stores/postgresql/subscriptions.hpp"

namespace latchkey::inline v1::detail::postgresql {
namespace {

bool is_offered(const Request& request) noexcept {
  switch (request.verb) {
    case Verb::resize: return calls_permits(request);
    case Verb::revoke:
    case Verb::latch_set:
    case Verb::latch_down:
    case Verb::latch_count:
    case Verb::latch_delete: return false;
    default: return true;
  }
}

/// Gives what `acquire` grants a token, in the same transaction.
std::string with_token(const std::string& holds, const std::string& acquire) {
  return "SELECT CASE WHEN starts_with(reply, 'g') THEN latchkey.give_tokens(" + holds +
         ") ELSE reply END FROM latchkey." + acquire + " AS reply";
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

Capabilities NativeLayout::capabilities() const noexcept {
  Capabilities offered;
  offered.fair = offered.read_write = offered.fenced = offered.tokens = offered.permits = true;
  offered.pushes = offered.administration = offered.expires = offered.in_order = true;
  offered.batches_checks = offered.watches = true;
  offered.one_step = Capabilities::OneStep::all;
  return offered;
}

std::span<const Statement> NativeLayout::statements() const noexcept {
  static const std::string lazily = ", " + std::string(as_not_durable);
  static const std::string one_hold = "ARRAY[$1], ARRAY[$2], $6";
  // As latchkey.notify_holders, which older tables lack.
  static const std::string notify =
      "CASE WHEN released >= 0 AND pg_notification_queue_usage() < 0.9 THEN pg_notify('" +
      std::string(Subscriptions::forced_releases) + "', $1) END";
  static const std::array<Statement, 25> all = {{
      {"acquire", "SELECT latchkey.acquire($1, $2, $3, $4, $5, $6)"},
      {"acquire_read", "SELECT latchkey.acquire_read($1, $2, $3, $4)"},
      {"acquire_write", "SELECT latchkey.acquire_write($1, $2, $3, $4, $5)"},
      {"acquire_fair", "SELECT latchkey.acquire_fair($1, $2, $3, $4, $5)"},
      {"acquire_all", "SELECT latchkey.acquire_all($1, $2, $3, $4, $5)"},
      {"renew", "SELECT latchkey.renew($1, $2, $3, $4, $5)"},
      {"verify", "SELECT latchkey.verify($1, $2, $3)"},
      {"downgrade", "SELECT latchkey.downgrade($1, $2, $3, $4)"},
      {"expire", "SELECT latchkey.expire($1, $2, $3, $4)"},
      {"release", "SELECT latchkey.release($1, $2, $3)" + lazily},
      {"release_holder",
       "SELECT released, " + notify + lazily + " FROM latchkey.release($1, $2, $3) AS released"},
      {"leave", "SELECT latchkey.leave($1, $2, $3)" + lazily},
      {"subscribe", "SELECT latchkey.subscribe($1, $2, $3)" + lazily},
      {"unsubscribe", "SELECT latchkey.unsubscribe($1, $2, $3)" + lazily},
      {"inspect", "SELECT * FROM latchkey.inspect($1)"},
      {"list", "SELECT * FROM latchkey.list($1)"},
      {"list_awaited", "SELECT * FROM latchkey.list_awaited($1)"},
      {"force_release", "SELECT latchkey.force_release($1)"},
      {"upkeep", "SELECT latchkey.upkeep($1)" + lazily},
      {"acquire_permits", "SELECT latchkey.acquire_permits($1, $2, $3, $4, $5, $6)",
       "SELECT 'o', $1::text, $2::text, $3::text, $4::text, $5::text, $6::text"},
      {"resize_permits", "SELECT latchkey.resize_permits($1, $2)",
       "SELECT 'o', $1::text, $2::text"},
      {"destroy_permits", "SELECT latchkey.destroy_permits($1)", "SELECT 'o', $1::text"},
      {"acquire_write_fenced", with_token(one_hold, "acquire_write($1, $2, $3, $4, $5)"),
       "SELECT 'o', $1::text, $2::text, $3::text, $4::text, $5::text, $6::text"},
      {"acquire_fair_fenced", with_token(one_hold, "acquire_fair($1, $2, $3, $4, $5)"),
       "SELECT 'o', $1::text, $2::text, $3::text, $4::text, $5::text, $6::text"},
      {"acquire_all_fenced", with_token("$6, $7, $5", "acquire_all($1, $2, $3, $4, 0)"),
       "SELECT 'o', $1::text, $2::text, $3::text, $4::text, $5::text, $6::text, $7::text"},
  }};
  return all;
}

std::string NativeLayout::check() const {
  return "SELECT latchkey.version(), "
         "has_table_privilege('latchkey.lock', 'SELECT') AND "
         "has_table_privilege('latchkey.lock', 'INSERT') AND "
         "has_table_privilege('latchkey.lock', 'UPDATE') AND "
         "has_table_privilege('latchkey.lock', 'DELETE') AND "
         "has_table_privilege('latchkey.place', 'INSERT') AND "
         "has_table_privilege('latchkey.waiter', 'INSERT') AND "
         "has_sequence_privilege('latchkey.fence', 'USAGE') AND "
         "has_sequence_privilege('latchkey.arrival', 'USAGE') AND "
         "coalesce(has_table_privilege(to_regclass('latchkey.token'), 'INSERT') AND "
         "has_table_privilege(to_regclass('latchkey.token'), 'UPDATE') AND "
         "has_table_privilege(to_regclass('latchkey.sweep'), 'UPDATE'), true), "
         "to_regproc('latchkey.destroy_permits') IS NOT NULL AND "
         "to_regproc('latchkey.give_tokens') IS NOT NULL, "
         "to_regclass('latchkey.sweep') IS NOT NULL AND "
         "to_regproc('latchkey.notify_holders') IS NOT NULL";
}

Layout::Verdict NativeLayout::verdict(const PGresult* result) const {
  const std::string cure = "run 'latchkey ddl postgresql | psql <database>'";
  if (::PQresultStatus(result) != PGRES_TUPLES_OK) {
    const std::string_view state = sql_state(result);
    const bool missing = state == "3F000" || state == "42883" || state == "42P01";
    if (missing) {
      return {ConnectionFailure{true, "the database lacks latchkey's tables; " + cure +
                                          ", or add create=yes to the URI"},
              true};
    }
    return {ConnectionFailure{state == "42501", error_text(result)}, false};
  }
  const std::int64_t found = number_in(cell(result, 0, 0));
  if (found != version) {
    return {ConnectionFailure{true, "latchkey's tables in the database have version " +
                                        std::to_string(found) + ", and this program needs " +
                                        std::to_string(version) + "; " +
                                        (found < version ? cure : "update the program")},
            found < version};
  }
  if (cell(result, 0, 1) != "t") {
    return {ConnectionFailure{true,
                              "the role may not use latchkey's tables; grant it what "
                              "docs/stores/postgresql.md lists"},
            false};
  }
  Verdict good;
  good.is_old = cell(result, 0, 2) != "t";
  good.tells_of_losses = cell(result, 0, 3) == "t";
  if (!good.tells_of_losses) {
    good.warning =
        "the functions in the database are those of an older latchkey, whose defects they "
        "have; " +
        cure + " again";
  }
  return good;
}

std::string NativeLayout::why_not(const Request& request) const {
  if (!is_offered(request)) {
    return std::string(to_string(request.verb)) + " is not offered by postgresql://";
  }
  bool good = is_utf8(request.key);
  for (const Member& member : request.members) good = good && is_utf8(member.key);
  return good ? std::string() : std::string(key_is_not_utf8);
}

Call NativeLayout::call(const Request& request, std::string_view channel, bool is_own) const {
  if (calls_permits(request)) return permits_call(request);
  std::string name(request.key), owner = request.id.text(), mode = mode_of(request.type);
  std::string lease = milliseconds_text(request.lease);
  const std::string waiter = request.type == LockType::FAIR ? owner : std::string();
  switch (request.verb) {
    case Verb::acquire:
    case Verb::acquire_all: return acquire_call(request);
    case Verb::renew: return {"renew", {name, owner, mode, lease, note_of(request)}};
    case Verb::verify: return {"verify", {name, owner, mode}};
    case Verb::downgrade: return {"downgrade", {name, owner, lease, note_of(request)}};
    case Verb::expire: return {"expire", {name, owner, mode, lease}};
    case Verb::release: return {is_own ? "release" : "release_holder", {name, owner, mode}};
    case Verb::leave: return {"leave", {name, owner, mode}};
    case Verb::subscribe: return {"subscribe", {name, std::string(channel), waiter}};
    case Verb::unsubscribe: return {"unsubscribe", {name, std::string(channel), waiter}};
    case Verb::inspect: return {"inspect", {name}};
    case Verb::list:
      return {request.part != nullptr && request.part->awaited ? "list_awaited" : "list",
              {glob_expression(request.key)}};
    case Verb::force_release: return {"force_release", {name}};
    case Verb::resize:
    case Verb::revoke:
    case Verb::latch_set:
    case Verb::latch_down:
    case Verb::latch_count:
    case Verb::latch_delete: break;  // refused by why_not
  }
  return {};
}

Outcome NativeLayout::outcome(const Request& request, const PGresult* result) const {
  using Kind = Outcome::Kind;
  const std::string_view reply = cell(result, 0, 0);
  Outcome outcome;
  if (!has_shape(request, result)) return malformed_outcome();
  if (calls_permits(request)) return permits_outcome(request, reply);
  switch (request.verb) {
    case Verb::acquire:
    case Verb::acquire_all: return acquire_outcome(request, reply);
    case Verb::release: {
      const std::optional<std::int64_t> notified = exact_number_in(reply);
      if (!notified) return malformed_outcome();
      outcome.kind = *notified >= 0 ? Kind::granted : Kind::gone;
      if (*notified > 0) outcome.notified = static_cast<std::uint64_t>(*notified);
      return outcome;
    }
    case Verb::subscribe:
    case Verb::unsubscribe: outcome.kind = Kind::granted; return outcome;
    case Verb::inspect:
      read_inspect(request, result);
      outcome.kind = Kind::granted;
      check_kind(request, outcome);
      return outcome;
    case Verb::list: read_list(request, result); break;
    default: return boolean_outcome(reply);
  }
  outcome.kind = Kind::granted;
  return outcome;
}

}  // namespace latchkey::inline v1::detail::postgresql
