// The servers of this program, each started at its first use.
#pragma once

#include <cstdint>
#include <string>

namespace latchkey::tests {

// No header of a client is here: that of hiredis would meet latchkey's own copy of it.

/// The path of the Unix socket of a Redis server.
std::string redis_socket();
/// The port of a Redis server that is a cluster of one node.
std::uint16_t redis_cluster_port();
/// The connection string of a PostgreSQL server, as its superuser.
std::string postgresql_parameters();
/// The path of the Unix socket of a MariaDB server with the user `owner` and the database `app`.
std::string mysql_socket();

/// The port of examples/fenced_service.cpp, and a path: of what it guards, or of what it does not.
std::string fenced_service_path(bool guarded);

}  // namespace latchkey::tests
