// Replication as the servers report it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "support/servers/redis_server.hpp"

namespace latchkey::tests {

/// Lines of redis.conf that make replication start and detect failures quickly.
std::vector<std::string> replication_config();

/// The value of a line `name:value` of INFO or CLUSTER INFO; "" if there is none.
std::string info_field(std::string_view info, std::string_view name);

/// Whether the server reports that it is a master.
bool is_master(const RedisServer& server);

/// Makes a server follow another one, or none, and save that in its redis.conf for the next start.
/// Throws std::runtime_error if the server refuses.
void replicate(const RedisServer& server, const RedisServer& master);
void replicate_nobody(const RedisServer& server);

/// Why a replica does not follow `master` yet with a working connection and all data that the
/// master had at the time of the call; "" if it does.
std::string lag(const RedisServer& replica, const RedisServer& master);

}  // namespace latchkey::tests
