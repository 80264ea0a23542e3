// Reports nested calls to the order graph, and its findings to the listener.
// SPDX-License-Identifier: BSL-1.0
#include "locked/lock_order.hpp"

#include <optional>
#include <string>
#include <utility>

#include <latchkey/detail/locked/locked_call.hpp>
#include <latchkey/listener.hpp>
#include <latchkey/locks.hpp>

#include "locked/order_graph.hpp"

namespace latchkey::inline v1::detail {
namespace {

OrderGraph& graph() {
  // Never destroyed: destructors of static objects may lock.
  static OrderGraph& made = *new OrderGraph;
  return made;
}

std::string place_of(const Locks& locks) { return locks.describe() + " " + locks.options().prefix; }

void publish_warning(const Locks& locks, const LockedCall& call, LockType type, std::string text) {
  Event event;
  event.kind = Event::Kind::order;
  event.type = type;
  event.key = call.key();
  event.owner = Owner::this_thread().number();
  event.origin = call.origin();
  event.text = std::move(text);
  locks.publish(event);
}

}  // namespace

void check_lock_order(const LockedCall& call, const LockTerms& terms, const LockedCall& innermost) {
  const Locks& locks = *call.locks();
  if (!locks.options().check_order) return;
  if (terms.wait.length().count() == 0) return;  // an acquire that does not wait cannot deadlock
  const std::string place = place_of(locks);
  const auto holds = [](const LockedCall& each) { return each.hold() != nullptr; };
  for (const LockedCall* each = &innermost; each != nullptr; each = each->outer()) {
    // A re-entry waits for nothing. (Several keys at once have no re-entry here.)
    if (!call.key().empty() && holds(*each) && each->key() == call.key() &&
        place_of(*each->locks()) == place)
      return;
  }
  const OrderedLock inner{place, call.key(), call.origin()};
  for (const LockedCall* each = &innermost; each != nullptr; each = each->outer()) {
    if (!holds(*each) || !each->locks()->options().check_order) continue;
    const std::string its_place = place_of(*each->locks());
    std::optional<std::string> report =
        graph().add({its_place, each->key(), each->origin()}, inner);
    if (report) publish_warning(locks, call, terms.type, std::move(*report));
  }
}

}  // namespace latchkey::inline v1::detail
