// What a link hands out.
#pragma once

#include <cstdint>
#include <string>

#include <latchkey/backend.hpp>

#include "redis/cluster/slots.hpp"

namespace latchkey::detail::redis {

/// Something for a sink or, from a node of a cluster, for the router. Made once and filled again
/// and again: its texts keep their memory.
struct Delivery {
  enum class What : std::uint8_t {
    told,        ///< a request's outcome or, where `request` is null, a notification
    redirected,  ///< see `redirect`; `request` is null where it was about channels of the link's
                 ///< own
    slots,       ///< see `slots`
  };

  What what = What::told;
  Sink* sink = nullptr;
  Request* request = nullptr;
  Outcome outcome{};
  Notification::Kind kind = Notification::Kind::released;
  std::string key{};
  HoldId id{};
  std::string server{}, text{};  ///< of a change of the connection

  // redirected
  Redirect redirect{};
  Clock::time_point deadline{};
  std::uint8_t hops = 0;
  bool overtaken = false;  ///< its release is behind it: it must not run after that
  // slots
  SlotMap slots{};

  /// Calls the sink.
  void hand_over() noexcept;
};

/// A request that waits for a connection.
struct QueuedRequest {
  Request* request;
  Sink* sink;
  Clock::time_point deadline;
  std::uint8_t hops;
};

}  // namespace latchkey::detail::redis
