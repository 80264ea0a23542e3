// The campaign on PostgreSQL.
// SPDX-License-Identifier: BSL-1.0
#include <string>
#include <vector>

#include "chaos/deployment/stores/store_deployment.hpp"
#include "stores/postgresql/postgresql_server.hpp"

namespace latchkey::chaos {
namespace {

/// Names the rows that have not ended, except semaphores. If `abandoned`, deletes the places of
/// waiters instead: nobody waits now, and the next round is judged anew.
std::string rows_left(const tests::PostgresqlServer& server, bool abandoned) {
  std::vector<std::string> selects{
      "SELECT name || ' ' || mode FROM latchkey.lock "
      "WHERE ends > clock_timestamp() AND mode <> 's'"};
  tests::Sql sql = server.sql();
  for (const std::string table : {"place", "waiter"}) {
    if (abandoned) {
      sql("DELETE FROM latchkey." + table);
    } else {
      selects.push_back("SELECT name || ' " + table + "' FROM latchkey." + table +
                        " WHERE until > clock_timestamp()");
    }
  }
  std::string text;
  for (const std::string& select : selects) {
    for (const std::string& cell : sql(select)) text += ' ' + cell;
  }
  return text;
}

/// Sets what an administrator may set for the workers' role and database, and ends their sessions.
void set_sessions(const tests::PostgresqlServer& server, SessionDefaults settings) {
  tests::Sql sql = server.sql("postgres");
  if (settings == SessionDefaults::usual) {
    sql("ALTER ROLE plain RESET ALL");
    sql("ALTER DATABASE locks RESET ALL");
  } else {
    for (const std::string setting :
         {"default_transaction_isolation = 'serializable'", "default_transaction_deferrable = on",
          "statement_timeout = '50ms'", "lock_timeout = '1ms'",
          "idle_in_transaction_session_timeout = '1ms'", "standard_conforming_strings = off",
          "row_security = on", "enable_indexscan = off"}) {
      sql("ALTER ROLE plain SET " + setting);
    }
    for (const std::string setting :
         {"search_path = 'nowhere'", "DateStyle = 'German'", "TimeZone = 'Asia/Tokyo'"}) {
      sql("ALTER DATABASE locks SET " + setting);
    }
  }
  sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'plain'");
}

}  // namespace

std::unique_ptr<Deployment> make_postgresql() {
  using PostgreSql = StoreDeployment<tests::PostgresqlServer>;
  return std::make_unique<PostgreSql>(
      PostgreSql::Store{.before_port = "postgresql://plain:plain@127.0.0.1:",
                        .after_port = "/locks",
                        .limits = {.reply = store_reply, .process_queue = false, .turns = false},
                        .keys_left = rows_left,
                        .set_sessions = set_sessions});
}

}  // namespace latchkey::chaos
