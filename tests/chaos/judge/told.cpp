// A holder is told of a deleted key without a question, and then it stops.
// SPDX-License-Identifier: BSL-1.0
#include <algorithm>

#include "chaos/judge/excuses.hpp"

namespace latchkey::chaos {
namespace {

/// guarantees.md: a hold is watched from half a second after its grant on. A check asks for that.
constexpr Nanos watched_after = 500 * millisecond;

bool is_watched(const History& history, const Visit& visit, const Fault& deleted) {
  return visit.outcome == Outcome::granted && static_cast<int>(visit.key) == deleted.key &&
         visit.type != LockType::PERMIT && !is_foreign(history, visit.worker) &&
         visit.entered + watched_after + history.limits.latency <= deleted.begins;
}

void check_deleted(const History& history, const Fault& deleted, Violations& found) {
  for (const Visit& visit : history.visits) {
    if (!is_watched(history, visit, deleted)) continue;
    const Nanos latest = deleted.ended + history.limits.told;
    if (visit.held_until <= latest) continue;
    // A new connection watches only after the next check, and a machine that stalls reads nothing.
    if (impaired(history, visit.worker, visit.entered, latest)) continue;
    found.push_back({"a holder is not told that its key was deleted",
                     "at " + at(history, deleted.begins) + "\n    " + describe(history, visit)});
  }
}

}  // namespace

void judge_told(const History& history, Violations& found) {
  for (const Fault& fault : history.faults) {
    const bool deleted = fault.kind == FaultKind::delete_watched && fault.key != no_key;
    if (deleted && fault.watched && fault.ended != 0) check_deleted(history, fault, found);
  }
  for (const Visit& visit : history.visits) {
    if (visit.told == 0 || visit.written <= visit.told) continue;
    found.push_back({"a visitor writes although it was told of its loss",
                     describe(history, visit) + " told " + at(history, visit.told) + " written " +
                         at(history, visit.written)});
  }
}

}  // namespace latchkey::chaos
