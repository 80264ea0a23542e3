// No update of a counter that only the lock protects is lost by a visitor that holds.
// SPDX-License-Identifier: BSL-1.0
#include <algorithm>
#include <vector>

#include "chaos/judge/excuses.hpp"

namespace latchkey::chaos {
namespace {

/// Whether `other` may have written during the visit without surely holding the lock: it had been
/// suspended between its last question and the write, or was killed there, or was not told.
bool may_have_written_late(const History& history, const Visit& visit, const Visit& other) {
  if (&visit == &other || other.key != visit.key || is_shared(other)) return false;
  if (other.outcome != Outcome::granted) return false;
  const bool was_untold = is_untold(history, other, other.written, other.written);
  if (other.held_until > visit.written && !was_untold) return false;
  if (other.killed && !other.wrote) return other.held_until + 2 * other.lease >= visit.entered;
  const bool is_late = was_untold || other.deadline <= other.written;
  return other.wrote && other.written >= visit.entered && is_late;
}

bool server_lost_data(const History& history, const Visit& visit) {
  const Nanos lease = history.limits.longest_lease;
  return std::ranges::any_of(history.faults, [&](const Fault& fault) {
    return forgets_key(fault, visit.key) &&
           meets(visit.entered, visit.written, fault.begins, end_of(fault) + lease);
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

// The client knows of no loss before the release, and the server none of a hold whose lease runs.
// Redisson repeats a release of which it got no reply, and reports what the second one found.
void judge_releases(const History& history, Violations& found) {
  for (const Visit& visit : history.visits) {
    if (visit.outcome != Outcome::granted || visit.release != Outcome::busy) continue;
    if (visit.told != 0 || visit.deadline <= visit.ended) continue;
    if (is_foreign(history, visit.worker) &&
        impaired(history, visit.worker, visit.left, visit.ended)) {
      continue;
    }
    const Nanos since = visit.called - history.limits.longest_lease;
    const auto ended_it = [&](const Fault& fault) {
      if (fault.has(tells_late) && is_of_program(fault, visit)) return true;
      return forgets_key(fault, visit.key) &&
             meets(since, visit.ended, fault.begins, end_of(fault));
    };
    if (std::ranges::any_of(history.faults, ended_it)) continue;
    found.push_back({"promise 1: a hold ended before its lease", describe(history, visit)});
  }
}

}  // namespace latchkey::chaos
