// One Redis server that Redisson shares.
// SPDX-License-Identifier: BSL-1.0
#include "chaos/deployment/redis/redisson.hpp"

#include "chaos/worker/shared_state.hpp"

namespace latchkey::chaos {

using enum FaultKind;

namespace {
constexpr std::uint32_t redisson_worker = 2;
}  // namespace

// Redisson's first token is 1. Those of the workload are microseconds (FencedWord).
SharedWithRedisson::SharedWithRedisson() {
  for (std::uint32_t key = 0; key < key_count; ++key) {
    send(*servers().front(), {"SET", "redisson_lock_token:{" + name_of_key(key) + '}',
                              std::to_string(first_token() + 1)});
  }
}

bool SharedWithRedisson::has(FaultKind kind) const noexcept {
  switch (kind) {
    case forbidden_command:
    case clock_forward:
    case clock_back: return false;
    default: return SingleServer::has(kind);
  }
}

bool SharedWithRedisson::suits(const PlannedFault& fault) const noexcept {
  switch (fault.kind) {
    case client_descriptors:
    case client_fork:
    case client_no_threads:
    case client_no_memory:
    case client_hang: return fault.worker != static_cast<int>(redisson_worker);
    case wrong_type:
    case delete_key: return fault.key != static_cast<int>(semaphore_key);
    default: return true;
  }
}

WorkerKind SharedWithRedisson::worker_kind(std::uint32_t worker) const noexcept {
  return worker == redisson_worker ? WorkerKind::redisson : SingleServer::worker_kind(worker);
}

}  // namespace latchkey::chaos
