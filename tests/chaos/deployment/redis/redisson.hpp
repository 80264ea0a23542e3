// One Redis server that Redisson shares.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "chaos/deployment/redis/single_server.hpp"

namespace latchkey::chaos {

/// A single server on which one worker locks with Redisson. Left out are the faults that Redisson
/// is known not to survive:
///
/// | fault | with Redisson |
/// |---|---|
/// | forbidden command | a script that stops half way leaves a lock without a TTL, for ever |
/// | the server's clock jumps | times in its fair queues and semaphores are those of the client |
/// | key of another type, or deleted, of a semaphore | a release makes one with fewer permits |
/// | held too long, by its worker | Redisson has no such limit |
/// | descriptors, threads and memory of its worker | are those of the Java process |
class SharedWithRedisson final : public SingleServer {
 public:
  SharedWithRedisson();

  [[nodiscard]] bool has(FaultKind kind) const noexcept override;
  [[nodiscard]] bool suits(const PlannedFault& fault) const noexcept override;
  [[nodiscard]] WorkerKind worker_kind(std::uint32_t worker) const noexcept override;
  /// Redisson may leave a place in the queue of a FAIR key behind, and listen for it still. It
  /// keeps the others waiting for 15 s more.
  [[nodiscard]] Limits limits() const override { return {.hang_of_key = 31'000 * millisecond}; }

 protected:
  /// They have no TTL, and keep the waiters for which Redisson could not undo an attempt.
  [[nodiscard]] bool leaves_fair_queues() const noexcept override { return true; }
};

}  // namespace latchkey::chaos
