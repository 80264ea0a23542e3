// CLUSTER NODES as one node of a cluster replies to it.
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace latchkey::tests {

inline constexpr std::size_t slot_count = 16384;

/// A line of CLUSTER NODES.
struct ClusterMember {
  std::string id;
  std::uint16_t port = 0;
  bool myself = false, master = false, failing = false, unknown = false, connected = false;
  bool addressed = false;   ///< a node learns its own address from the first that it meets
  std::string master_id{};  ///< of a replica
  std::bitset<slot_count> slots{};

  /// Whether it is the same node in the same role.
  [[nodiscard]] bool agrees_with(const ClusterMember& other) const {
    return id == other.id && port == other.port && master == other.master &&
           master_id == other.master_id && slots == other.slots;
  }
};

/// All lines of one node's CLUSTER NODES. `unknown` counts nodes in the handshake, `failing` those
/// that this node, at least, cannot reach.
class ClusterView {
 public:
  explicit ClusterView(std::string_view cluster_nodes);

  [[nodiscard]] const std::vector<ClusterMember>& members() const noexcept { return members_; }
  [[nodiscard]] const ClusterMember& myself() const;
  /// Null if there is none.
  [[nodiscard]] const ClusterMember* find(std::string_view id) const;
  [[nodiscard]] const ClusterMember* owner_of(std::size_t slot) const;
  /// Whether every slot has an owner.
  [[nodiscard]] bool whole() const;

 private:
  std::vector<ClusterMember> members_;
};

}  // namespace latchkey::tests
