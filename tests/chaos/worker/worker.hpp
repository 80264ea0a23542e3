// The process of a worker: `latchkey_chaos --worker …`.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "chaos/worker/lock_source.hpp"

namespace latchkey::chaos {

/// The arguments of a worker. It reaches its server by a fault proxy on `port`, and the memory that
/// it shares by the descriptor `memory`, which it inherits.
struct WorkerArguments {
  std::uint32_t worker = 0, threads = 0;
  int memory = -1;
  std::uint16_t port = 0;
  std::uint64_t seed = 0;
  Client client = Client::latchkey;
  WorkerKind kind = WorkerKind::threads;
  LockTypes types = 0;
  std::string uri;

  /// As `parse` reads them.
  [[nodiscard]] std::vector<std::string> words() const;
  static WorkerArguments parse(const std::vector<std::string>& words);
};

/// Runs until the phase is `over`. Returns the exit status.
int run_worker(const WorkerArguments& arguments);

}  // namespace latchkey::chaos
