// What is left on a Redis server when nobody calls.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <string>

#include "support/servers/redis_server.hpp"

namespace latchkey::chaos {

/// Keys, apart from fencing tokens and semaphores. `abandoned`: queues of killed waiters are
/// allowed, which expire by themselves, an hour later: docs/faults.md.
std::string redis_keys_left(const tests::RedisServer& server, bool abandoned);
/// Channels that have subscribers.
std::string redis_channels_left(const tests::RedisServer& server);

}  // namespace latchkey::chaos
