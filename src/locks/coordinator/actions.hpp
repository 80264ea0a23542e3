// The actions that a coordinator wants carried out.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <memory>
#include <stop_token>
#include <vector>

#include <latchkey/backend.hpp>
#include <latchkey/listener.hpp>

#include "core/collections/small_vector.hpp"
#include "locks/coordinator/call.hpp"
#include "locks/coordinator/completed_calls.hpp"

namespace latchkey::inline v1::detail {

/// Stops and events that other threads must carry out or report; few events bring any.
struct Effects {
  std::vector<Event> events;            ///< for the listener
  std::vector<std::stop_source> stops;  ///< of holds that were lost or revoked
};

/// The actions that one event brought, in their order. The thread that brought the event carries
/// them out before it unlocks the key's mutex, so requests reach the backend in the order in which
/// the coordinator decided: a renewal can never be submitted after its release.
struct Actions {
  SmallVector<Request*, 4> submits;
  SmallVector<Call*, 4> wakes;       ///< answered, or to drive, or with an earlier `wake_at`
  CompletedCalls completed;          ///< answered calls that no thread waits for
  std::unique_ptr<Effects> effects;  ///< null: none
  std::size_t unreported = 0;        ///< events that no memory was left for

  [[nodiscard]] bool empty() const noexcept {
    return submits.empty() && wakes.empty() && completed.empty() && effects == nullptr &&
           unreported == 0;
  }
  Effects& effects_for_others() {
    if (effects == nullptr) effects = std::make_unique<Effects>();
    return *effects;
  }
};

}  // namespace latchkey::inline v1::detail
