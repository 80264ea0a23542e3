// A hash slot's way from one node of a cluster to another.
#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "support/redis_client.hpp"
#include "support/redis_server.hpp"

namespace latchkey::tests {

/// One end of the way.
struct SlotPlace {
  const RedisServer& server;
  std::string id;  ///< as in CLUSTER NODES
};

/// Moves slots in the three steps in which clients may meet them. Uses one connection to each node
/// for all of them. Throws std::runtime_error with what a server refused.
class SlotMover {
 public:
  static constexpr std::size_t all = std::numeric_limits<std::size_t>::max();

  /// `others` are the other masters; `password` is that of `to`.
  SlotMover(const SlotPlace& from, const SlotPlace& to,
            const std::vector<const RedisServer*>& others, std::string password);

  /// From here on the old node says ASK for keys that it does not have, or no longer.
  void begin(std::size_t slot);
  /// Moves so many keys or less; how many?
  std::size_t move_keys(std::size_t slot, std::size_t most = all);
  /// Moves these keys.
  void migrate(const std::vector<std::string>& keys);
  /// From here on the old node says MOVED. All keys must have been moved.
  void end(std::size_t slot);

  void move(std::size_t slot) { begin(slot), move_keys(slot), end(slot); }

 private:
  struct Node {
    const RedisServer* server;
    RedisClient client;
  };

  void tell(Node& node, std::size_t slot);

  std::string from_id_, to_id_, to_port_, password_;
  RedisClient to_;
  Node from_;
  std::vector<Node> others_;
};

}  // namespace latchkey::tests
