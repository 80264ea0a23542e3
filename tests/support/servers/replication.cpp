// Replication as the servers report it.
#include "support/servers/replication.hpp"

#include <sstream>
#include <stdexcept>

namespace latchkey::tests {
namespace {

std::string replication_info(const RedisServer& server) {
  return server.client()({"INFO", "replication"}).text();
}

void replicaof(const RedisServer& server, const std::string& host, const std::string& port) {
  RedisClient client = server.client();
  for (const Reply& reply : {client({"REPLICAOF", host, port}), client({"CONFIG", "REWRITE"})}) {
    if (reply.is_error()) throw std::runtime_error(reply.text());
  }
}

long long number(const std::string& text) { return text.empty() ? -1 : std::stoll(text); }

}  // namespace

std::vector<std::string> replication_config() {
  // With diskless replication, the master reports a replica as online a second before it is.
  return {"repl-diskless-sync no", "repl-timeout 5", "repl-ping-replica-period 1"};
}

std::string info_field(std::string_view info, std::string_view name) {
  std::istringstream lines{std::string(info)};
  for (std::string line; std::getline(lines, line);) {
    if (line.size() <= name.size() || !line.starts_with(name) || line[name.size()] != ':') continue;
    return line.substr(name.size() + 1, line.find('\r') - name.size() - 1);
  }
  return {};
}

bool is_master(const RedisServer& server) {
  return info_field(replication_info(server), "role") == "master";
}

void replicate(const RedisServer& server, const RedisServer& master) {
  replicaof(server, "127.0.0.1", std::to_string(master.port()));
}

void replicate_nobody(const RedisServer& server) { replicaof(server, "NO", "ONE"); }

std::string lag(const RedisServer& replica, const RedisServer& master) {
  const std::string masters = replication_info(master);
  const std::string replicas = replication_info(replica);
  const std::string port = std::to_string(replica.port());
  if (info_field(masters, "role") != "master") return "a master at " + master.tcp_uri();
  if (info_field(replicas, "master_port") != std::to_string(master.port())) {
    return port + " does not follow " + std::to_string(master.port());
  }
  if (info_field(replicas, "master_link_status") != "up") return port + " has no link";
  if (masters.find(",port=" + port + ",state=online") == std::string::npos) {
    return port + " is not online:\n" + masters;
  }
  const long long wanted = number(info_field(masters, "master_repl_offset"));
  const long long reached = number(info_field(replicas, "slave_repl_offset"));
  return reached < wanted ? port + " has not got everything yet" : std::string();
}

}  // namespace latchkey::tests
