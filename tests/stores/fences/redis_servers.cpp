// The Redis servers of this program.
#include <string>

#include "stores/fences/servers.hpp"
#include "support/polling.hpp"
#include "support/servers/redis_cluster.hpp"
#include "support/servers/redis_server.hpp"

namespace latchkey::tests {

std::string redis_socket() {
  static const RedisServer server;
  return server.socket();
}

std::uint16_t redis_cluster_port() {
  static const RedisServer& node = []() -> const RedisServer& {
    static const RedisServer made{{.cluster = true}};
    add_slots(made, 0, 16'384);
    await("a cluster of one node", [] {
      const std::string info = made.client()({"CLUSTER", "INFO"}).text();
      return info.find("cluster_state:ok") == std::string::npos ? info : std::string();
    });
    return made;
  }();
  return node.port();
}

}  // namespace latchkey::tests
