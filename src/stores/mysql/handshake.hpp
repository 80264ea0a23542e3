// The handshake on a new connection, before requests are sent.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

#include "backend/connection/failure.hpp"
#include "stores/mysql/layout.hpp"
#include "stores/mysql/session_settings.hpp"

namespace latchkey::inline v1::detail::mysql {

/// A session at a server, to be ended before the next one begins.
struct ServerSession {
  std::int64_t connection = 0;
  std::string node;  ///< Galera: the run of a server; else empty
  bool is_mariadb = false;
};

/// Sets the session up, checks the server and its tables, and ends the session before this one.
///
/// A session owns the client's mark: a user lock (GET_LOCK) with a random name, which the server
/// frees once that session has ended and is undone. So an earlier session of this client is
/// recognised at any server, whatever names, numbers and clocks that server has, and no other is. A
/// cluster may refuse GET_LOCK; there an earlier session is known by its number and its node.
///
/// | step     | statements                           | next                                      |
/// |----------|--------------------------------------|-------------------------------------------|
/// | settings | SET SESSION, what the settings are,  | claim                                     |
/// |          | what server it is                    |                                           |
/// | claim    | GET_LOCK of the mark                 | schema; kill: an earlier session has it   |
/// | kill     | KILL that session                    | claim until it succeeds; await in a       |
/// |          |                                      | cluster                                   |
/// | await    | whether that session still exists    | await until it is gone, then schema       |
/// | schema   | the layout's check                   | done, or create if that was asked for     |
/// | create   | each statement of the DDL            | create, then schema                       |
class Handshake {
 public:
  Handshake(Layout& layout, bool create, std::chrono::milliseconds timeout);

  /// A new connection; `before`: the last session.
  void begin(const std::optional<ServerSession>& before);
  /// In a forked child: the sessions of the parent are not those of the child.
  void renew_mark();
  /// The text to send.
  [[nodiscard]] std::string text() const;
  enum class Next { send, wait, done, failed };
  /// The results of the text. `wait`: send the next one after a moment.
  [[nodiscard]] Next read(const std::deque<Rows>& results, const SqlError& error);

  [[nodiscard]] const ConnectionFailure& failure() const noexcept { return failure_; }
  [[nodiscard]] const ServerSession& session() const noexcept { return session_; }

 private:
  enum class Step { settings, claim, kill, await, schema, create };

  Next go_to(Step step);
  Next fail(std::string why, bool permanent);
  Next fail_malformed();
  Next read_settings(const std::deque<Rows>& results);
  Next read_claim(const std::deque<Rows>& results, const SqlError& error);
  Next read_kill(const SqlError& error);
  Next read_schema(const std::deque<Rows>& results, const SqlError& error);
  Next read_create(const SqlError& error);

  Layout& layout_;
  const bool may_create_;
  const SessionSettings settings_;
  std::string mark_;
  Step step_ = Step::settings;
  bool created_ = false;
  std::size_t statement_ = 0;  ///< create: which statement of the DDL
  std::int64_t old_ = 0;       ///< the connection to be ended
  bool in_cluster_ = false;    ///< GET_LOCK is refused
  std::optional<ServerSession> before_;
  ServerSession session_;
  ConnectionFailure failure_;
};

/// Why a server of this version does not serve; empty: it does. MariaDB 10.6 and MySQL 8.0.29 are
/// the first ones.
[[nodiscard]] std::string why_not(std::string_view version);

}  // namespace latchkey::inline v1::detail::mysql
