// One Redis server that the command line tool shares.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "chaos/deployment/redis/single_server.hpp"

namespace latchkey::chaos {

/// A single server on which one worker locks with the command line tool.
class SharedWithTool final : public SingleServer {
 public:
  [[nodiscard]] bool has(FaultKind kind) const noexcept override {
    return is_of_tool(kind) || SingleServer::has(kind);
  }
  /// The visits of the tool have no limit.
  [[nodiscard]] bool suits(const PlannedFault& fault) const noexcept override {
    return fault.kind != FaultKind::client_hang || fault.worker != tool_worker;
  }
  [[nodiscard]] WorkerKind worker_kind(std::uint32_t worker) const noexcept override {
    const bool is_tool = static_cast<int>(worker) == tool_worker;
    return is_tool ? WorkerKind::tool : SingleServer::worker_kind(worker);
  }
  [[nodiscard]] Limits limits() const override { return {.tool_worker = tool_worker}; }
};

}  // namespace latchkey::chaos
