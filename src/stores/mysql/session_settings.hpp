// The settings of a session that locks rest on.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <chrono>
#include <string>

#include "stores/mysql/connection.hpp"

namespace latchkey::inline v1::detail::mysql {

/// The settings that a server's configuration, a user's limits or `init_connect` may have changed:
/// each is set at the start of a session, and read back, because a proxy may answer for the server.
/// docs/stores/mysql.md has the list, with the reasons.
class SessionSettings {
 public:
  /// `timeout`: how long a command of the client may take.
  explicit SessionSettings(std::chrono::milliseconds timeout);

  /// Several statements, of which the last one returns rows.
  [[nodiscard]] std::string text() const;
  /// Why the session cannot be used, as a clause; empty: it can.
  [[nodiscard]] std::string verdict(const Rows& rows) const;

 private:
  /// Seconds for which a statement waits for a lock.
  const std::string wait_;
};

}  // namespace latchkey::inline v1::detail::mysql
