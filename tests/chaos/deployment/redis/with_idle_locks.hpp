// One Redis server whose locks stay idle with processes that have released them.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "chaos/deployment/redis/single_server.hpp"

namespace latchkey::chaos {

/// A single server, on which each worker has a key that others seldom ask for, and keeps what it
/// has released.
class WithIdleLocks final : public SingleServer {
 public:
  [[nodiscard]] WorkerKind worker_kind(std::uint32_t /*worker*/) const noexcept override {
    return WorkerKind::idle;
  }
};

}  // namespace latchkey::chaos
