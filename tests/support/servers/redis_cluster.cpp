// RedisCluster: creation, growth, and waiting until its nodes agree.
#include "support/servers/redis_cluster.hpp"

#include <algorithm>
#include <chrono>
#include <stdexcept>

#include "support/servers/replication.hpp"

namespace latchkey::tests {

RedisCluster::RedisCluster(RedisClusterOptions options) : options_(std::move(options)) {
  while (nodes_.size() < options_.masters * (1 + options_.replicas)) start_node();
  share_slots();
  for (std::size_t index = 0; index < nodes_.size(); ++index) {
    for (std::size_t to = index + 1; to < nodes_.size(); ++to) introduce(index, to);
  }
  await_links();
  assign_replicas();
  wait_until_ready();
}

std::size_t RedisCluster::start_node() {
  RedisServerOptions node{
      .config = replication_config(), .password = options_.password, .cluster = true};
  for (const std::string& line :
       {"cluster-node-timeout " + std::to_string(options_.node_timeout.count()),
        std::string("cluster-require-full-coverage no"),
        std::string("cluster-replica-validity-factor 0"),
        std::string("cluster-migration-barrier 100")}) {
    node.config.push_back(line);
  }
  node.config.insert(node.config.end(), options_.config.begin(), options_.config.end());
  auto server = std::make_unique<RedisServer>(std::move(node));
  std::string id = server->client()({"CLUSTER", "MYID"}).text();
  nodes_.push_back({.server = std::move(server), .id = std::move(id)});
  return nodes_.size() - 1;
}

void add_slots(const RedisServer& node, std::size_t first, std::size_t end) {
  constexpr std::size_t at_once = 4'096;  // an inline command has at most 64 KB
  while (first < end) {
    std::string command = "CLUSTER ADDSLOTS";
    for (const std::size_t stop = std::min(first + at_once, end); first < stop; ++first) {
      command += ' ' + std::to_string(first);
    }
    const Reply reply = node.client().send(command + "\r\n");
    if (reply.is_error()) throw std::runtime_error(reply.text());
  }
}

void RedisCluster::send(std::size_t index, std::initializer_list<std::string_view> words) {
  const Reply reply = node(index).client()(words);
  if (reply.is_error()) throw std::runtime_error(reply.text());
}

void RedisCluster::introduce(std::size_t index, std::size_t to) {
  send(index, {"CLUSTER", "MEET", "127.0.0.1", std::to_string(node(to).port())});
}

// A node forgets a handshake that takes longer than a second, as it may on a busy machine.
void RedisCluster::await_links() {
  constexpr std::chrono::seconds pause{3};
  auto repeat_at = std::chrono::steady_clock::now() + pause;
  await("nodes that know each other", [&] {
    std::string missing = missing_link();
    if (!missing.empty() && std::chrono::steady_clock::now() >= repeat_at) {
      introduce_unknown();
      repeat_at = std::chrono::steady_clock::now() + pause;
    }
    return missing;
  });
}

void RedisCluster::introduce_unknown() {
  for (const std::size_t index : serving()) {
    const ClusterView known = view(index);
    for (const std::size_t to : serving()) {
      const ClusterMember* const member = known.find(id(to));
      if (member == nullptr || member->unknown) introduce(index, to);
    }
  }
}

// Each node gets a different epoch, so that no two nodes have a conflict to resolve when they meet.
void RedisCluster::share_slots() {
  const std::size_t masters = options_.masters;
  for (std::size_t index = 0; index < nodes_.size(); ++index) {
    send(index, {"CLUSTER", "SET-CONFIG-EPOCH", std::to_string(index + 1)});
    if (index >= masters) continue;
    add_slots(node(index), index * slot_count / masters, (index + 1) * slot_count / masters);
  }
}

void RedisCluster::assign_replicas() {
  for (std::size_t index = options_.masters; index < nodes_.size(); ++index) {
    send(index, {"CLUSTER", "REPLICATE", id(index % options_.masters)});
  }
}

std::string RedisCluster::uri() const {
  constexpr std::size_t most = 3;
  std::string uri = "redis+cluster://";
  if (!options_.password.empty()) uri += ':' + options_.password + '@';
  std::size_t count = 0;
  for (const Node& each : nodes_) {
    if (!each.server || count == most) continue;
    if (count++ > 0) uri += ',';
    uri += "127.0.0.1:" + std::to_string(each.server->port());
  }
  return uri;
}

RedisServer& RedisCluster::node(std::size_t index) {
  if (!nodes_.at(index).server) throw std::runtime_error("this node was removed");
  return *nodes_[index].server;
}

std::size_t RedisCluster::index_of(std::string_view id) const {
  const auto found = std::ranges::find(nodes_, id, &Node::id);
  if (found == nodes_.end()) throw std::runtime_error("no node is called " + std::string(id));
  return static_cast<std::size_t>(found - nodes_.begin());
}

std::vector<std::size_t> RedisCluster::serving() const {
  std::vector<std::size_t> indexes;
  for (std::size_t index = 0; index < nodes_.size(); ++index) {
    if (nodes_[index].server && nodes_[index].server->serves()) indexes.push_back(index);
  }
  return indexes;
}

std::vector<std::size_t> RedisCluster::masters() {
  std::vector<std::size_t> indexes;
  const ClusterView seen = view(serving().at(0));
  for (const ClusterMember& member : seen.members()) {
    if (member.master && member.slots.any()) indexes.push_back(index_of(member.id));
  }
  std::ranges::sort(indexes);
  return indexes;
}

std::vector<std::size_t> RedisCluster::replicas_of(std::size_t master) {
  std::vector<std::size_t> indexes;
  const ClusterView seen = view(serving().at(0));
  for (const ClusterMember& member : seen.members()) {
    if (member.master_id == id(master)) indexes.push_back(index_of(member.id));
  }
  std::ranges::sort(indexes);
  return indexes;
}

std::size_t RedisCluster::slot_of(std::string_view key) {
  const Reply slot = node(serving().at(0)).client()({"CLUSTER", "KEYSLOT", key});
  return static_cast<std::size_t>(slot.integer());
}

std::size_t RedisCluster::owner_of(std::size_t slot) {
  const ClusterView seen = view(serving().at(0));
  const ClusterMember* const owner = seen.owner_of(slot);
  if (owner == nullptr) throw std::runtime_error("nobody owns slot " + std::to_string(slot));
  return index_of(owner->id);
}

ClusterView RedisCluster::view(std::size_t index) {
  return ClusterView(node(index).client()({"CLUSTER", "NODES"}).text());
}

void RedisCluster::wait_until_ready() {
  await("nodes that agree", [&] {
    std::string missing = disagreement();
    return missing.empty() ? lagging_replica() : missing;
  });
}

std::string RedisCluster::missing_link() {
  for (const std::size_t index : serving()) {
    if (std::string missing = missing_link_in(view(index)); !missing.empty()) return missing;
  }
  return {};
}

std::string RedisCluster::missing_link_in(const ClusterView& view) {
  const std::string node = "to " + view.myself().id + ", ";
  std::size_t count = 0;
  for (const Node& each : nodes_) {
    if (!each.server) continue;
    ++count;
    const ClusterMember* const member = view.find(each.id);
    if (member == nullptr || member->unknown) return node + each.id + " is not known";
    if (!member->addressed && view.members().size() > 1) return node + each.id + " is nowhere";
    if (!each.server->serves() || member->myself) continue;
    if (member->failing || !member->connected) return node + each.id + " is not reached";
  }
  return view.members().size() == count ? "" : node + "there are more nodes than there should be";
}

std::string RedisCluster::disagreement() {
  std::vector<ClusterView> views;
  for (const std::size_t index : serving()) {
    const std::string info = node(index).client()({"CLUSTER", "INFO"}).text();
    views.push_back(view(index));
    if (info_field(info, "cluster_state") != "ok") return id(index) + "'s state is not ok";
    if (!views.back().whole()) return "to " + id(index) + ", slots have no owner";
    if (std::string missing = missing_link_in(views.back()); !missing.empty()) return missing;
  }
  for (const ClusterView& one : views) {
    for (const ClusterView& other : views) {
      const ClusterMember* const member = one.find(other.myself().id);
      if (member == nullptr || !member->agrees_with(other.myself())) {
        return one.myself().id + " does not agree with " + other.myself().id;
      }
    }
  }
  return {};
}

std::string RedisCluster::lagging_replica() {
  for (const std::size_t index : serving()) {
    const std::string master_id = view(index).myself().master_id;
    if (master_id == "-") continue;
    const std::size_t master = index_of(master_id);
    if (!node(master).serves()) continue;
    if (std::string missing = lag(node(index), node(master)); !missing.empty()) return missing;
  }
  return {};
}

}  // namespace latchkey::tests
