// Makes the router for a deployment of Redis.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <memory>

#include <latchkey/options.hpp>

#include "redis/connect/tls.hpp"
#include "redis/router.hpp"
#include "redis/uri/redis_uri.hpp"

namespace latchkey::inline v1::detail::redis {

/// With the first connections, which are still down. `tls` outlives the router; null: no TLS.
[[nodiscard]] std::unique_ptr<Router> make_router(const RedisUri& uri, const Options& options,
                                                  const TlsContext* tls);

}  // namespace latchkey::inline v1::detail::redis
