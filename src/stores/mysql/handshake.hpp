// What happens on a new connection before requests are sent.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <latchkey/clock.hpp>

#include "backend/connection/failure.hpp"
#include "stores/mysql/layout.hpp"

namespace latchkey::inline v1::detail::mysql {

/// A session at a server, to be ended before the next one begins.
struct ServerSession {
  std::string server;  ///< name and port
  std::int64_t connection = 0;
  std::int64_t uptime = 0;  ///< of the server, seconds
  Clock::time_point at{};   ///< when it had that uptime
  bool is_mariadb = false;

  /// Whether a server is the one of this session, and was not started again since.
  [[nodiscard]] bool is_at(const ServerSession& now) const noexcept;
};

/// Sets the session up, checks the server and its tables, and ends the session before this one.
///
/// | step     | statements                       | next                                  |
/// |----------|----------------------------------|---------------------------------------|
/// | settings | SET SESSION, what server it is   | kill, or schema                       |
/// | kill     | KILL the session before this one | await                                 |
/// | await    | whether it still exists          | await until it is gone, then schema   |
/// | schema   | the layout's check               | done, or create if that was asked for |
/// | create   | each statement of the DDL        | create, then schema                   |
class Handshake {
 public:
  Handshake(const Layout& layout, bool create, std::chrono::milliseconds timeout);

  /// A new connection; `before`: the last session.
  void begin(const std::optional<ServerSession>& before);
  /// The text to send.
  [[nodiscard]] std::string text() const;
  enum class Next { send, wait, done, failed };
  /// The results of the text. `wait`: send it again after a moment.
  [[nodiscard]] Next read(const std::deque<Rows>& results, const SqlError& error,
                          Clock::time_point now);

  [[nodiscard]] const ConnectionFailure& failure() const noexcept { return failure_; }
  [[nodiscard]] const ServerSession& session() const noexcept { return session_; }

 private:
  enum class Step { settings, kill, await, schema, create };

  Next go_to(Step step);
  Next fail(std::string why, bool permanent);
  Next read_settings(const std::deque<Rows>& results, Clock::time_point now);
  Next read_schema(const std::deque<Rows>& results, const SqlError& error);
  Next read_create(const SqlError& error);

  const Layout& layout_;
  const bool may_create_;
  const std::string settings_;
  Step step_ = Step::settings;
  bool created_ = false;
  std::size_t statement_ = 0;  ///< of the DDL
  std::optional<ServerSession> before_;
  ServerSession session_;
  ConnectionFailure failure_;
};

/// The statements of ddl, which separates them by lines with "//".
[[nodiscard]] std::vector<std::string_view> statements_of(std::string_view text);

/// Why a server of this version does not serve; empty: it does. MariaDB 10.6 and MySQL 8.0.29 are
/// the first ones.
[[nodiscard]] std::string why_not(std::string_view version);

}  // namespace latchkey::inline v1::detail::mysql
