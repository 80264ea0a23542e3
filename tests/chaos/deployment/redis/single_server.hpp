// One Redis server.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <string>
#include <thread>
#include <vector>

#include "chaos/deployment/redis/redis_deployment.hpp"
#include "chaos/deployment/redis/wall_clock.hpp"

namespace latchkey::chaos {

/// A server that keeps its data when it is killed, behind a fault proxy for each worker.
class SingleServer : public RedisDeployment {
 public:
  SingleServer();

  [[nodiscard]] std::vector<const tests::RedisServer*> servers() const override {
    return {&server_};
  }
  [[nodiscard]] std::string uri(std::uint16_t port) const override {
    return "redis://127.0.0.1:" + std::to_string(port);
  }
  [[nodiscard]] bool has(FaultKind kind) const noexcept override;
  void begin(const PlannedFault& fault) override;
  void end(const PlannedFault& fault) override;

 protected:
  /// The options of a server that keeps its data when it is killed.
  [[nodiscard]] static tests::RedisServerOptions persistent();
  [[nodiscard]] tests::RedisServer& server() noexcept { return server_; }

 private:
  void run_busy_script(int length_ms);

  WallClock clock_;
  tests::RedisServer server_;
  std::jthread busy_script_;
};

}  // namespace latchkey::chaos
