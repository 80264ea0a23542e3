// The settings of a server session that exclusion and replies rest on.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <chrono>
#include <string>

#include "stores/postgresql/uri.hpp"

namespace latchkey::inline v1::detail::postgresql {

/// Statements that set them, whatever the configuration of the server, the database and the role,
/// and the environment of the process (PGOPTIONS, PGTZ, PGDATESTYLE), say. A request that waits at
/// the server for longer than `timeout` is of no use to this client.
[[nodiscard]] std::string set_settings(LockSchema schema, std::chrono::milliseconds timeout);

/// A subquery whose value names those that the session does not have; NULL: it has them all.
[[nodiscard]] std::string differing_settings(LockSchema schema, std::chrono::milliseconds timeout);

}  // namespace latchkey::inline v1::detail::postgresql
