// What happens on a new connection before requests are sent.
// SPDX-License-Identifier: BSL-1.0
#include "stores/mysql/handshake.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include "stores/mysql/ddl.hpp"

#include "stores/mysql/server_errors.hpp"

namespace latchkey::inline v1::detail::mysql {
namespace {

using std::chrono::seconds;

/// A transaction waits at most this long for the row of a key: whole seconds, less than a reply may
/// take. An idle connection is kept for as long as the server permits.
std::string make_settings(std::chrono::milliseconds timeout) {
  const auto wait = std::max(std::chrono::floor<seconds>(timeout / 2), seconds(1));
  return "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED;"
         "SET SESSION autocommit=1,sql_mode='STRICT_ALL_TABLES',wait_timeout=31536000,"
         "innodb_lock_wait_timeout=" +
         std::to_string(wait.count()) +
         ";SELECT CONNECTION_ID(),@@hostname,@@port,@@version,@@global.read_only;"
         "SHOW GLOBAL STATUS LIKE 'Uptime'";
}

/// The statements of the DDL for a database without tables, in which there is nothing to replace.
const std::vector<std::string_view>& creation() {
  static const std::vector<std::string_view> statements = [] {
    std::vector<std::string_view> all = statements_of(ddl);
    std::erase_if(all, [](std::string_view each) {
      return each.find("\nDROP PROCEDURE") != std::string_view::npos;
    });
    return all;
  }();
  return statements;
}

bool is_mariadb(std::string_view version) noexcept {
  return version.find("MariaDB") != std::string_view::npos;
}

}  // namespace

std::vector<std::string_view> statements_of(std::string_view text) {
  std::vector<std::string_view> all;
  constexpr std::string_view begin = "DELIMITER //\n", end = "\n//\n";
  text.remove_prefix(text.find(begin) + begin.size());
  for (std::size_t at = text.find(end); at != std::string_view::npos; at = text.find(end)) {
    all.push_back(text.substr(0, at));
    text.remove_prefix(at + end.size());
  }
  return all;
}

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

// The uptime is in whole seconds, and a restart takes longer than one.
bool ServerSession::is_at(const ServerSession& now) const noexcept {
  const auto passed = std::chrono::duration_cast<seconds>(now.at - at).count();
  return server == now.server && now.uptime >= uptime + passed - 1;
}

Handshake::Handshake(const Layout& layout, bool create, std::chrono::milliseconds timeout)
    : layout_(layout), may_create_(create), settings_(make_settings(timeout)) {}

void Handshake::begin(const std::optional<ServerSession>& before) {
  before_ = before;
  step_ = Step::settings;
  created_ = false;
  statement_ = 0;
}

std::string Handshake::text() const {
  const std::string old = before_ ? std::to_string(before_->connection) : std::string();
  switch (step_) {
    case Step::settings: return settings_;
    case Step::kill: return "KILL " + old;
    case Step::await: return "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE ID=" + old;
    case Step::schema: return layout_.check();
    case Step::create: return std::string(creation().at(statement_));
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

Handshake::Next Handshake::read(const std::deque<Rows>& results, const SqlError& error,
                                Clock::time_point now) {
  if (step_ == Step::schema) return read_schema(results, error);
  if (step_ == Step::create) return read_create(error);
  if (step_ == Step::kill) {
    if (error.number == no_such_thread) return go_to(Step::schema);
    if (error.number == 0) return go_to(Step::await);
    if (error.number == not_owner) return Next::wait;  // it runs another user's procedure
  }
  if (error.number != 0) return fail(error_text(error), false);
  if (step_ == Step::settings) return read_settings(results, now);
  return results.at(0).at(0).at(0) == "0" ? go_to(Step::schema) : Next::wait;
}

Handshake::Next Handshake::read_settings(const std::deque<Rows>& results, Clock::time_point now) {
  const auto& row = results.at(0).at(0);
  if (std::string why = why_not(row.at(3)); !why.empty()) return fail(std::move(why), true);
  if (row.at(4) != "0") return fail("the server is read-only, as a replica is", false);
  session_ = {.server = row.at(1) + ":" + row.at(2),
              .connection = number_in(row.at(0)),
              .uptime = number_in(results.at(1).at(0).at(1)),
              .at = now,
              .is_mariadb = is_mariadb(row.at(3))};
  return go_to(before_ && before_->is_at(session_) ? Step::kill : Step::schema);
}

Handshake::Next Handshake::read_schema(const std::deque<Rows>& results, const SqlError& error) {
  if (error.number == 0) {
    std::string why = layout_.verdict(results.at(0));
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
  if (++statement_ < creation().size()) return Next::send;
  created_ = true;
  return go_to(Step::schema);
}

}  // namespace latchkey::inline v1::detail::mysql
