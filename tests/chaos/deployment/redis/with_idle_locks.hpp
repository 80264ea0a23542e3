// Redis servers whose locks stay idle with processes that have released them.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "chaos/deployment/deployment.hpp"

namespace latchkey::chaos {

/// The servers of `Servers`, on which each worker has a key that others seldom ask for, and keeps
/// what it has released.
template <class Servers>
class WithIdleLocks final : public Servers {
 public:
  [[nodiscard]] WorkerKind worker_kind(std::uint32_t /*worker*/) const noexcept override {
    return WorkerKind::idle;
  }
};

}  // namespace latchkey::chaos
