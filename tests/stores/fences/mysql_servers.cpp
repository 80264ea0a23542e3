// The MariaDB server of this program.
#include <string>

#include "stores/fences/servers.hpp"
#include "stores/mysql/mysql_server.hpp"

namespace latchkey::tests {

std::string mysql_socket() {
  static const MysqlServer server;
  return server.socket();
}

}  // namespace latchkey::tests
