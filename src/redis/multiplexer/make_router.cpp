// Makes the router for a deployment of Redis.
// SPDX-License-Identifier: BSL-1.0
#include "redis/multiplexer/make_router.hpp"

#include <random>
#include <string>
#include <utility>

#include "redis/cluster/cluster_router.hpp"

namespace latchkey::inline v1::detail::redis {
namespace {

Session::Settings session_settings(const RedisUri& uri, const Options& options) {
  std::random_device entropy;
  Session::Settings settings;
  settings.login.user = uri.user;
  settings.login.password = uri.password;
  settings.login.client_name = uri.client_name;
  settings.login.database = uri.database;
  settings.login.cluster = uri.deployment == RedisUri::Deployment::cluster;
  const bool tls = uri.transport == RedisUri::Transport::tls;
  const bool known = uri.deployment == RedisUri::Deployment::server &&
                     uri.transport != RedisUri::Transport::unix_socket;
  if (uri.locks == RedisUri::Locks::redisson) {
    settings.login.cluster_uri = std::string(tls ? "rediss+cluster://" : "redis+cluster://") +
                                 (known ? uri.endpoint.text() : "host:port");
  }
  settings.login.sharded = options.sharded;
  settings.login.layout = settings.calls.layout = &uri.layout();
  settings.login.replicas = options.min_replicas > 0;
  settings.timeout = options.command_timeout;
  settings.min_replicas = options.min_replicas;
  settings.seed = entropy();
  return settings;
}

}  // namespace

std::unique_ptr<Router> make_router(const RedisUri& uri, const Options& options,
                                    const TlsContext* tls) {
  Session::Settings settings = session_settings(uri, options);
  if (uri.deployment == RedisUri::Deployment::cluster) {
    return std::make_unique<ClusterRouter>(uri, tls, std::move(settings));
  }
  return std::make_unique<SingleServerRouter>(
      std::make_unique<ServerConnection>(uri, tls, std::move(settings)));
}

}  // namespace latchkey::inline v1::detail::redis
