// The calls of latchkey's functions.
// SPDX-License-Identifier: BSL-1.0
#include "stores/postgresql/native_layout.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "stores/postgresql/glob_expression.hpp"
#include "stores/postgresql/subscriptions.hpp"
#include "stores/sql/call_table.hpp"
#include "stores/sql/reply.hpp"

namespace latchkey::inline v1::detail::postgresql {
namespace {

/// The functions that serve requests. The arguments of acquire_all are arrays. A hold of permits
/// has no place in a queue, and is never downgraded.
constexpr auto calls = [] {
  using enum sql::Argument;
  using enum LockType;
  constexpr std::optional<LockType> any;
  return std::to_array<sql::CallRow>({
      {Verb::acquire, PERMIT, "acquire_permits", {key, owner, lease, taken, total, note}},
      {Verb::acquire, READ, "acquire_read", {key, owner, lease, note}},
      {Verb::acquire, WRITE, "acquire_write", {key, owner, lease, wait, note}},
      {Verb::acquire, FAIR, "acquire_fair", {key, owner, lease, wait, note}},
      {Verb::acquire, any, "acquire", {key, owner, type, lease, tokens, note}},
      {Verb::acquire_all, any, "acquire_all"},
      {Verb::renew, any, "renew", {key, owner, type, lease, note}},
      {Verb::verify, any, "verify", {key, owner, type}},
      {Verb::downgrade, PERMIT, "renew", {key, owner, type, lease, note}},
      {Verb::downgrade, any, "downgrade", {key, owner, lease, note}},
      {Verb::expire, any, "expire", {key, owner, type, lease}},
      {Verb::release, any, "release", {key, owner, type}},
      {Verb::leave, PERMIT, "release", {key, owner, type}},
      {Verb::leave, any, "leave", {key, owner, type}},
      {Verb::subscribe, any, "subscribe", {key, channel, waiter}},
      {Verb::unsubscribe, any, "unsubscribe", {key, channel, waiter}},
      {Verb::inspect, any, "inspect", {key}},
      {Verb::list, any, "list", {names}},
      {Verb::resize, PERMIT, "resize_permits", {key, total}},
      {Verb::force_release, PERMIT, "destroy_permits", {key}},
      {Verb::force_release, any, "force_release", {key}},
  });
}();

/// The `mode` of a hold.
const char* mode_of(LockType type) noexcept {
  if (type == LockType::READ) return "r";
  if (type == LockType::PERMIT) return "p";
  return type == LockType::WRITE ? "w" : "x";
}

std::optional<std::string> value_of(sql::Argument argument, const Request& request,
                                    std::string_view channel) {
  using sql::Argument;
  switch (argument) {
    case Argument::key: return std::string(request.key);
    case Argument::names: return glob_expression(request.key);
    case Argument::owner: return request.id.text();
    case Argument::type: return mode_of(request.type);
    case Argument::lease: return milliseconds_text(request.lease);
    case Argument::wait: return milliseconds_text(request.queue_wait);
    case Argument::tokens: return std::to_string(request.wants_token() ? request.tokens : 0);
    case Argument::note: return note_of(request);
    case Argument::channel: return std::string(channel);
    case Argument::waiter:
      return request.type == LockType::FAIR ? request.id.text() : std::string();
    case Argument::taken: return std::to_string(request.permits.taken);
    case Argument::total: return std::to_string(request.permits.total);
    case Argument::none:
    case Argument::yes:
    case Argument::no: break;
  }
  return std::nullopt;
}

Call call_of_several(const Request& request) {
  const bool fenced = gives_tokens(request);
  std::vector<std::string> ids;
  std::vector<std::string_view> modes, names, owners, fenced_names, fenced_owners;
  for (const Member& member : request.members) {
    const bool itself = member.type == LockType::FENCED && !fenced;
    modes.emplace_back(itself ? "f" : mode_of(member.type));
    names.push_back(member.key);
    ids.push_back(member.id.text());
  }
  for (const std::string& id : ids) owners.push_back(id);
  Call call{"acquire_all",
            {array_literal(modes), array_literal(names), array_literal(owners),
             milliseconds_text(request.lease), std::to_string(request.tokens)}};
  if (!fenced) return call;
  for (std::size_t index = 0; index < ids.size(); ++index) {
    if (!request.members[index].wants_token()) continue;
    fenced_names.push_back(names[index]);
    fenced_owners.push_back(owners[index]);
  }
  call.statement = "acquire_all_fenced";
  call.parameters.emplace_back(array_literal(fenced_names));
  call.parameters.emplace_back(array_literal(fenced_owners));
  return call;
}

/// Gives what `acquire` grants a token, in the same transaction.
std::string with_token(const std::string& holds, const std::string& acquire) {
  return "SELECT CASE WHEN starts_with(reply, 'g') THEN latchkey.give_tokens(" + holds +
         ") ELSE reply END FROM latchkey." + acquire + " AS reply";
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
  const std::int64_t found = sql::number_in(cell(result, 0, 0));
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
  std::string reason = sql::why_not_called(calls, request, "postgresql://");
  bool good = is_utf8(request.key);
  for (const Member& member : request.members) good = good && is_utf8(member.key);
  if (!reason.empty() || good) return reason;
  return std::string(key_is_not_utf8);
}

Call NativeLayout::call(const Request& request, std::string_view channel, bool is_own) const {
  if (request.verb == Verb::acquire_all) return call_of_several(request);
  const sql::CallRow* const row = sql::find_call(calls, request);
  if (row == nullptr) return {};  // refused by why_not
  Call call{row->name, {}};
  call.parameters.reserve(row->arguments.size());
  for (const sql::Argument each : row->arguments) {
    if (each == sql::Argument::none) break;
    call.parameters.push_back(value_of(each, request, channel));
  }
  if (request.verb == Verb::acquire && gives_tokens(request)) {
    const bool is_fair = request.type == LockType::FAIR;
    call.statement = is_fair ? "acquire_fair_fenced" : "acquire_write_fenced";
    call.parameters.emplace_back(std::to_string(request.tokens));
  } else if (request.verb == Verb::release && !is_own) {
    call.statement = "release_holder";
  } else if (request.verb == Verb::list && request.part != nullptr && request.part->awaited) {
    call.statement = "list_awaited";
  }
  return call;
}

bool gives_tokens(const Request& request) noexcept {
  if (request.verb == Verb::acquire) return sql::is_given_token(request.type, request.fenced);
  return std::ranges::any_of(request.members, [](const Member& member) {
    return sql::is_given_token(member.type, member.fenced);
  });
}

}  // namespace latchkey::inline v1::detail::postgresql
