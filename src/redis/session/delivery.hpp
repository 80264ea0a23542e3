// The results of a session: events for sinks, redirections and slot maps for the router.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <string>

#include <latchkey/backend.hpp>

#include "redis/cluster/slots.hpp"

namespace latchkey::inline v1::detail::redis {

/// One result of a session. The caller reuses one object, so that its strings keep their memory.
struct Delivery {
  enum class Type : std::uint8_t {
    sink_event,  ///< the outcome of `request` or, if that is null, a notification
    redirect,    ///< see `redirect`; `request` is null if the command was the session's own
    slot_map,    ///< see `slots`
  };

  Type type = Type::sink_event;
  Sink* sink = nullptr;
  Request* request = nullptr;
  Outcome outcome{};
  Notification::Kind kind = Notification::Kind::released;
  std::string key{};
  HoldId id{};
  std::uint64_t place = 0, token = 0;  ///< granted
  std::string server{}, text{};        ///< link_down and link_up

  // redirect
  Redirect redirect{};
  Clock::time_point deadline{};
  std::uint8_t hops = 0;
  bool overtaken = false;  ///< the hold's release is queued, so the acquire must not run any more
  // slot_map
  SlotMap slots{};

  /// Calls the sink.
  void hand_over() noexcept;
};

/// A request that has not been sent and moves from one session to another.
struct QueuedRequest {
  Request* request;
  Sink* sink;
  Clock::time_point deadline;
  std::uint8_t hops;  ///< how many nodes have redirected it
};

}  // namespace latchkey::inline v1::detail::redis
