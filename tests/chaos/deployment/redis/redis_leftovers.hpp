// The keys and subscriptions that are left on a Redis server when nobody calls.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <string>

#include "support/servers/redis_server.hpp"

namespace latchkey::chaos {

/// Queues that may be left.
struct AllowedQueues {
  bool with_ttl = false;  ///< those of killed waiters expire an hour later: docs/reliability.md
  bool fair = false;      ///< all queues of FAIR
};

/// Keys, apart from fencing tokens and semaphores.
std::string redis_keys_left(const tests::RedisServer& server, AllowedQueues allowed);
/// Channels that have subscribers.
std::string redis_channels_left(const tests::RedisServer& server);

}  // namespace latchkey::chaos
