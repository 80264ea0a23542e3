// One node's reply to CLUSTER NODES.
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace latchkey::tests {

inline constexpr std::size_t slot_count = 16384;

/// A line of CLUSTER NODES. `failing`: the node that replied, at least, cannot reach this one.
/// `unknown`: this one is in the handshake, or has no known address.
struct ClusterMember {
  std::string id;
  std::uint16_t port = 0;
  bool myself = false, master = false, failing = false, unknown = false, connected = false;
  bool addressed = false;   ///< false until a node has learned its own address from another one
  std::string master_id{};  ///< a replica's master
  std::bitset<slot_count> slots{};

  /// Whether both lines describe the same node with the same role and slots.
  [[nodiscard]] bool agrees_with(const ClusterMember& other) const {
    return id == other.id && port == other.port && master == other.master &&
           master_id == other.master_id && slots == other.slots;
  }
};

/// All lines of one node's CLUSTER NODES.
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
