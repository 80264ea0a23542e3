// The connections of one deployment, and which of them a request goes to.
// SPDX-License-Identifier: BSL-1.0
#include "redis/routing/router.hpp"

#include <random>
#include <string>
#include <utility>

#include "redis/connect/connector.hpp"
#include "redis/connect/sentinel_resolver.hpp"
#include "redis/routing/cluster_router.hpp"

namespace latchkey::inline v1::detail::redis {
namespace {

std::unique_ptr<Connector> make_connector(const RedisUri& uri, Transport& transport,
                                          const TlsContext* tls,
                                          std::chrono::milliseconds timeout) {
  if (uri.deployment == RedisUri::Deployment::sentinel) {
    return std::make_unique<SentinelResolver>(uri, transport, tls, timeout);
  }
  return std::make_unique<TcpConnector>(uri, transport);
}

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
  settings.login.sharded = uri.sharded_pubsub;
  settings.login.layout = settings.calls.layout = &uri.layout();
  settings.login.watches = options.watch_holds;
  settings.login.replicas = uri.min_replicas > 0;
  settings.timeout = options.command_timeout;
  settings.min_replicas = uri.min_replicas;
  settings.seed = entropy();
  return settings;
}

}  // namespace

SingleServerRouter::SingleServerRouter(std::unique_ptr<ServerConnection> connection)
    : connection_(*connection) {
  connections_.push_back(std::move(connection));
}

void SingleServerRouter::submit(std::span<Request* const> requests, Sink& sink, TimePoint now) {
  connection_.session.submit(requests, sink, now);
}

bool SingleServerRouter::next(Delivery& delivery, TimePoint /*now*/) noexcept {
  return connection_.session.next(delivery);
}

std::size_t SingleServerRouter::outstanding() const noexcept {
  return connection_.session.unanswered();
}

Router::Start SingleServerRouter::start(Failure& why) {
  if (connection_.session.stage() == Session::Stage::up) return Start::settled;
  if (connection_.session.last_failure() == nullptr) return Start::in_progress;
  why = *connection_.session.last_failure();
  return Start::failed;
}

void SingleServerRouter::forget() noexcept { connection_.session.forget(); }

ServerConnection::ServerConnection(RedisUri server, const TlsContext* tls,
                                   Session::Settings settings)
    : uri(std::move(server)),
      session(settings),
      transport(tls, 2 * settings.timeout),
      connector(make_connector(uri, transport, tls, settings.timeout)) {}

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
