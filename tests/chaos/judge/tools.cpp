// The promise of docs/cli.md for a tool that is killed: the command that it runs ends at once.
// SPDX-License-Identifier: BSL-1.0
#include <string>

#include "chaos/judge/excuses.hpp"

namespace latchkey::chaos {

void judge_tools(const History& history, Violations& found) {
  for (const Fault& fault : history.faults) {
    if (fault.kind != FaultKind::tool_kill) continue;
    const Nanos latest = fault.begun + history.limits.reaction;
    for (const Visit& visit : history.visits) {
      if (visit.outcome != Outcome::granted || !is_of_program(fault, visit)) continue;
      if (visit.entered > fault.begins || visit.held_until <= latest) continue;
      if (stalled(history, fault.begins, latest)) continue;
      found.push_back(
          {"a command outlives its tool",
           "tool killed at " + at(history, fault.begins) + "\n    " + describe(history, visit)});
    }
  }
}

}  // namespace latchkey::chaos
