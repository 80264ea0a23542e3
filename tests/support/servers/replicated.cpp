// A master and its replicas.
#include "support/servers/replicated.hpp"

#include "support/polling.hpp"
#include "support/servers/replication.hpp"

namespace latchkey::tests {

Replicated::Replicated(ReplicatedOptions options) {
  RedisServerOptions common{.config = replication_config(), .password = options.password};
  common.config.insert(common.config.end(), options.config.begin(), options.config.end());
  servers_.push_back(std::make_unique<RedisServer>(common));
  common.config.push_back("replicaof 127.0.0.1 " + std::to_string(master().port()));
  while (servers_.size() <= options.replicas) {
    servers_.push_back(std::make_unique<RedisServer>(common));
  }
  wait_until_synced();
}

std::size_t Replicated::index_of_replica(std::size_t index) const {
  return index < master_ ? index : index + 1;
}

RedisServer& Replicated::replica(std::size_t index) { return server(index_of_replica(index)); }

void Replicated::promote(std::size_t index) {
  const std::size_t promoted = index_of_replica(index);
  replicate_nobody(server(promoted));
  master_ = promoted;
  follow_master();
}

void Replicated::follow_master() {
  for (const auto& each : servers_) {
    if (each.get() == &master() || !each->serves()) continue;
    replicate(*each, master());
  }
}

void Replicated::restore() {
  for (const auto& each : servers_) each->serve_again();
  follow_master();
  wait_until_synced();
}

void Replicated::wait_until_synced() {
  await("replicas in sync", [&]() -> std::string {
    for (const auto& each : servers_) {
      if (each.get() == &master() || !each->serves()) continue;
      if (std::string missing = lag(*each, master()); !missing.empty()) return missing;
    }
    return {};
  });
}

}  // namespace latchkey::tests
