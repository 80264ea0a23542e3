// The handshake on a new connection, before requests are sent.
// SPDX-License-Identifier: BSL-1.0
#include "stores/mysql/handshake.hpp"

#include <array>
#include <charconv>
#include <utility>

#include <latchkey/backend.hpp>

#include "stores/mysql/ddl.hpp"
#include "stores/mysql/server_errors.hpp"
#include "stores/sql/reply.hpp"

namespace latchkey::inline v1::detail::mysql {
namespace {

/// The last statement starts the session's clock again if `init_connect` has stopped it. A server
/// may refuse it (secure_timestamp), and then refuses to stop the clock, too.
constexpr std::string_view identity =
    ";SELECT CONNECTION_ID(),@@version,@@global.read_only;"
    "SHOW GLOBAL STATUS LIKE 'wsrep_gcomm_uuid';SET SESSION timestamp=DEFAULT";

std::string new_mark() { return "latchkey:" + HoldId{HoldId::new_space(), 0}.text(); }

/// Whether there are so many results, of which the first one has rows of so many columns.
bool have(const std::deque<Rows>& results, std::size_t count, std::size_t columns) noexcept {
  return results.size() == count && !results.front().empty() &&
         results.front().front().size() == columns;
}

bool is_mariadb(std::string_view version) noexcept {
  return version.find("MariaDB") != std::string_view::npos;
}

}  // namespace

std::string why_not(std::string_view version) {
  int parts[3] = {};
  const char* at = version.data();
  const char* const end = at + version.size();
  for (int& part : parts) {
    at = std::from_chars(at, end, part).ptr;
    if (at != end && *at == '.') ++at;
  }
  const bool maria = is_mariadb(version);
  const std::array<int, 3> is{parts[0], parts[1], parts[2]};
  const std::array<int, 3> least = maria ? std::array{10, 6, 0} : std::array{8, 0, 29};
  if (is >= least) return {};
  return "the server is " + std::string(version) +
         ", and latchkey needs MariaDB 10.6 or MySQL 8.0.29, or later";
}

Handshake::Handshake(Layout& layout, bool create, std::chrono::milliseconds timeout)
    : layout_(layout), may_create_(create), settings_(timeout), mark_(new_mark()) {}

void Handshake::renew_mark() { mark_ = new_mark(); }

void Handshake::begin(const std::optional<ServerSession>& before) {
  before_ = before;
  step_ = Step::settings;
  created_ = in_cluster_ = false;
  statement_ = 0;
  old_ = 0;
}

std::string Handshake::text() const {
  const std::string old = std::to_string(old_);
  switch (step_) {
    case Step::settings: return settings_.text() + std::string(identity);
    case Step::claim: return "SELECT GET_LOCK('" + mark_ + "',0),IS_USED_LOCK('" + mark_ + "')";
    case Step::kill: return "KILL " + old;
    case Step::await: return "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE ID=" + old;
    case Step::schema: return layout_.check();
    case Step::create: return std::string(creation[statement_]);
  }
  return {};
}

Handshake::Next Handshake::go_to(Step step) {
  step_ = step;
  return Next::send;
}

Handshake::Next Handshake::fail(std::string why, bool permanent) {
  failure_ = ConnectionFailure{.permanent = permanent, .text = std::move(why)};
  return Next::failed;
}

Handshake::Next Handshake::fail_malformed() { return fail(std::string(sql::malformed), false); }

Handshake::Next Handshake::read(const std::deque<Rows>& results, const SqlError& error) {
  switch (step_) {
    case Step::claim: return read_claim(results, error);
    case Step::kill: return read_kill(error);
    case Step::schema: return read_schema(results, error);
    case Step::create: return read_create(error);
    case Step::settings:
    case Step::await: break;
  }
  const bool clock_is_fixed = step_ == Step::settings && results.size() == 3 &&
                              (error.number == read_only || error.number == privilege_missing);
  if (error.number != 0 && !clock_is_fixed) return fail(error_text(error), false);
  if (step_ == Step::settings) return read_settings(results);
  if (!have(results, 1, 1)) return fail_malformed();
  return results.at(0).at(0).at(0) == "0" ? go_to(Step::schema) : Next::wait;
}

Handshake::Next Handshake::read_settings(const std::deque<Rows>& results) {
  const bool fits = have(results, 3, 2) && results.at(1).size() == 1 &&
                    results.at(1).front().size() == 3 &&
                    (results.at(2).empty() || results.at(2).front().size() == 2);
  if (!fits) return fail_malformed();
  const auto& row = results.at(1).front();
  if (std::string why = why_not(row.at(1)); !why.empty()) return fail(std::move(why), true);
  if (row.at(2) != "0" && row.at(2) != "OFF")
    return fail("the server is read-only, as a replica is", false);
  std::string why = settings_.verdict(results.front());
  if (!why.empty()) return fail(std::move(why), false);
  session_ = {.connection = sql::number_in(row.at(0)),
              .node = results.at(2).empty() ? std::string() : results.at(2).front().at(1),
              .is_mariadb = is_mariadb(row.at(1))};
  return go_to(Step::claim);
}

Handshake::Next Handshake::read_claim(const std::deque<Rows>& results, const SqlError& error) {
  if (error.number == not_in_cluster || error.number == not_supported_yet) {
    if (session_.node.empty()) return fail("GET_LOCK is refused; " + error_text(error), true);
    in_cluster_ = true;
    if (!before_ || before_->node != session_.node) return go_to(Step::schema);
    old_ = before_->connection;
    return go_to(Step::kill);
  }
  if (error.number != 0) return fail(error_text(error), false);
  if (!have(results, 1, 2)) return fail_malformed();
  const auto& row = results.front().front();
  if (row.at(0) == "1") return go_to(Step::schema);
  const std::int64_t owner = sql::number_in(row.at(1));
  if (owner == 0 || owner == old_) return Next::wait;  // it ends
  old_ = owner;
  return go_to(Step::kill);
}

Handshake::Next Handshake::read_kill(const SqlError& error) {
  if (error.number == not_owner) {  // it runs another user's procedure
    step_ = in_cluster_ ? Step::kill : Step::claim;
    old_ = in_cluster_ ? old_ : 0;
    return Next::wait;
  }
  if (error.number != 0 && error.number != no_such_thread) return fail(error_text(error), false);
  return go_to(in_cluster_ ? Step::await : Step::claim);
}

Handshake::Next Handshake::read_schema(const std::deque<Rows>& results, const SqlError& error) {
  if (error.number == 0) {
    std::string why = layout_.verdict(results);
    return why.empty() ? Next::done : fail(std::move(why), true);
  }
  std::string meaning = layout_.meaning(error);
  if (meaning.empty()) return fail(error_text(error), is_denied(error.number));
  if (!may_create_ || created_) return fail(std::move(meaning), true);
  return go_to(Step::create);
}

// Another process may create them at the same time.
Handshake::Next Handshake::read_create(const SqlError& error) {
  if (error.number != 0 && error.number != exists_already) {
    return fail("latchkey's tables and procedures cannot be created: " + error_text(error), true);
  }
  if (++statement_ < creation.size()) return Next::send;
  created_ = true;
  return go_to(Step::schema);
}

}  // namespace latchkey::inline v1::detail::mysql
