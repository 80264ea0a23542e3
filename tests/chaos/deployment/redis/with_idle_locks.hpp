// One Redis server whose locks stay idle with processes that have released them.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "chaos/deployment/redis/single_server.hpp"

namespace latchkey::chaos {

/// A single server on which all workers but that of coroutines and the last of four keep what they
/// have released.
class WithIdleLocks final : public SingleServer {
 public:
  [[nodiscard]] WorkerKind worker_kind(std::uint32_t worker) const noexcept override {
    const WorkerKind kind = SingleServer::worker_kind(worker);
    return kind == WorkerKind::threads && worker != 3 ? WorkerKind::idle : kind;
  }
};

}  // namespace latchkey::chaos
