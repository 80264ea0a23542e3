// The campaign on MariaDB.
// SPDX-License-Identifier: BSL-1.0
#include "chaos/deployment/stores/store_deployment.hpp"
#include "stores/mysql/mysql_server.hpp"

namespace latchkey::chaos {
namespace {

/// What has not ended by itself. Places that were abandoned are deleted: nobody waits now, and the
/// next round is judged anew.
std::string rows_left(const tests::MysqlServer& server, bool abandoned) {
  constexpr std::string_view micros = "FLOOR(UNIX_TIMESTAMP(NOW(6)) * 1000000)";
  const std::string later = " WHERE ends > " + std::string(micros);
  std::string text;
  tests::MysqlSession session = server.session();
  if (abandoned) session("DELETE FROM latchkey_members WHERE kind = 4");
  for (const std::string& select :
       {"SELECT name FROM latchkey_locks" + later + " AND mode <> 4",
        "SELECT CONCAT(name, ' ', kind) FROM latchkey_members" + later}) {
    for (const auto& row : session(select)) text += ' ' + row.front();
  }
  return text;
}

}  // namespace

std::unique_ptr<Deployment> make_mysql() {
  using MariaDb = StoreDeployment<tests::MysqlServer>;
  return std::make_unique<MariaDb>(
      MariaDb::Store{.before_port = "mysql://locks:se%3Acr%40t@127.0.0.1:",
                     .after_port = "/app",
                     .limits = {.reply = store_reply, .process_queue = false, .turns = false},
                     .keys_left = rows_left});
}

}  // namespace latchkey::chaos
