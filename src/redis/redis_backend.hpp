// The backend for a deployment of Redis.
#pragma once

#include <memory>
#include <string_view>

#include <latchkey/backend.hpp>
#include <latchkey/options.hpp>

namespace latchkey::detail::redis {

/// "redis://…", "rediss://…" or "redis+unix://…", see RedisUri. Connects once, so that a mistake
/// shows at the start and not at the first lock: it may wait for `options.command_timeout`. Throws
/// std::invalid_argument for a URI that makes no sense, BackendRefused where what answers there
/// will not serve us (wrong password, no RESP3, no Redis), BackendUnavailable where nothing
/// answers; one clear sentence each. Once made it survives every loss of its server.
[[nodiscard]] std::unique_ptr<Backend> make_redis_backend(std::string_view uri,
                                                          const Options& options);

/// The same for one of several: a server that does not answer now may do so later.
[[nodiscard]] std::unique_ptr<Backend> make_redis_member(std::string_view uri,
                                                         const Options& options);

}  // namespace latchkey::detail::redis
