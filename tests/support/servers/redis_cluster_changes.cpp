// RedisCluster: changes of slots, masters and nodes.
#include <algorithm>
#include <functional>
#include <future>
#include <stdexcept>

#include "support/servers/redis_cluster.hpp"

namespace latchkey::tests {

SlotMover RedisCluster::mover(std::size_t from, std::size_t to,
                              const std::vector<const RedisServer*>& others) {
  return {{node(from), id(from)}, {node(to), id(to)}, others, options_.password};
}

SlotMover RedisCluster::mover(std::size_t from, std::size_t to) {
  std::vector<const RedisServer*> others;
  for (const std::size_t index : serving()) {
    if (index == from || index == to || !view(index).myself().master) continue;
    others.push_back(&node(index));
  }
  return mover(from, to, others);
}

void RedisCluster::begin_migration(std::size_t slot, std::size_t from, std::size_t to) {
  mover(from, to).begin(slot);
}

std::size_t RedisCluster::move_keys(std::size_t slot, std::size_t from, std::size_t to,
                                    std::size_t most) {
  return mover(from, to).move_keys(slot, most);
}

void RedisCluster::move_these(const std::vector<std::string>& keys, std::size_t from,
                              std::size_t to) {
  mover(from, to).migrate(keys);
}

void RedisCluster::end_migration(std::size_t slot, std::size_t from, std::size_t to) {
  mover(from, to).end(slot);
  wait_until_ready();
}

void RedisCluster::migrate_slot(std::size_t slot, std::size_t from, std::size_t to) {
  mover(from, to).move(slot);
  wait_until_ready();
}

std::size_t RedisCluster::first_slot_of(std::size_t master) {
  const auto slots = view(master).myself().slots;
  for (std::size_t slot = 0; slot < slot_count; ++slot) {
    if (slots.test(slot)) return slot;
  }
  throw std::runtime_error("this node owns no slot");
}

Election RedisCluster::await_successor(std::size_t master, std::size_t slot,
                                       const std::function<void()>& retry) {
  Election election{.index = master, .seen = {}};
  await("another master", [&]() -> std::string {
    for (const std::size_t index : serving()) {
      const ClusterView seen = view(index);
      const ClusterMember* const owner = seen.owner_of(slot);
      const std::size_t named = owner == nullptr ? master : index_of(owner->id);
      if (named == master || named == election.index) continue;
      election = {.index = named, .seen = std::chrono::steady_clock::now()};
    }
    if (election.index != master) return disagreement();
    retry();
    return "all name the old one";
  });
  nodes_[master].replaced = nodes_[election.index].elected = std::chrono::steady_clock::now();
  return election;
}

// Masters vote for a successor of one master only once in two node timeouts. Redis 7.0 also counts
// the votes of a replica's last election for its next one if that follows within 4 s. The replica
// would then consider itself a master for some milliseconds although no other node does.
void RedisCluster::let_elections_age(std::size_t master, std::size_t replica) {
  const auto votes = 2 * options_.node_timeout;
  const auto candidacy = std::max<std::chrono::milliseconds>(2 * votes, std::chrono::seconds(4));
  const auto end = std::max(nodes_[master].replaced + votes, nodes_[replica].elected + candidacy);
  await("a new election", [&] { return std::chrono::steady_clock::now() < end ? "early" : ""; });
}

Election RedisCluster::fail_over(std::size_t replica) {
  wait_until_ready();
  const std::string master_id = view(replica).myself().master_id;
  if (master_id == "-") throw std::runtime_error("this node is no replica");
  const std::size_t master = index_of(master_id);
  const std::size_t slot = first_slot_of(master);
  let_elections_age(master, replica);
  // A replica silently gives up a failover after 5 s.
  constexpr std::chrono::milliseconds limit{5500};
  std::chrono::steady_clock::time_point next{};
  return await_successor(master, slot, [&] {
    if (std::chrono::steady_clock::now() < next) return;
    next = std::chrono::steady_clock::now() + limit;
    send(replica, {"CLUSTER", "FAILOVER"});
  });
}

Election RedisCluster::kill_master(std::size_t master) {
  wait_until_ready();
  const std::vector<std::size_t> replicas = replicas_of(master);
  if (replicas.empty()) throw std::runtime_error("this node has no replica");
  const std::size_t slot = first_slot_of(master);
  for (const std::size_t replica : replicas) let_elections_age(master, replica);
  node(master).kill();
  return await_successor(master, slot, [] {});
}

void RedisCluster::restore(std::size_t index) {
  node(index).serve_again();
  wait_until_ready();
}

std::size_t RedisCluster::add_node() {
  const std::vector<std::size_t> others = serving();
  const std::size_t added = start_node();
  for (const std::size_t index : others) introduce(index, added);
  await_links();
  wait_until_ready();
  return added;
}

void RedisCluster::remove_node(std::size_t index) {
  wait_until_ready();
  give_slots_away(index);
  for (const std::size_t other : serving()) {
    // Newer servers propagate FORGET, so later ones may reply that they do not know the node.
    if (other != index) node(other).client()({"CLUSTER", "FORGET", id(index)});
  }
  nodes_.at(index).server.reset();
  wait_until_ready();
}

// There are thousands of slots, and nodes save each change to disk; newer nodes first replicate it.
// So several connections move slots at the same time, and the other masters learn of the change
// from the new owner only.
void RedisCluster::give_slots_away(std::size_t index) {
  constexpr std::size_t ways_to_each = 8;
  std::vector<std::size_t> takers = masters();
  std::erase(takers, index);
  std::vector<std::vector<std::size_t>> shares(takers.size() * ways_to_each);
  const auto slots = view(index).myself().slots;
  for (std::size_t slot = 0, given = 0; slot < slot_count; ++slot) {
    if (slots.test(slot)) shares.at(given++ * shares.size() / slots.count()).push_back(slot);
  }
  std::vector<std::future<void>> ways;
  for (std::size_t at = 0; at < shares.size(); ++at) {
    if (shares[at].empty()) continue;
    ways.push_back(std::async(
        std::launch::async,
        [](SlotMover way, const std::vector<std::size_t>& share) {
          for (const std::size_t slot : share) way.move(slot);
        },
        mover(index, takers.at(at / ways_to_each), {}), shares[at]));
  }
  for (std::future<void>& way : ways) way.get();
  for (const std::size_t replica : replicas_of(index)) {
    send(replica, {"CLUSTER", "REPLICATE", id(takers.back())});
  }
  wait_until_ready();
}

}  // namespace latchkey::tests
