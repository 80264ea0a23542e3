// What a link keeps for its sinks, and of what it may have to say once more.
#pragma once

#include <cstdint>
#include <string>

#include <latchkey/backend.hpp>

namespace latchkey::detail::redis {

/// The records of one Session.
struct SessionRecords {
  /// A request that ends without an answer, or behind that of the replicas.
  struct Ended {
    Request* request;
    Sink* sink;
    Outcome::Kind kind;
    std::uint64_t token;
    std::string text;
    bool never_ran;
  };
  /// What the server granted, and its replicas have not confirmed yet.
  struct UnconfirmedGrant {
    Request* request;
    Sink* sink;
    Clock::time_point deadline;
    std::uint64_t token;
  };
  /// A release that too few replicas confirmed: whichever takes over may still have the hold.
  struct UnreplicatedRelease {
    std::string key;
    Request release;
  };
  struct Note {
    Sink* sink;
    Notification::Kind kind;
    std::string key;
    HoldId id;
    std::string text;  ///< link_down and link_up: why
  };
};

}  // namespace latchkey::detail::redis
