// Who follows whom, as servers say it themselves.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "support/redis_server.hpp"

namespace latchkey::tests {

/// What servers need that replicate from one another in a test: quick, and quick to notice.
std::vector<std::string> replication_config();

/// The value of a line `name:value` of INFO or CLUSTER INFO; "" where there is none.
std::string info_field(std::string_view info, std::string_view name);

/// Is it a master in its own eyes?
bool is_master(const RedisServer& server);

/// Has one follow another, or nobody; and has it written to its redis.conf, so that it holds after
/// a restart. Throws std::runtime_error with what was refused.
void replicate(const RedisServer& server, const RedisServer& master);
void replicate_nobody(const RedisServer& server);

/// What a replica lacks to follow `master`, with its link up and all that the master had when this
/// was called; "" where nothing.
std::string lag(const RedisServer& replica, const RedisServer& master);

}  // namespace latchkey::tests
