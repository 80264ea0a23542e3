// Promise 3: what ends a hold on the server before its lease is noticed at the next check.
// SPDX-License-Identifier: BSL-1.0
#include <algorithm>

#include "chaos/judge/excuses.hpp"

namespace latchkey::chaos {

std::size_t losses_on_server(const History& history) {
  std::size_t losses = 0;
  for (const Fault& fault : history.faults) {
    if (!fault.has(forgets)) continue;
    losses +=
        static_cast<std::size_t>(std::ranges::count_if(history.visits, [&](const Visit& visit) {
          return visit.outcome == Outcome::granted && forgets_key(fault, visit.key) &&
                 visit.entered < fault.begins && visit.held_until > fault.ended;
        }));
  }
  return losses;
}

void judge_notices(const History& history, Violations& found) {
  for (const Fault& fault : history.faults) {
    if (!fault.has(forgets) || fault.ended == 0) continue;
    for (const Visit& visit : history.visits) {
      if (visit.outcome != Outcome::granted || !forgets_key(fault, visit.key)) continue;
      if (is_foreign(history, visit.worker)) continue;
      const Nanos lease = lease_at_server(history, visit);
      const Nanos back = fault.has(impairs) ? history.limits.recovery : 0;  // its connection
      const Nanos latest = fault.ended + back + lease / 3 + history.limits.latency;
      // Who entered while the key was away was granted it anew, or is in the same position.
      if (visit.entered >= fault.begins || visit.held_until <= latest) continue;
      if (is_untold(history, visit, latest, visit.held_until)) continue;
      if (impaired(history, visit.worker, fault.begins - lease, latest, &fault)) continue;
      found.push_back({"promise 3: a hold that the server lost is not noticed",
                       std::string(traits(fault.kind).name) + " at " + at(history, fault.begins) +
                           "\n    " + describe(history, visit)});
    }
  }
}

}  // namespace latchkey::chaos
