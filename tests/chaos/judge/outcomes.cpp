// Every call ends in a way that guarantees.md names.
// SPDX-License-Identifier: BSL-1.0
#include <algorithm>

#include "chaos/judge/excuses.hpp"

namespace latchkey::chaos {
namespace {

/// Locks are not made if one server of a quorum refuses them, although calls go on.
bool may_be_refused(const History& history, const Visit& visit) {
  const bool is_new = visit.lack == Lack::threads;
  return std::ranges::any_of(history.faults, [&](const Fault& fault) {
    const bool refuses_it = fault.has(refuses) || (is_new && traits(fault.kind).has(refuses));
    return refuses_it && (fault.key == -1 || fault.key == static_cast<int>(visit.key)) &&
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

/// Whether the visit may have lacked a descriptor. If none is free, a new connection to a store and
/// the first coroutine of a process (docs/coroutines.md) end as without memory.
bool lacks_descriptors(const History& history, const Visit& visit) {
  return (visit.lack == Lack::threads || is_coroutine(history, visit)) &&
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

bool was_stopped(const History& history, const Visit& visit) {
  return std::ranges::any_of(history.faults, [&](const Fault& fault) {
    return is_of_client(fault.kind) && concerns(fault, visit.worker) &&
           meets(visit.called, visit.ended, fault.begins, end_of(fault));
  });
}

/// The wait is an upper bound, and a busy lock is waited for until then. What a cancelled call may
/// do, and one of another library, is not judged.
void check_wait(const History& history, const Visit& visit, Violations& found) {
  const Limits& limits = history.limits;
  if (limits.lateness == 0 || visit.ended == 0 || is_foreign(history, visit.worker)) return;
  if (is_command(history, visit) || visit.lack != Lack::nothing) return;
  const Nanos took = visit.entered - visit.called;
  const Nanos bound = visit.wait == 0 ? limits.command_timeout : visit.wait + 50 * millisecond;
  const Nanos late = limits.lateness + stalled_length(history, visit.called, visit.ended);
  const bool acquires_late = !visit.waits_forever && took > bound + late;
  const bool releases_late =
      visit.left != 0 && visit.ended - visit.left > limits.command_timeout + late;
  if ((acquires_late || releases_late) && !was_stopped(history, visit)) {
    found.push_back(
        {acquires_late ? "a call waits longer than it may" : "a release waits longer than it may",
         describe(history, visit) + " ended " + at(history, visit.ended)});
  }
  const bool gives_up = visit.outcome == Outcome::busy && !is_coroutine(history, visit);
  if (gives_up && (visit.waits_forever || took < visit.wait)) {
    found.push_back({"a call gives up before its wait is over", describe(history, visit)});
  }
}

/// A quorum may not know an outcome now and then, but usually does.
void check_hasty(const History& history, Violations& found) {
  if (!history.limits.hasty) return;
  constexpr std::size_t share = 50, fewest = 10;  // at most one in 50, but ten in any case
  constexpr Nanos long_wait = 1'000 * millisecond;
  std::size_t calls = 0, unknown = 0;
  for (const Visit& visit : history.visits) {
    const bool may_be_unknown = visit.lack != Lack::nothing || was_stopped(history, visit) ||
                                stalled(history, visit.called, visit.ended);
    if (visit.wait < long_wait || visit.ended == 0 || may_be_unknown) continue;
    ++calls;
    unknown += visit.outcome == Outcome::unavailable ? 1 : 0;
  }
  if (unknown <= std::max(fewest, calls / share)) return;
  found.push_back({"a quorum is not available although a majority is",
                   std::to_string(unknown) + " of " + std::to_string(calls) +
                       " calls that wait for a second or more end without a reply"});
}

}  // namespace

void judge_outcomes(const History& history, Violations& found) {
  for (const Visit& visit : history.visits) {
    if (visit.lack == Lack::threads && visit.outcome == Outcome::granted) {
      found.push_back({"a lock is granted that no thread can renew", describe(history, visit)});
    }
    check_wait(history, visit, found);
    const bool came_late = visit.outcome == Outcome::unavailable && has_little_time(history, visit);
    const bool ended_well = came_late || is_allowed(history, visit, visit.outcome);
    if (ended_well && is_allowed(history, visit, visit.release)) continue;
    found.push_back({"an exception that no page allows", describe(history, visit) + " ended " +
                                                             at(history, visit.ended) + "\n    " +
                                                             visit.text.data()});
  }
  check_hasty(history, found);
}

Violations judge(const History& history) {
  Violations found;
  judge_exclusion(history, found);
  judge_deadlines(history, found);
  judge_notices(history, found);
  judge_told(history, found);
  judge_limits(history, found);
  judge_revocations(history, found);
  judge_tokens(history, found);
  judge_updates(history, found);
  judge_releases(history, found);
  judge_tools(history, found);
  judge_progress(history, found);
  judge_shares(history, found);
  judge_pace(history, found);
  judge_outcomes(history, found);
  return found;
}

}  // namespace latchkey::chaos
