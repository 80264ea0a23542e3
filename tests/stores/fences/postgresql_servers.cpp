// The PostgreSQL server of this program.
#include <string>

#include "stores/fences/servers.hpp"
#include "stores/postgresql/postgresql_server.hpp"

namespace latchkey::tests {

std::string postgresql_parameters() {
  static const PostgresqlServer server;
  return "host=" + server.folder().string() + " port=" + std::to_string(server.port()) +
         " user=admin dbname=locks";
}

}  // namespace latchkey::tests
