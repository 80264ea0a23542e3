// No update of a counter that only the lock protects is lost by a visitor that holds.
// SPDX-License-Identifier: BSL-1.0
#include <algorithm>
#include <vector>

#include "chaos/judge/excuses.hpp"

namespace latchkey::chaos {
namespace {

/// When the process of a visit was killed; INT64_MAX: nobody has planned that.
Nanos kill_of(const History& history, const Visit& visit) {
  Nanos first = INT64_MAX;
  for (const Fault& fault : history.faults) {
    const bool is_it = fault.kind == FaultKind::client_kill && concerns(fault, visit.worker);
    if (is_it && fault.begun >= visit.called) first = std::min(first, fault.begun);
  }
  return first;
}

/// Whether `other` may have written during the visit without surely holding the lock: it had been
/// suspended between its last question and the write, or was killed there, or was not told.
bool may_have_written_late(const History& history, const Visit& visit, const Visit& other) {
  if (&visit == &other || other.key != visit.key || is_shared(other)) return false;
  if (other.outcome != Outcome::granted) return false;
  const bool was_untold = is_untold(history, other, other.written, other.written);
  if (other.held_until > visit.written && !was_untold) return false;
  if (other.killed && !other.wrote) return visit.entered <= kill_of(history, other);
  const bool is_late = was_untold || other.deadline <= other.written;
  return other.wrote && other.written >= visit.entered && is_late;
}

/// Whether somebody whose hold the server has lost may not have noticed it yet.
bool server_lost_data(const History& history, const Visit& visit) {
  return std::ranges::any_of(history.faults, [&](const Fault& fault) {
    if (!forgets_key(fault, visit.key)) return false;
    Nanos longest = 0;
    for (std::uint32_t worker = 0; worker < history.workers; ++worker) {
      longest = std::max(longest, notice(history, worker, fault, history.limits.longest_lease));
    }
    return meets(visit.entered, visit.written, fault.begins, end_of(fault) + longest);
  });
}

}  // namespace

void judge_updates(const History& history, Violations& found) {
  for (const Visit& visit : history.visits) {
    // After the deadline nothing is promised.
    if (visit.outcome != Outcome::granted || (visit.intact && !visit.fenced_refused)) continue;
    if (visit.deadline <= visit.written || visit.told != 0) continue;
    if (server_lost_data(history, visit)) continue;
    if (is_untold(history, visit, visit.written, visit.written)) continue;
    if (visit.fenced_refused) {
      found.push_back(
          {"promise 1: the fenced register refuses a holder", describe(history, visit)});
      continue;
    }
    const auto late = [&](const Visit& other) {
      return may_have_written_late(history, visit, other);
    };
    if (std::ranges::any_of(history.visits, late)) continue;
    found.push_back({"promise 1: an update is lost", describe(history, visit)});
  }
}

namespace {

/// When the holder learnt that its hold had ended before its deadline; 0: it had not. A tool ends
/// its command a while before the deadline.
Nanos ended_early_at(const History& history, const Visit& visit) {
  if (visit.told != 0) {
    return visit.told < visit.deadline && !is_command(history, visit) ? visit.told : 0;
  }
  return visit.release == Outcome::busy && visit.ended < visit.deadline ? visit.ended : 0;
}

}  // namespace

// The server ends no hold whose lease runs, and latchkey none that the server has. Redisson repeats
// a release of which it got no reply, and reports what the second one found.
void judge_releases(const History& history, Violations& found) {
  for (const Visit& visit : history.visits) {
    if (visit.outcome != Outcome::granted) continue;
    const Nanos early = ended_early_at(history, visit);
    if (early == 0) continue;
    const bool is_told = visit.told != 0;
    const Nanos since = is_told ? early - lease_at_server(history, visit) : visit.left;
    if ((is_told || is_foreign(history, visit.worker)) &&
        impaired(history, visit.worker, since, early)) {
      continue;
    }
    const auto ended_it = [&](const Fault& fault) {
      return may_have_ended(history, fault, visit, early);
    };
    if (std::ranges::any_of(history.faults, ended_it)) continue;
    found.push_back({"promise 1: a hold ended before its lease", describe(history, visit)});
  }
}

}  // namespace latchkey::chaos
