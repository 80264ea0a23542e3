// Every call ends in a way that guarantees.md names.
// SPDX-License-Identifier: BSL-1.0
#include <algorithm>

#include "chaos/judge/excuses.hpp"

namespace latchkey::chaos {
namespace {

bool may_be_refused(const History& history, const Visit& visit) {
  return std::ranges::any_of(history.faults, [&](const Fault& fault) {
    return fault.has(refuses) && (fault.key == -1 || fault.key == static_cast<int>(visit.key)) &&
           meets(visit.called, visit.ended, fault.begins, end_of(fault) + history.limits.latency);
  });
}

/// A busy machine may need longer for a reply than the wait, or than what was left of it when a
/// call of the same process, which came first, ended.
bool has_little_time(const History& history, const Visit& visit) {
  if (visit.wait == 0) return false;
  if (visit.wait < history.limits.reply) return true;
  return std::ranges::any_of(history.visits, [&](const Visit& other) {
    return other.worker == visit.worker && other.thread != visit.thread && other.key == visit.key &&
           other.called <= visit.called && other.ended <= visit.ended &&
           other.ended > visit.ended - history.limits.reply;
  });
}

bool was_killed(const History& history, const Visit& visit) {
  return std::ranges::any_of(history.faults, [&](const Fault& fault) {
    return fault.kind == FaultKind::tool_kill && is_of_program(fault, visit);
  });
}

/// A new connection to a store that finds no free descriptor ends as one without memory.
bool lacks_descriptors(const History& history, const Visit& visit) {
  return visit.lack == Lack::threads &&
         std::ranges::any_of(history.faults, [&](const Fault& fault) {
           return fault.kind == FaultKind::client_descriptors && concerns(fault, visit.worker) &&
                  meets(visit.called, visit.ended, fault.begins, end_of(fault));
         });
}

bool is_allowed(const History& history, const Visit& visit, Outcome outcome) {
  switch (outcome) {
    case Outcome::none:
    case Outcome::granted:
    case Outcome::busy: return true;
    case Outcome::unavailable:
      return history.limits.hasty || is_foreign(history, visit.worker) ||
             visit.lack == Lack::threads ||
             impaired(history, visit.worker, visit.called, visit.ended);
    case Outcome::refused: return may_be_refused(history, visit);
    case Outcome::no_memory: return visit.lack == Lack::memory || lacks_descriptors(history, visit);
    case Outcome::killed: return was_killed(history, visit);
    case Outcome::other: return false;
  }
  return false;
}

}  // namespace

void judge_outcomes(const History& history, Violations& found) {
  for (const Visit& visit : history.visits) {
    if (visit.lack == Lack::threads && visit.outcome == Outcome::granted) {
      found.push_back({"a lock is granted that no thread can renew", describe(history, visit)});
    }
    const bool came_late = visit.outcome == Outcome::unavailable && has_little_time(history, visit);
    const bool ended_well = came_late || is_allowed(history, visit, visit.outcome);
    if (ended_well && is_allowed(history, visit, visit.release)) continue;
    found.push_back({"an exception that no page allows", describe(history, visit) + " ended " +
                                                             at(history, visit.ended) + "\n    " +
                                                             visit.text.data()});
  }
}

Violations judge(const History& history) {
  Violations found;
  judge_exclusion(history, found);
  judge_deadlines(history, found);
  judge_notices(history, found);
  judge_tokens(history, found);
  judge_updates(history, found);
  judge_releases(history, found);
  judge_tools(history, found);
  judge_progress(history, found);
  judge_shares(history, found);
  judge_outcomes(history, found);
  return found;
}

}  // namespace latchkey::chaos
