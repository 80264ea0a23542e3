// Helpers that the tests of mysql:// share.
#pragma once

#include <latchkey/backend.hpp>
#include <latchkey/mysql.hpp>
#include <latchkey/options.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "backend/registry.hpp"
#include "stores/mysql/mysql_server.hpp"
#include "support/polling.hpp"

namespace latchkey::tests {

inline std::unique_ptr<Backend> make_mysql(const std::string& uri, const Options& options = {}) {
  register_mysql();
  return detail::find_backend_factory("mysql")(uri, options);
}

/// A key that was never used before.
inline std::string next_key() {
  static std::atomic<int> last{0};
  return "key:" + std::to_string(++last);
}

/// How many rows of these keys there are. `names`: as SQL lists them, such as "'a','b'". Keys of
/// other tests may still be held.
inline std::string rows_of(const std::string& names) {
  const std::string where = " WHERE name IN (" + names + "))";
  return mysql_server().session().one("SELECT (SELECT COUNT(*) FROM latchkey_locks" + where +
                                      " + (SELECT COUNT(*) FROM latchkey_members" + where);
}

/// How many procedures the server has executed: an attempt that finds its key busy is one, and a
/// waiter makes one every 10 ms.
inline std::int64_t calls() {
  return std::stoll(
      mysql_server().session()("SHOW GLOBAL STATUS LIKE 'Com_call_procedure'").at(0).at(1));
}

inline void await_attempts() {
  await("attempts of the waiter",
        [before = calls()] { return calls() >= before + 5 ? "" : "too few"; });
}

}  // namespace latchkey::tests
