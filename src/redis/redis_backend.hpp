// The backend for a deployment of Redis.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <memory>
#include <string_view>

#include <latchkey/backend.hpp>
#include <latchkey/options.hpp>

namespace latchkey::inline v1::detail::redis {

/// Connects to the servers of the URI (see RedisUri), so that a mistake is found at the start and
/// not at the first lock. May block for `options.command_timeout`. Throws std::invalid_argument if
/// the URI is malformed, BackendRefused if the server rejects this client (wrong password, no
/// RESP3, no Redis), BackendUnavailable if nothing answers; each with a one-sentence message. The
/// backend reconnects after every loss of its server.
[[nodiscard]] std::unique_ptr<Backend> make_redis_backend(std::string_view uri,
                                                          const Options& options);

/// Makes the backend for one server of a quorum: one that does not answer now may do so later.
[[nodiscard]] std::unique_ptr<Backend> make_redis_member(std::string_view uri,
                                                         const Options& options);

}  // namespace latchkey::inline v1::detail::redis
