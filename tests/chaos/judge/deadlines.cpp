// Promise 2: every hold has a local deadline, and lost() is true from then on.
// SPDX-License-Identifier: BSL-1.0
#include <algorithm>

#include "chaos/judge/excuses.hpp"

namespace latchkey::chaos {
namespace {

/// Without a watchdog the deadline is at most the end of the acquire + lease - margin, and moves
/// at most once: if a hold was taken over from another call, or granted by a release, and less than
/// two thirds of the lease are left, then 50 ms later one renewal to the lease is sent.
///
/// A fault may delay that renewal, as a stop of the process 28 ms after the acquire did. But it
/// moves the deadline only if it is answered before the deadline that it replaces, so it was sent
/// before then: no fault whatever lets a hold last longer than twice (lease - margin).
void check_lease(const History& history, const Visit& visit, Violations& found) {
  if (visit.watchdog || visit.type == LockType::READ) return;
  const Nanos length = visit.lease - margin(visit.lease);
  const Nanos usual = visit.entered + history.limits.latency + length;
  const bool delayed = impaired(history, visit.worker, visit.entered, visit.entered + length);
  const Nanos latest = delayed ? std::max(usual, visit.entered + 2 * length) : usual;
  if (visit.held_until <= latest || is_untold(history, visit, latest, visit.held_until)) return;
  found.push_back({"promise 2: held beyond the lease", describe(history, visit)});
}

/// A deadline moves only when an answer arrives, and an answer belongs to a request that was sent
/// before the silence. So a hold from before is lost while a longer silence lasts, or when a
/// process that was stopped goes on; and a loss is never taken back.
void check_silence(const History& history, const Visit& visit, Violations& found) {
  const Nanos lease = lease_at_server(history, visit);
  for (const Fault& fault : history.faults) {
    if (!fault.has(silences) || !concerns(fault, visit.worker)) continue;
    // The tool goes on, and renews.
    if (is_of_client(fault.kind) && is_command(history, visit)) continue;
    const Nanos latest = fault.begun + lease - margin(lease);
    const bool is_from_before = visit.entered < fault.ends;
    const bool is_longer = latest < fault.ends;
    if (!is_from_before || !is_longer || visit.held_until <= latest) continue;
    if (is_untold(history, visit, latest, visit.held_until)) continue;
    found.push_back({"promise 2: held beyond the deadline without a server",
                     std::string(traits(fault.kind).name) + " since " + at(history, fault.begun) +
                         "\n    " + describe(history, visit)});
  }
}

}  // namespace

void judge_deadlines(const History& history, Violations& found) {
  for (const Visit& visit : history.visits) {
    if (visit.fork_failed) {
      found.push_back({"a forked child holds its parent's lock", describe(history, visit)});
    }
    if (visit.outcome != Outcome::granted || is_foreign(history, visit.worker)) continue;
    if (visit.loss_taken_back) {
      found.push_back({"promise 2: lost() was true and then false", describe(history, visit)});
    }
    check_lease(history, visit, found);
    check_silence(history, visit, found);
  }
}

}  // namespace latchkey::chaos
