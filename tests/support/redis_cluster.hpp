// A Redis Cluster of a test's own.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "support/cluster_view.hpp"
#include "support/polling.hpp"
#include "support/redis_server.hpp"
#include "support/slot_mover.hpp"

namespace latchkey::tests {

struct RedisClusterOptions {
  std::size_t masters = 3;
  /// Of each master.
  std::size_t replicas = 1;
  /// So long a node may be silent.
  std::chrono::milliseconds node_timeout{1000};
  /// Of all nodes; letters and digits.
  std::string password{};
  /// Lines of redis.conf for each node.
  std::vector<std::string> config{};
};

/// The node serves the slots from `first` until `end`. One by one: Redis 6 knows no ranges.
void add_slots(const RedisServer& node, std::size_t first, std::size_t end);

/// Nodes that share the slots evenly. When the constructor returns, all agree on who owns what, and
/// replicas are in sync. That takes 2 s, for which a new master keeps its state from "ok".
///
/// Nodes may be killed, stopped, resumed and started by hand, too. They have indexes, which stay
/// theirs: the first masters, then the replicas (of master 0, 1, 2, 0, …), then who is added.
/// Replicas follow their slots, and never leave for a master that has no replica. What is waited
/// for too long is a std::runtime_error.
class RedisCluster {
 public:
  explicit RedisCluster(RedisClusterOptions options = {});

  /// redis+cluster://127.0.0.1:p1,127.0.0.1:p2,127.0.0.1:p3, with the password: three nodes or
  /// less.
  [[nodiscard]] std::string uri() const;

  /// Throws where the node was removed.
  [[nodiscard]] RedisServer& node(std::size_t index);
  [[nodiscard]] const std::string& id(std::size_t index) const { return nodes_.at(index).id; }
  /// Indexes, in order: of all nodes that serve, of those masters that own slots, of a master's
  /// replicas.
  [[nodiscard]] std::vector<std::size_t> serving() const;
  [[nodiscard]] std::vector<std::size_t> masters();
  [[nodiscard]] std::vector<std::size_t> replicas_of(std::size_t master);

  [[nodiscard]] std::size_t slot_of(std::string_view key);
  /// In the eyes of the first node that serves.
  [[nodiscard]] std::size_t owner_of(std::size_t slot);
  /// What one node says.
  [[nodiscard]] ClusterView view(std::size_t index);

  /// All three steps; back when all nodes know the new owner. Without a slot's last key gone, the
  /// third step is refused.
  void migrate_slot(std::size_t slot, std::size_t from, std::size_t to);
  void begin_migration(std::size_t slot, std::size_t from, std::size_t to);
  std::size_t move_keys(std::size_t slot, std::size_t from, std::size_t to,
                        std::size_t most = SlotMover::all);
  void move_these(const std::vector<std::string>& keys, std::size_t from, std::size_t to);
  void end_migration(std::size_t slot, std::size_t from, std::size_t to);

  /// Makes a replica the master while its master still serves; nothing is lost. Back when all nodes
  /// agree. Waits first where the same nodes were elected less than 4 s ago.
  Election fail_over(std::size_t replica);
  /// SIGKILL to a master that has a replica; back when all that live agree on its successor. Waits
  /// as above.
  Election kill_master(std::size_t master);
  /// Starts a node again, or wakes it; back as wait_until_ready(): it has become a replica then, if
  /// another took its place.
  void restore(std::size_t index);

  /// An empty master joins; its index.
  std::size_t add_node();
  /// Gives a node's slots to the other masters, has all others forget it, and ends it. All nodes
  /// must serve. Replicas that it had follow its slots.
  void remove_node(std::size_t index);

  /// Waits until all nodes that serve know each other, agree on who owns what and say that their
  /// state is ok, and replicas are in sync.
  void wait_until_ready();

 private:
  struct Node {
    std::unique_ptr<RedisServer> server;
    std::string id;
    std::chrono::steady_clock::time_point replaced{}, elected{};  ///< when last
  };

  std::size_t start_node();
  void tell(std::size_t index, std::initializer_list<std::string_view> words);
  void introduce(std::size_t index, std::size_t to);
  void share_slots();
  void assign_replicas();
  [[nodiscard]] std::size_t index_of(std::string_view id) const;
  [[nodiscard]] SlotMover mover(std::size_t from, std::size_t to);
  [[nodiscard]] SlotMover mover(std::size_t from, std::size_t to,
                                const std::vector<const RedisServer*>& others);
  [[nodiscard]] std::size_t first_slot_of(std::size_t master);
  Election await_successor(std::size_t master, std::size_t slot,
                           const std::function<void()>& nudge);
  void let_elections_age(std::size_t master, std::size_t replica);
  void give_slots_away(std::size_t index);
  [[nodiscard]] std::string stranger();
  [[nodiscard]] std::string stranger_in(const ClusterView& view);
  [[nodiscard]] std::string disagreement();
  [[nodiscard]] std::string lagging_replica();

  RedisClusterOptions options_;
  std::vector<Node> nodes_;
};

}  // namespace latchkey::tests
