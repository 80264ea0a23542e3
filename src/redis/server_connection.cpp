// The connection to one server: session, transport and connector.
// SPDX-License-Identifier: BSL-1.0
#include "redis/server_connection.hpp"

#include <utility>

#include "redis/connect/sentinel_resolver.hpp"
#include "redis/connect/tcp_connector.hpp"

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

}  // namespace

ServerConnection::ServerConnection(RedisUri server, const TlsContext* tls,
                                   Session::Settings settings)
    : uri(std::move(server)),
      session(settings),
      transport(tls, 2 * settings.timeout),
      connector(make_connector(uri, transport, tls, settings.timeout)) {}

}  // namespace latchkey::inline v1::detail::redis
