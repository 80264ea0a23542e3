// The server that the tests of a program share.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include <latchkey/backend.hpp>
#include <latchkey/options.hpp>
#include <latchkey/postgresql.hpp>

#include "backend/registry.hpp"
#include "postgresql_server.hpp"
#include "support/polling.hpp"

namespace latchkey::tests {

/// Also has ShedLock's table, as its documentation says. Ends with the process.
inline PostgresqlServer& shared_server() {
  static PostgresqlServer& running = []() -> PostgresqlServer& {
    static PostgresqlServer made;
    Sql sql = made.sql();
    sql("CREATE TABLE shedlock(name VARCHAR(64) NOT NULL, lock_until TIMESTAMP NOT NULL, "
        "locked_at TIMESTAMP NOT NULL, locked_by VARCHAR(255) NOT NULL, PRIMARY KEY (name))");
    sql("GRANT SELECT, INSERT, UPDATE ON shedlock TO plain");
    return made;
  }();
  return running;
}

inline std::unique_ptr<Backend> connect_backend(const std::string& uri,
                                                const Options& options = {}) {
  register_postgresql();
  return detail::find_backend_factory("postgresql")(uri, options);
}

inline std::string next_key(const std::string& shape) {
  static std::atomic<int> last{0};
  return shape + std::to_string(++last);
}

/// Until the server knows that somebody waits for the key.
inline void await_waiter(const PostgresqlServer& server, const std::string& key) {
  Sql sql = server.sql();
  await("a waiter", [&] {
    const std::string count = "SELECT count(*) FROM latchkey.waiter WHERE name = '" + key + "'";
    return sql.one(count) == "0" ? "none" : "";
  });
}

}  // namespace latchkey::tests
