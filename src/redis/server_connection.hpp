// The connection to one server: session, transport and connector.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include <latchkey/clock.hpp>

#include "core/next_number.hpp"
#include "redis/connect/connector.hpp"
#include "redis/connect/transport.hpp"
#include "redis/failure.hpp"
#include "redis/session/session.hpp"
#include "redis/uri/redis_uri.hpp"

namespace latchkey::inline v1::detail::redis {

/// The parts of one connection. The mutexes of ConnectionMultiplexer protect them.
struct ServerConnection {
  /// `tls` outlives the connection; null: no TLS.
  ServerConnection(RedisUri server, const TlsContext* tls, Session::Settings settings);

  const std::uint64_t number = next_number();
  const RedisUri uri;
  Session session;
  Transport transport;
  std::unique_ptr<Connector> connector;
  bool write_blocked = false;  ///< the socket takes no bytes until poll(2) reports it
  std::optional<Failure> write_failure;
  /// The connector's deadline after its last step. Threads that submit read this copy, because the
  /// leader may be in the connector's next step meanwhile, without the state's mutex.
  Clock::time_point connector_due = Clock::never();

  // The state of a node of a cluster, which ClusterRouter keeps here.
  std::size_t slots = 0;  ///< how many it serves
  bool served = false;    ///< it has served slots, and no session has inherited from it yet
  Clock::time_point needed_until{};  ///< it is kept for so long, even without slots

  [[nodiscard]] bool can_send() const noexcept {
    return !write_blocked && !write_failure && session.anything_to_send();
  }
};

}  // namespace latchkey::inline v1::detail::redis
