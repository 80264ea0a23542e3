// Begins and ends faults on real processes, connections and servers.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <optional>

#include "chaos/deployment/deployment.hpp"
#include "chaos/faults/fault_plan.hpp"
#include "chaos/run/worker_pool.hpp"
#include "core/file_descriptor.hpp"
#include "support/servers/fault_proxy.hpp"

namespace latchkey::chaos {

/// All calls come from the thread that started the server and the workers, because these end with
/// that thread.
class FaultInjector {
 public:
  FaultInjector(Deployment& deployment, WorkerPool& workers);

  /// Returns the thread of the worker that the fault is done to; -1: all of them; most_threads:
  /// none.
  int begin(const PlannedFault& fault);
  /// A fault of a holder happens now: `record` gets its key, its times and what became of it.
  void end(const PlannedFault& fault, Fault& record);

 private:
  void begin_at_worker(const PlannedFault& fault);
  void end_at_worker(const PlannedFault& fault);
  void begin_at_link(const PlannedFault& fault, tests::FaultProxy& link);
  void end_at_link(const PlannedFault& fault, tests::FaultProxy& link);
  int begin_at_tool(const PlannedFault& fault);
  void end_at_tool();
  [[nodiscard]] bool takes_wishes(std::uint32_t worker) const;
  void ask_for_holder(const PlannedFault& fault);
  /// The key that a visitor holds, as the fault needs it.
  std::optional<int> find_held_key(const PlannedFault& fault);
  void end_at_holder(const PlannedFault& fault, Fault& record);

  Deployment& deployment_;
  WorkerPool& workers_;
  detail::FileDescriptor stopped_tool_;
  std::uint32_t visitor_ = 0;  ///< the worker that was asked for a visit
};

}  // namespace latchkey::chaos
