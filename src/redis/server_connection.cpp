// One server: the conversation with it, the socket under that, and the way there.
#include "redis/server_connection.hpp"

#include <atomic>
#include <utility>

#include "redis/connect/sentinel_resolver.hpp"
#include "redis/connect/tcp_connector.hpp"

namespace latchkey::detail::redis {
namespace {

std::unique_ptr<Connector> make_way(const RedisUri& uri, Transport& transport,
                                    const TlsContext* tls, std::chrono::milliseconds timeout) {
  if (uri.deployment == RedisUri::Deployment::sentinel) {
    return std::make_unique<SentinelResolver>(uri, transport, tls, timeout);
  }
  return std::make_unique<TcpConnector>(uri, transport);
}

}  // namespace

std::uint64_t next_number() noexcept {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

ServerConnection::ServerConnection(RedisUri server, const TlsContext* tls,
                                   Session::Settings settings)
    : uri(std::move(server)),
      link(settings),
      transport(tls, 2 * settings.timeout),
      way(make_way(uri, transport, tls, settings.timeout)) {}

}  // namespace latchkey::detail::redis
