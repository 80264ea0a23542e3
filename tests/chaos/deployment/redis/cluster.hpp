// A Redis Cluster.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "chaos/deployment/redis/redis_deployment.hpp"
#include "support/servers/redis_cluster.hpp"

namespace latchkey::chaos {

/// Three masters, which workers reach without proxies, because nodes tell clients where slots are.
class Cluster : public RedisDeployment {
 public:
  Cluster();

  [[nodiscard]] std::vector<const tests::RedisServer*> servers() const override;
  [[nodiscard]] std::string uri(std::uint16_t port) const override;
  [[nodiscard]] bool has(FaultKind kind) const noexcept override;
  void begin(const PlannedFault& fault) override;
  void end(const PlannedFault& fault) override;

 private:
  struct Move {
    std::size_t slot = 0, from = 0, to = 0;
  };

  /// The node that owns the key of the fault; all nodes, if it is no fault of a key.
  [[nodiscard]] std::vector<const tests::RedisServer*> servers_of(const PlannedFault& fault) const;
  [[nodiscard]] std::size_t slot_of(const PlannedFault& fault) const;
  [[nodiscard]] std::size_t node_of(const PlannedFault& fault) const {
    return static_cast<std::size_t>(fault.strength) % masters;
  }
  void begin_move(const PlannedFault& fault);
  void end_move();

  static constexpr std::size_t masters = 3;
  mutable tests::RedisCluster cluster_;
  Move move_;
};

}  // namespace latchkey::chaos
