// The promise of guarantees.md for held_at_most: a hold ends at its limit, and the loss says so.
// SPDX-License-Identifier: BSL-1.0
#include <algorithm>

#include "chaos/judge/excuses.hpp"

namespace latchkey::chaos {
namespace {

/// The limit counts from the grant, which is before the entry.
Nanos limit_of(const Visit& visit) noexcept { return visit.entered + visit.limit; }

/// Whether something else may have ended the hold before its limit.
bool ended_otherwise(const History& history, const Visit& visit) {
  const Nanos last = limit_of(visit);
  return impaired(history, visit.worker, visit.called, last) ||
         std::ranges::any_of(history.faults, [&](const Fault& fault) {
           return may_have_ended(history, fault, visit, last);
         });
}

/// Whether nothing but holds may have kept anybody from the key.
bool is_calm(const History& history, Nanos from, Nanos to) {
  return !stalled(history, from, to) &&
         std::ranges::none_of(history.faults, [&](const Fault& fault) {
           return (fault.has(impairs) || fault.has(tells_late)) &&
                  meets(from, to, fault.begins, end_of(fault) + history.limits.hang_of_key);
         });
}

bool is_granted_another(const History& history, const Visit& hung, Nanos last) {
  return std::ranges::any_of(history.visits, [&](const Visit& visit) {
    return &visit != &hung && visit.key == hung.key && visit.outcome == Outcome::granted &&
           visit.entered >= hung.held_until && visit.entered <= last;
  });
}

/// Whether a visitor waits for the key from before the limit until `last`.
bool is_waited_for(const History& history, const Visit& hung, Nanos last) {
  return std::ranges::any_of(history.visits, [&](const Visit& visit) {
    return &visit != &hung && visit.key == hung.key && visit.called < limit_of(hung) &&
           visit.lack == Lack::nothing && (visit.entered == 0 || visit.entered > last);
  });
}

void check_next(const History& history, const Visit& hung, Violations& found) {
  const Nanos last = limit_of(hung) + history.limits.freed;
  if (last > history.ended || !is_calm(history, hung.entered, last)) return;
  if (is_granted_another(history, hung, last) || !is_waited_for(history, hung, last)) return;
  found.push_back({"nobody is granted a key whose holder was held too long",
                   "until " + at(history, last) + "\n    " + describe(history, hung)});
}

}  // namespace

void judge_limits(const History& history, Violations& found) {
  for (const Visit& visit : history.visits) {
    if (visit.limit == 0 || visit.outcome != Outcome::granted) continue;
    if (visit.held_until > limit_of(visit)) {
      found.push_back({"promise 2: held beyond held_at_most", describe(history, visit)});
    }
    if (!visit.hung || ended_otherwise(history, visit)) continue;
    if (!visit.limit_named) {
      found.push_back({"a loss does not say that the lock was held too long",
                       describe(history, visit) + " told " + at(history, visit.told)});
    }
    check_next(history, visit, found);
  }
}

std::size_t holds_at_their_limit(const History& history) {
  return static_cast<std::size_t>(std::ranges::count_if(
      history.visits, [](const Visit& visit) { return visit.hung && visit.limit_named; }));
}

}  // namespace latchkey::chaos
