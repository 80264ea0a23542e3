// Begins and ends the faults of a visitor's key: it is revoked, or deleted.
// SPDX-License-Identifier: BSL-1.0
#include <poll.h>

#include <atomic>
#include <optional>
#include <stdexcept>

#include "chaos/faults/fault_injector.hpp"

namespace latchkey::chaos {
namespace {

Wish wish_of(const PlannedFault& fault) noexcept {
  if (fault.kind == FaultKind::delete_watched) return Wish::watched;
  return fault.strength % 4 == 0 ? Wish::deaf : Wish::listener;
}

/// For how long the visitor holds its key by then: until the server tells it of each change, or
/// until its process has subscribed. The judge knows the same times.
Nanos least_age(FaultKind kind) noexcept {
  return (kind == FaultKind::delete_watched ? 1'000 : 400) * millisecond;
}

/// A field that a worker may write now.
template <class T>
T load(T& field) noexcept {
  return std::atomic_ref(field).load(std::memory_order_acquire);
}

/// The key that a visitor with this wish, or with any, has held alone since then.
std::optional<int> find_key(WorkerState& worker, std::optional<Wish> wish, Nanos since) {
  for (VisitLog& log : worker.threads) {
    const std::uint32_t used = log.used.load(std::memory_order_acquire);
    if (used == 0) continue;
    Visit& visit = log.visits[used - 1];
    if ((wish && visit.wish != *wish) || is_shared(visit)) continue;
    if (load(visit.outcome) != Outcome::granted) continue;
    if (load(visit.told) != 0 || load(visit.left) != 0 || load(visit.entered) > since) continue;
    return static_cast<int>(visit.key);
  }
  return std::nullopt;
}

}  // namespace

// Workers that lock with the tool, or with another library, make no visits to order.
bool FaultInjector::takes_wishes(std::uint32_t worker) const {
  const WorkerKind kind = deployment_.worker_kind(worker);
  return kind != WorkerKind::redisson && kind != WorkerKind::tool;
}

void FaultInjector::ask_for_holder(const PlannedFault& fault) {
  const std::vector<std::uint32_t>& numbers = workers_.numbers();
  for (std::size_t tries = 0; tries < numbers.size(); ++tries) {
    const std::size_t place = static_cast<std::size_t>(fault.strength) + tries;
    visitor_ = numbers[place % numbers.size()];
    if (takes_wishes(visitor_)) break;
  }
  workers_.want_visit(visitor_, wish_of(fault));
}

// The visitor may be missing, because its worker was killed or its thread waits for another key:
// then any other that holds for long enough.
std::optional<int> FaultInjector::find_held_key(const PlannedFault& fault) {
  constexpr Nanos patience = 500 * millisecond;
  auto& workers = workers_.state().workers;
  const Nanos began = now();
  for (; now() < began + 4 * patience; ::poll(nullptr, 0, 1)) {
    const Nanos since = now() - least_age(fault.kind);
    const auto key = find_key(workers.at(visitor_), wish_of(fault), since);
    if (key) return key;
    if (now() < began + patience) continue;
    for (const std::uint32_t worker : workers_.numbers()) {
      if (!takes_wishes(worker)) continue;
      if (const auto other = find_key(workers.at(worker), std::nullopt, since)) return other;
    }
  }
  return std::nullopt;
}

void FaultInjector::end_at_holder(const PlannedFault& fault, Fault& record) {
  const std::optional<int> key = find_held_key(fault);
  workers_.want_visit(visitor_, Wish::nothing);
  record.key = key.value_or(no_key);
  record.begins = record.begun = record.ends = now();
  if (!key) return;
  PlannedFault now_known = fault;
  now_known.key = *key;
  if (fault.kind == FaultKind::revocation) {
    record.reached = deployment_.revoke(now_known);
  } else {
    record.watched = deployment_.tells_of_changes();
    record.begins = record.begun = record.ends = now();
    deployment_.begin(now_known);
  }
}

}  // namespace latchkey::chaos
