// A Redis Cluster.
// SPDX-License-Identifier: BSL-1.0
#include "chaos/deployment/cluster.hpp"

#include <algorithm>
#include <stdexcept>

#include "chaos/faults/forbidden_commands.hpp"
#include "chaos/worker/lock_source.hpp"

namespace latchkey::chaos {

using enum FaultKind;

Cluster::Cluster()
    : cluster_(
          {.masters = masters, .replicas = 0, .config = {"appendonly yes", "appendfsync no"}}) {}

std::vector<const tests::RedisServer*> Cluster::servers() const {
  std::vector<const tests::RedisServer*> all;
  for (std::size_t index = 0; index < masters; ++index) all.push_back(&cluster_.node(index));
  return all;
}

std::string Cluster::uri(std::uint16_t /*port*/) const { return cluster_.uri(); }

bool Cluster::has(FaultKind kind) const noexcept {
  switch (kind) {
    case client_stop_short:
    case client_stop_long:
    case client_kill:
    case client_descriptors:
    case client_fork:
    case client_no_threads:
    case client_no_memory:
    case node_stop:
    case node_kill:
    case slot_move:
    case kill_normal:
    case kill_pubsub:
    case flushall:
    case script_flush:
    case max_memory:
    case forbidden_command:
    case wrong_type:
    case delete_key:
    case forced_release: return true;
    default: return false;
  }
}

void Cluster::send_to_all(std::initializer_list<std::string_view> words) {
  for (const tests::RedisServer* const each : servers()) send(*each, words);
}

void Cluster::permit(const PlannedFault& fault, bool permitted) {
  const std::string_view command = forbidden_name(fault.strength);
  if (is_sharded(command) && cluster_.node(0).version() < 700) return;
  std::string rule(permitted ? "+" : "-");
  send_to_all({"ACL", "SETUSER", "default", rule += command});
}

const tests::RedisServer& Cluster::owner_of(const std::string& key) {
  return cluster_.node(cluster_.owner_of(cluster_.slot_of(key)));
}

// From now on the keys of a slot are on two nodes.
void Cluster::begin_move(const PlannedFault& fault) {
  move_.slot = cluster_.slot_of(name_of_key(static_cast<std::uint32_t>(fault.key)));
  move_.from = cluster_.owner_of(move_.slot);
  move_.to = (move_.from + 1 + static_cast<std::size_t>(fault.strength) % 2) % masters;
  cluster_.begin_migration(move_.slot, move_.from, move_.to);
  cluster_.move_keys(move_.slot, move_.from, move_.to,
                     1 + static_cast<std::size_t>(fault.strength) % 5);
}

// Workers may make keys on the old node until it has none.
void Cluster::end_move() {
  for (int attempt = 0; attempt < 50; ++attempt) {
    while (cluster_.move_keys(move_.slot, move_.from, move_.to) > 0) continue;
    try {
      return cluster_.end_migration(move_.slot, move_.from, move_.to);
    } catch (const std::runtime_error&) {
      if (cluster_.owner_of(move_.slot) == move_.to) return;
    }
  }
  throw std::runtime_error("a slot does not move: its old node always has keys");
}

void Cluster::begin(const PlannedFault& fault) {
  const std::string key = name_of_key(static_cast<std::uint32_t>(std::max(0, fault.key)));
  switch (fault.kind) {
    case node_stop: return cluster_.node(node_of(fault)).stop();
    case node_kill: return cluster_.node(node_of(fault)).kill();
    case slot_move: return begin_move(fault);
    case kill_normal: return send_to_all({"CLIENT", "KILL", "TYPE", "normal"});
    case kill_pubsub: return send_to_all({"CLIENT", "KILL", "TYPE", "pubsub"});
    case flushall: return send_to_all({"FLUSHALL"});
    case script_flush: return send_to_all({"SCRIPT", "FLUSH"});
    case max_memory: return send_to_all({"CONFIG", "SET", "maxmemory", "1"});
    case forbidden_command: return permit(fault, false);
    case wrong_type: return send(owner_of(key), {"SET", key, "text"});
    case delete_key: return send(owner_of(key), {"DEL", key});
    case forced_release: return force_release(cluster_.uri(), fault.key);
    default: return;
  }
}

void Cluster::end(const PlannedFault& fault) {
  const std::string key = name_of_key(static_cast<std::uint32_t>(std::max(0, fault.key)));
  switch (fault.kind) {
    case node_stop:
    case node_kill: return cluster_.restore(node_of(fault));
    case slot_move: return end_move();
    case max_memory: return send_to_all({"CONFIG", "SET", "maxmemory", "0"});
    case forbidden_command: return permit(fault, true);
    case wrong_type: return send(owner_of(key), {"DEL", key});
    default: return;
  }
}

}  // namespace latchkey::chaos
