// A master, its replicas, and sentinels.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "chaos/deployment/redis/redis_deployment.hpp"
#include "support/servers/sentinel_group.hpp"

namespace latchkey::chaos {

/// A master, two replicas and three sentinels, which workers reach without proxies, because
/// sentinels tell clients where the master is. A fault ends when all know the master and are in
/// sync, so that the next one finds replicas to promote.
class Sentinels final : public RedisDeployment {
 public:
  static constexpr int replicas = 2;

  explicit Sentinels(int min_replicas);

  [[nodiscard]] std::vector<const tests::RedisServer*> servers() const override;
  [[nodiscard]] std::string uri(std::uint16_t port) const override;
  [[nodiscard]] bool has(FaultKind kind) const noexcept override;
  /// Data is lost only if the master was replaced, and not if all replicas confirm each grant:
  /// docs/redis.md. While one of them is away, nothing is granted then.
  [[nodiscard]] unsigned excuses(const PlannedFault& fault) const override;
  /// Sentinels replace a master that a busy machine stops for too long.
  std::optional<FaultKind> surprise() override;
  /// Processes have places in a queue unless replicas confirm each grant.
  [[nodiscard]] Limits limits() const override { return {.process_queue = min_replicas_ == 0}; }
  void begin(const PlannedFault& fault) override;
  void end(const PlannedFault& fault) override;

 private:
  [[nodiscard]] tests::RedisServer& master() { return group_.server_at(master_port_); }
  [[nodiscard]] tests::RedisServer& replica(const PlannedFault& fault);
  void note_master();
  void stop_sentinels(const PlannedFault& fault);
  void thaw(const PlannedFault& fault);
  void restore();

  static constexpr int sentinels = 3;
  const int min_replicas_;
  mutable tests::SentinelGroup group_;
  std::uint16_t master_port_;
  bool replaced_ = false;   ///< the master, by the last fault
  bool surprised_ = false;  ///< the master was replaced although no fault was to do so
};

}  // namespace latchkey::chaos
