// What a coordinator wants done.
#pragma once

#include <stop_token>
#include <utility>
#include <vector>

#include <latchkey/backend.hpp>
#include <latchkey/listener.hpp>

#include "locks/call.hpp"

namespace latchkey::detail {

/// The actions that one event brought, in their order. Whoever brought the event carries them out
/// before it lets go of the key's mutex, so requests reach the backend in the order in which the
/// coordinator decided: a renewal can never be submitted after its release.
struct Actions {
  std::vector<Request*> submits;
  std::vector<Call*> wakes;             ///< answered, or to look at `wake_at` again
  std::vector<Event> events;            ///< for the listener
  std::vector<std::stop_source> stops;  ///< holds that were lost and were asked for a token

  [[nodiscard]] bool empty() const noexcept {
    return submits.empty() && wakes.empty() && events.empty() && stops.empty();
  }
  void clear() noexcept {
    submits.clear();
    wakes.clear();
    events.clear();
    stops.clear();
  }
};

}  // namespace latchkey::detail
