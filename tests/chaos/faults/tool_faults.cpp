// Begins and ends the faults of the tools that a worker has started.
// SPDX-License-Identifier: BSL-1.0
#include <poll.h>

#include <csignal>
#include <optional>
#include <utility>

#include "chaos/faults/fault_injector.hpp"
#include "chaos/worker/pidfd.hpp"

namespace latchkey::chaos {
namespace {

struct RunningTool {
  int thread = -1;
  detail::FileDescriptor process{};
};

/// A tool whose command runs, the first of those from thread `first` on.
std::optional<RunningTool> find_holder(const WorkerState& worker, std::uint32_t first) {
  for (std::uint32_t index = 0; index < most_threads; ++index) {
    const std::uint32_t thread = (first + index) % most_threads;
    const ToolState& tool = worker.tools.at(thread);
    const int id = tool.process;
    if (id == 0 || !tool.holds) continue;
    detail::FileDescriptor process = open_process(id);
    // The worker names a tool until it waits for it, so the descriptor is of no other process.
    if (!process.valid() || tool.process != id) continue;
    return RunningTool{static_cast<int>(thread), std::move(process)};
  }
  return std::nullopt;
}

}  // namespace

// Seldom none holds. Nothing reports the first that does.
int FaultInjector::begin_at_tool(const PlannedFault& fault) {
  const WorkerState& worker = workers_.state().workers.at(static_cast<std::size_t>(fault.worker));
  std::optional<RunningTool> tool;
  for (const Nanos end = now() + 500 * millisecond; !tool && now() < end;) {
    tool = find_holder(worker, static_cast<std::uint32_t>(fault.strength));
    if (!tool) ::poll(nullptr, 0, 1);
  }
  if (!tool) return most_threads;
  const int number = fault.kind == FaultKind::tool_kill ? SIGKILL : SIGSTOP;
  signal_process(tool->process, number);
  stopped_tool_ = std::move(tool->process);
  return tool->thread;
}

void FaultInjector::end_at_tool() {
  if (stopped_tool_.valid()) signal_process(stopped_tool_, SIGCONT);
  stopped_tool_.reset();
}

}  // namespace latchkey::chaos
