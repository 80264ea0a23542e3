// One server: the conversation with it, the socket under that, and the way there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include <latchkey/clock.hpp>

#include "redis/connect/connector.hpp"
#include "redis/connect/transport.hpp"
#include "redis/failure.hpp"
#include "redis/session/session.hpp"
#include "redis/uri/redis_uri.hpp"

namespace latchkey::detail::redis {

/// A number that was never given before and never is again, unlike an address.
[[nodiscard]] std::uint64_t next_number() noexcept;

/// What belongs to one connection. Its mutexes are those of ConnectionMultiplexer.
struct ServerConnection {
  /// `tls` outlives it; null: without.
  ServerConnection(RedisUri server, const TlsContext* tls, Session::Settings settings);

  const std::uint64_t number = next_number();
  const RedisUri uri;
  Session link;
  Transport transport;
  std::unique_ptr<Connector> way;
  bool write_blocked = false;  ///< the transport takes no bytes until poll(2) says so
  std::optional<Failure> write_failure;

  // of a node of a cluster; its router's
  std::size_t slots = 0;  ///< that it serves
  bool served = false;    ///< it served some, when that was looked at last
  Clock::time_point needed_until{};

  [[nodiscard]] bool can_send() const noexcept {
    return !write_blocked && !write_failure && link.anything_to_send();
  }
};

}  // namespace latchkey::detail::redis
