// A round as operations on locks, for a checker of linearizability.
// SPDX-License-Identifier: BSL-1.0
#include "chaos/judge/operations.hpp"

#include <algorithm>
#include <vector>

#include "chaos/judge/excuses.hpp"

namespace latchkey::chaos {
namespace {

/// The model that all visits of a key have in common.
class Model {
 public:
  void add(LockType type) noexcept {
    shared_ |= type == LockType::READ || type == LockType::WRITE;
    fenced_ |= type == LockType::FENCED;
    semaphore_ |= type == LockType::PERMIT;
  }
  [[nodiscard]] std::string name(const Limits& limits) const {
    if (semaphore_) return "semaphore:" + std::to_string(limits.permits);
    if (shared_) return fenced_ ? "fenced_rwlock" : "rwlock";
    return fenced_ ? "fenced" : "mutex";
  }

 private:
  bool shared_ = false, fenced_ = false, semaphore_ = false;
};

struct Interval {
  Nanos from = 0, to = 0;  ///< `to` 0: for ever
};

/// The first time at which a fault may have ended the hold at the server. INT64_MAX: never. A tool
/// that does not run renews nothing, so the server may drop its hold.
Nanos forgotten_at(const History& history, const Visit& visit) {
  const Nanos last = visit.killed ? visit.held_until : visit.ended;
  Nanos first = INT64_MAX;
  for (const auto& [from, to] : history.stalls) {
    if (!is_command(history, visit) || !meets(visit.called, last, from, to)) continue;
    first = std::min(first, std::max(from, visit.called));
  }
  for (const Fault& fault : history.faults) {
    if (!may_have_ended(history, fault, visit, last)) continue;
    first = std::min(first, std::max(fault.begins, visit.called));
  }
  return first;
}

/// A visitor that has left is no holder any more, whatever the server still has of it: a bound for
/// each release keeps the number of orders small that are possible.
Interval release_of(const History& history, const Visit& visit) {
  const bool confirmed = visit.release == Outcome::granted && visit.told == 0;
  const Nanos forgotten = forgotten_at(history, visit);
  Nanos from = visit.held_until != 0 ? visit.held_until : visit.called;
  if (forgotten != INT64_MAX) {
    from = std::min(forgotten, visit.held_until);
  } else if (confirmed) {
    from = visit.left;
  }
  return {from, visit.ended};
}

}  // namespace

std::string operations_of(const History& history) {
  std::vector<Model> models(history.keys);
  for (const Visit& visit : history.visits) models.at(visit.key).add(visit.type);
  std::string text;
  std::size_t hold = 0;
  for (const Visit& visit : history.visits) {
    if (visit.outcome != Outcome::granted) continue;
    ++hold;
    const auto line = [&](std::string_view verb, Interval when, std::uint64_t token) {
      text += std::to_string(visit.key) + ' ' + models[visit.key].name(history.limits) + ' ';
      text += std::string(verb) + ' ' +
              std::to_string(visit.worker * history.threads + visit.thread) + ' ' +
              std::to_string(hold) + ' ' + std::to_string(when.from) + ' ' +
              std::to_string(when.to) + ' ' + std::to_string(token) + '\n';
    };
    line(visit.type == LockType::READ ? "acquire_shared" : "acquire", {visit.called, visit.entered},
         visit.token);
    line("release", release_of(history, visit), 0);
  }
  return text;
}

}  // namespace latchkey::chaos
