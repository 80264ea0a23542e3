// Moves a hash slot from one node of a cluster to another.
#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "support/servers/redis_client.hpp"
#include "support/servers/redis_server.hpp"

namespace latchkey::tests {

/// The source or the target of a move.
struct SlotOwner {
  const RedisServer& server;
  std::string id;  ///< as in CLUSTER NODES
};

/// Moves slots in three steps, each of which is visible to clients. Uses one connection to each
/// node. Throws std::runtime_error with the error of a server that refuses.
class SlotMover {
 public:
  static constexpr std::size_t all = std::numeric_limits<std::size_t>::max();

  /// `others` are the other masters; `password` is that of `to`.
  SlotMover(const SlotOwner& from, const SlotOwner& to,
            const std::vector<const RedisServer*>& others, std::string password);

  /// From now on the old node replies ASK for keys that it does not have.
  void begin(std::size_t slot);
  /// Moves at most `most` keys. Returns how many were moved.
  std::size_t move_keys(std::size_t slot, std::size_t most = all);
  void migrate(const std::vector<std::string>& keys);
  /// From now on the old node replies MOVED. All keys must have been moved.
  void end(std::size_t slot);

  void move(std::size_t slot) { begin(slot), move_keys(slot), end(slot); }

 private:
  void send_migrate(const std::vector<std::string>& keys, bool replace);
  struct Node {
    const RedisServer* server;
    RedisClient client;
  };

  void assign(Node& node, std::size_t slot);

  std::string from_id_, to_id_, to_port_, password_;
  RedisClient to_;
  Node from_;
  std::vector<Node> others_;
};

}  // namespace latchkey::tests
