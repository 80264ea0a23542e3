// A Redis Cluster that belongs to one test.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "support/polling.hpp"
#include "support/servers/cluster_view.hpp"
#include "support/servers/redis_server.hpp"
#include "support/servers/slot_mover.hpp"

namespace latchkey::tests {

struct RedisClusterOptions {
  std::size_t masters = 3;
  /// The number of replicas of each master.
  std::size_t replicas = 1;
  /// How long a node may be silent before the others regard it as failed.
  std::chrono::milliseconds node_timeout{1000};
  /// The password of all nodes: letters and digits.
  std::string password{};
  /// Lines of redis.conf for each node.
  std::vector<std::string> config{};
};

/// Assigns the slots `first` to `end` - 1 to the node. Lists each slot, because Redis 6 has no
/// ranges.
void add_slots(const RedisServer& node, std::size_t first, std::size_t end);

/// Nodes that share the slots evenly. When the constructor returns, all nodes agree on the owners
/// of slots, and replicas are in sync. That takes 2 s, because a new master reports the state "ok"
/// late.
///
/// A test may also kill, stop, resume and start nodes itself. A node keeps its index: first
/// masters, then replicas (of master 0, 1, 2, 0, …), then added nodes. Replicas follow their slots
/// and do not migrate to masters without a replica. Every wait throws std::runtime_error at its
/// limit.
class RedisCluster {
 public:
  explicit RedisCluster(RedisClusterOptions options = {});

  /// redis+cluster://127.0.0.1:p1,127.0.0.1:p2,127.0.0.1:p3, with the password. Names at most three
  /// nodes.
  [[nodiscard]] std::string uri() const;

  /// Throws if the node was removed.
  [[nodiscard]] RedisServer& node(std::size_t index);
  [[nodiscard]] const std::string& id(std::size_t index) const { return nodes_.at(index).id; }
  /// Sorted indexes: of all nodes that serve, of masters that own slots, of a master's replicas.
  [[nodiscard]] std::vector<std::size_t> serving() const;
  [[nodiscard]] std::vector<std::size_t> masters();
  [[nodiscard]] std::vector<std::size_t> replicas_of(std::size_t master);

  [[nodiscard]] std::size_t slot_of(std::string_view key);
  /// As the first node that serves reports it.
  [[nodiscard]] std::size_t owner_of(std::size_t slot);
  /// As one node reports it.
  [[nodiscard]] ClusterView view(std::size_t index);

  /// Migrates a slot: begin_migration, move_keys, end_migration. Returns when all nodes know the
  /// new owner. end_migration throws if the old owner still has keys of the slot.
  void migrate_slot(std::size_t slot, std::size_t from, std::size_t to);
  void begin_migration(std::size_t slot, std::size_t from, std::size_t to);
  std::size_t move_keys(std::size_t slot, std::size_t from, std::size_t to,
                        std::size_t most = SlotMover::all);
  void move_these(const std::vector<std::string>& keys, std::size_t from, std::size_t to);
  void end_migration(std::size_t slot, std::size_t from, std::size_t to);

  /// Promotes a replica while its master still serves; nothing is lost. Returns when all nodes
  /// agree. Waits first if the same nodes had an election less than 4 s ago.
  Election fail_over(std::size_t replica);
  /// Kills a master that has a replica. Returns when all others agree on its successor. Waits first
  /// as above.
  Election kill_master(std::size_t master);
  /// Starts or resumes a node, and calls wait_until_ready(). Afterwards the node is a replica if
  /// another one replaced it.
  void restore(std::size_t index);

  /// Adds an empty master. Returns its index.
  std::size_t add_node();
  /// Moves a node's slots to the other masters, makes all others forget it, and ends it. All nodes
  /// must serve. Its replicas become replicas of another master.
  void remove_node(std::size_t index);

  /// Waits until all nodes that serve know each other, agree on the owners of slots and report the
  /// state ok, and replicas are in sync.
  void wait_until_ready();

 private:
  struct Node {
    std::unique_ptr<RedisServer> server;
    std::string id;
    std::chrono::steady_clock::time_point replaced{}, elected{};  ///< when this last happened
  };

  std::size_t start_node();
  void send(std::size_t index, std::initializer_list<std::string_view> words);
  void introduce(std::size_t index, std::size_t to);
  void introduce_unknown();
  void await_links();
  void share_slots();
  void assign_replicas();
  [[nodiscard]] std::size_t index_of(std::string_view id) const;
  [[nodiscard]] SlotMover mover(std::size_t from, std::size_t to);
  [[nodiscard]] SlotMover mover(std::size_t from, std::size_t to,
                                const std::vector<const RedisServer*>& others);
  [[nodiscard]] std::size_t first_slot_of(std::size_t master);
  Election await_successor(std::size_t master, std::size_t slot,
                           const std::function<void()>& retry);
  void let_elections_age(std::size_t master, std::size_t replica);
  void give_slots_away(std::size_t index);
  [[nodiscard]] std::string missing_link();
  [[nodiscard]] std::string missing_link_in(const ClusterView& view);
  [[nodiscard]] std::string disagreement();
  [[nodiscard]] std::string lagging_replica();

  RedisClusterOptions options_;
  std::vector<Node> nodes_;
};

}  // namespace latchkey::tests
