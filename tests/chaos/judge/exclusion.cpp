// Promise 1: the server grants exclusively while it keeps its data.
// SPDX-License-Identifier: BSL-1.0
#include <algorithm>
#include <string>
#include <vector>

#include "chaos/judge/excuses.hpp"

namespace latchkey::chaos {
namespace {

/// Whether both may believe in their holds during [from, to], because the server lost one of them,
/// which is from before, or one of them was not told that its lease ended.
bool excused(const History& history, const Visit& first, const Visit& second, Nanos from,
             Nanos to) {
  if (is_untold(history, first, from, to) || is_untold(history, second, from, to)) return true;
  return std::ranges::any_of(history.faults, [&](const Fault& fault) {
    if (!forgets_key(fault, first.key) || from < fault.begins) return false;
    const auto covers = [&](const Visit& visit) {
      const Nanos lease = lease_at_server(history, visit);
      return may_predate(history, visit, fault) &&
             to <= end_of(fault) + notice(history, visit.worker, fault, lease);
    };
    return covers(first) || covers(second);
  });
}

void check_pair(const History& history, const Visit& first, const Visit& second,
                Violations& found) {
  if (is_shared(first) && is_shared(second)) return;
  const Nanos from = std::max(first.entered, second.entered);
  const Nanos to = std::min(first.held_until, second.held_until);
  if (from > to || excused(history, first, second, from, to)) return;
  found.push_back({"promise 1: two holders",
                   "from " + at(history, from) + " to " + at(history, to) + "\n    " +
                       describe(history, first) + "\n    " + describe(history, second)});
}

/// `visit` enters while `inside` hold, each of which has one permit.
void check_permits(const History& history, const std::vector<const Visit*>& inside,
                   const Visit& visit, Violations& found) {
  if (visit.type != LockType::PERMIT || inside.size() < history.limits.permits) return;
  const auto is_excused = [&](const Visit* other) {
    const Nanos to = std::min(other->held_until, visit.held_until);
    return excused(history, *other, visit, visit.entered, to);
  };
  if (std::ranges::any_of(inside, is_excused)) return;
  std::string all = "at " + at(history, visit.entered) + "\n    " + describe(history, visit);
  for (const Visit* const other : inside) all += "\n    " + describe(history, *other);
  found.push_back({"promise 1: more holders than permits", all});
}

}  // namespace

void judge_exclusion(const History& history, Violations& found) {
  std::vector<std::vector<const Visit*>> by_key(history.keys);
  for (const Visit& visit : history.visits) {
    if (visit.outcome == Outcome::granted) by_key.at(visit.key).push_back(&visit);
  }
  for (auto& visits : by_key) {
    std::ranges::sort(visits, {}, &Visit::entered);
    std::vector<const Visit*> inside;  // at the time when the next one enters
    for (const Visit* const visit : visits) {
      std::erase_if(inside, [&](const Visit* other) { return other->held_until < visit->entered; });
      check_permits(history, inside, *visit, found);
      for (const Visit* const other : inside) check_pair(history, *other, *visit, found);
      inside.push_back(visit);
    }
  }
}

}  // namespace latchkey::chaos
