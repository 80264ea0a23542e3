// Requests to release a lock: each reaches those who listen, and it is no loss.
// SPDX-License-Identifier: BSL-1.0
#include <algorithm>
#include <set>
#include <string>

#include "chaos/judge/excuses.hpp"

namespace latchkey::chaos {
namespace {

bool is_of_key(const Fault& fault, const Visit& visit) noexcept {
  return fault.kind == FaultKind::revocation && fault.key == static_cast<int>(visit.key);
}

/// Whether the visitor listened before it was asked, and held the lock until `last`.
bool surely_listens(const History& history, const Visit& visit, const Fault& asked, Nanos last) {
  return is_of_key(asked, visit) && visit.outcome == Outcome::granted && visit.listens &&
         visit.entered + history.limits.latency <= asked.begins &&
         std::max(visit.held_until, visit.asked) >= last &&
         !impaired(history, visit.worker, visit.entered, last);
}

/// Whether this request is what the visitor heard of.
bool heard(const History& history, const Visit& visit, const Fault& asked, Nanos latest) {
  return is_of_key(asked, visit) && visit.asked >= asked.begins && visit.asked <= latest &&
         !impaired(history, visit.worker, asked.begins, latest);
}

void check_reached(const History& history, const Fault& asked, Violations& found) {
  const Nanos latest = asked.ended + history.limits.told;
  std::set<std::uint32_t> processes;
  for (const Visit& visit : history.visits) {
    if (surely_listens(history, visit, asked, asked.ended) ||
        heard(history, visit, asked, latest)) {
      processes.insert(visit.worker);
    }
    if (!surely_listens(history, visit, asked, latest)) continue;
    if (visit.asked != 0 && visit.asked <= latest) continue;
    found.push_back({"a request to release does not reach a holder that listens",
                     "at " + at(history, asked.begins) + "\n    " + describe(history, visit)});
  }
  if (asked.reached >= static_cast<int>(processes.size())) return;
  found.push_back({"a request to release that reaches a holder is not counted",
                   std::to_string(asked.reached) + " of " + std::to_string(processes.size()) +
                       " processes at " + at(history, asked.begins)});
}

/// Whether the visitor may be one that `asked` was meant for, or that held the lock when a process
/// whose replies are late was told.
bool may_have_asked(const History& history, const Fault& asked, const Visit& visit) {
  if (!is_of_key(asked, visit) || asked.begins > visit.asked) return false;
  const bool late = impaired(history, visit.worker, asked.begins, visit.asked);
  return late || visit.called <= asked.ended + history.limits.told;
}

void check_cause(const History& history, const Visit& visit, Violations& found) {
  const auto is_cause = [&](const Fault& fault) { return may_have_asked(history, fault, visit); };
  if (visit.asked == 0 || std::ranges::any_of(history.faults, is_cause)) return;
  found.push_back({"a holder is asked to release a lock that nobody asked for",
                   describe(history, visit) + " asked " + at(history, visit.asked)});
}

}  // namespace

void judge_revocations(const History& history, Violations& found) {
  for (const Fault& fault : history.faults) {
    const bool happened = fault.kind == FaultKind::revocation && fault.ended != 0;
    if (happened && fault.reached >= 0) check_reached(history, fault, found);
  }
  for (const Visit& visit : history.visits) check_cause(history, visit, found);
}

}  // namespace latchkey::chaos
