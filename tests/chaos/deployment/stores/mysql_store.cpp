// The campaign on MariaDB.
// SPDX-License-Identifier: BSL-1.0
#include <array>
#include <string>
#include <string_view>

#include "chaos/deployment/stores/store_deployment.hpp"
#include "stores/mysql/mysql_server.hpp"

namespace latchkey::chaos {
namespace {

/// Names the rows that have not ended, except semaphores. If `abandoned`, deletes the places of
/// waiters first: nobody waits now, and the next round is judged anew.
std::string rows_left(const tests::MysqlServer& server, bool abandoned) {
  constexpr std::string_view micros = "FLOOR(UNIX_TIMESTAMP(NOW(6)) * 1000000)";
  const std::string later = " WHERE ends > " + std::string(micros);
  std::string text;
  tests::MysqlSession session = server.session();
  if (abandoned) {
    session("DELETE FROM latchkey_members WHERE kind = 4");
    session("UPDATE latchkey_locks SET waiting = 0");
  }
  for (const std::string& select :
       {"SELECT name FROM latchkey_locks" + later + " AND mode <> 4",
        "SELECT CONCAT(name, ' ', kind) FROM latchkey_members" + later}) {
    for (const auto& row : session(select)) text += ' ' + row.front();
  }
  return text;
}

struct GlobalSetting {
  std::string_view name, value;
};

/// `init_connect` runs in each session of a user without SUPER.
constexpr std::array global_settings{
    GlobalSetting{"init_connect",
                  "'SET timestamp=1000000000,unique_checks=0,sql_big_selects=0,"
                  "character_set_results=utf16'"},
    GlobalSetting{"completion_type", "CHAIN"},
    GlobalSetting{"autocommit", "0"},
    GlobalSetting{"tx_isolation", "'SERIALIZABLE'"},
    GlobalSetting{"tx_read_only", "1"},
    GlobalSetting{"sql_mode", "'ANSI,EMPTY_STRING_IS_NULL'"},
    GlobalSetting{"max_statement_time", "0.3"},
    GlobalSetting{"lock_wait_timeout", "1"},
    GlobalSetting{"innodb_lock_wait_timeout", "1"},
    GlobalSetting{"sql_select_limit", "1"},
    GlobalSetting{"time_zone", "'+05:30'"}};

// One session for all of it: a new one would begin with these settings, too.
void set_sessions(const tests::MysqlServer& server, SessionDefaults settings) {
  tests::MysqlSession session = server.session("mysql");
  for (const GlobalSetting& each : global_settings) {
    const bool disturbs = settings == SessionDefaults::disturbing;
    session("SET GLOBAL " + std::string(each.name) + '=' +
            (disturbs ? std::string(each.value) : "DEFAULT"));
  }
  session("KILL USER locks");
}

}  // namespace

std::unique_ptr<Deployment> make_mysql() {
  using MariaDb = StoreDeployment<tests::MysqlServer>;
  return std::make_unique<MariaDb>(
      MariaDb::Store{.before_port = "mysql://locks:se%3Acr%40t@127.0.0.1:",
                     .after_port = "/app",
                     .limits = {.reply = store_reply, .process_queue = false, .turns = false},
                     .keys_left = rows_left,
                     .set_sessions = set_sessions});
}

}  // namespace latchkey::chaos
