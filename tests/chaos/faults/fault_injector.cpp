// Begins and ends faults of workers and servers.
// SPDX-License-Identifier: BSL-1.0
#include "chaos/faults/fault_injector.hpp"

namespace latchkey::chaos {

using enum FaultKind;

FaultInjector::FaultInjector(Deployment& deployment, WorkerPool& workers)
    : deployment_(deployment), workers_(workers) {}

int FaultInjector::begin(const PlannedFault& fault) {
  if (is_of_tool(fault.kind)) return begin_at_tool(fault);
  if (is_of_holder(fault.kind)) {
    ask_for_holder(fault);
  } else if (fault.worker < 0) {
    deployment_.begin(fault);
  } else {
    begin_at_worker(fault);
    begin_at_link(fault, workers_.link(static_cast<std::uint32_t>(fault.worker)));
  }
  return -1;
}

void FaultInjector::end(const PlannedFault& fault, Fault& record) {
  if (is_of_tool(fault.kind)) return end_at_tool();
  if (is_of_holder(fault.kind)) return end_at_holder(fault, record);
  if (fault.worker < 0) return deployment_.end(fault);
  end_at_worker(fault);
  end_at_link(fault, workers_.link(static_cast<std::uint32_t>(fault.worker)));
}

void FaultInjector::begin_at_worker(const PlannedFault& fault) {
  const auto worker = static_cast<std::uint32_t>(fault.worker);
  switch (fault.kind) {
    case client_stop_short:
    case client_stop_long: return workers_.process(worker).stop();
    case client_kill: return workers_.kill(worker);
    case client_fork: workers_.want_fork(worker); return;
    case client_no_threads: return workers_.want_lack(worker, Lack::threads);
    case client_no_memory: return workers_.want_lack(worker, Lack::memory);
    case client_hang: workers_.want_visit(worker, Wish::hang); return;
    case client_descriptors:
      workers_.limit_descriptors(worker, true);
      return workers_.link(worker).cut();
    default: return;
  }
}

void FaultInjector::end_at_worker(const PlannedFault& fault) {
  const auto worker = static_cast<std::uint32_t>(fault.worker);
  switch (fault.kind) {
    case client_stop_short:
    case client_stop_long: return workers_.process(worker).resume();
    case client_kill: return workers_.start(worker);
    case client_no_memory: return workers_.want_lack(worker, Lack::nothing);
    case client_descriptors: return workers_.limit_descriptors(worker, false);
    default: return;
  }
}

}  // namespace latchkey::chaos
