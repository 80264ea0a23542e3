// A Redis Cluster.
// SPDX-License-Identifier: BSL-1.0
#include "chaos/deployment/redis/cluster.hpp"

#include <stdexcept>

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
    case node_stop:
    case node_kill:
    case slot_move:
    case kill_normal:
    case kill_pubsub:
    case flushall:
    case script_flush:
    case max_memory:
    case forbidden_command:
    case pattern_subscriber:
    case session_settings:
    case wrong_type:
    case delete_key:
    case forced_release:
    case revocation:
    case delete_watched: return true;
    default: return is_of_client(kind);
  }
}

std::vector<const tests::RedisServer*> Cluster::servers_of(const PlannedFault& fault) const {
  if (fault.key < 0) return servers();
  return {&cluster_.node(cluster_.owner_of(slot_of(fault)))};
}

std::size_t Cluster::slot_of(const PlannedFault& fault) const {
  return cluster_.slot_of(key_of(fault));
}

// From now on the keys of a slot are on two nodes.
void Cluster::begin_move(const PlannedFault& fault) {
  move_.slot = slot_of(fault);
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
  switch (fault.kind) {
    case node_stop: return cluster_.node(node_of(fault)).stop();
    case node_kill: return cluster_.node(node_of(fault)).kill();
    case slot_move: return begin_move(fault);
    case forced_release: return force_release(cluster_.uri(), fault);
    default:
      for (const tests::RedisServer* const each : servers_of(fault)) begin_on(*each, fault);
  }
}

void Cluster::end(const PlannedFault& fault) {
  switch (fault.kind) {
    case node_stop:
    case node_kill: return cluster_.restore(node_of(fault));
    case slot_move: return end_move();
    default:
      for (const tests::RedisServer* const each : servers_of(fault)) end_on(*each, fault);
  }
}

}  // namespace latchkey::chaos
