// The connections of one deployment, and which of them a request goes to.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <latchkey/backend.hpp>
#include <latchkey/clock.hpp>
#include <latchkey/options.hpp>

#include "core/next_number.hpp"
#include "redis/connect/connector.hpp"
#include "redis/connect/tls.hpp"
#include "redis/connect/transport.hpp"
#include "redis/protocol/failure.hpp"
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

/// Chooses a server for each request of one deployment. Sans-I/O, like the sessions that it owns;
/// protected by the mutex of ConnectionMultiplexer.
class Router {
 public:
  using TimePoint = Clock::time_point;

  Router() = default;
  Router(const Router&) = delete;
  Router& operator=(const Router&) = delete;
  virtual ~Router() = default;

  /// All connections. Only `tick` and `next` add connections, and only `drop_idle` removes them.
  [[nodiscard]] std::span<const std::unique_ptr<ServerConnection>> connections() const noexcept {
    return connections_;
  }

  /// Accepts all requests or, if it throws std::bad_alloc, none.
  virtual void submit(std::span<Request* const> requests, Sink& sink, TimePoint now) = 0;
  /// The next result for a sink. False: there is none now.
  virtual bool next(Delivery& delivery, TimePoint now) noexcept = 0;

  /// Does what is due. `due` says when `tick` is to be called next.
  virtual void tick(TimePoint /*now*/) {}
  [[nodiscard]] virtual TimePoint due() const noexcept { return Clock::never(); }

  /// Whether a connection that is down is to be made again.
  [[nodiscard]] virtual bool keeps(const ServerConnection& /*connection*/) const noexcept {
    return true;
  }
  /// Removes a closed connection that is not needed; null: there is none.
  virtual std::unique_ptr<ServerConnection> drop_idle() noexcept { return nullptr; }

  /// Whether `next` has a result without another byte from a server.
  [[nodiscard]] virtual bool has_news() const noexcept = 0;

  /// How many requests have no outcome yet.
  [[nodiscard]] virtual std::size_t outstanding() const noexcept = 0;

  enum class Start : std::uint8_t { in_progress, settled, failed };
  /// The state of the first connections. `failed` fills `why`.
  virtual Start start(Failure& why) = 0;

  /// Whether the previous connection is always ended before a new one carries requests.
  [[nodiscard]] virtual bool keeps_order() const noexcept = 0;

  /// In a forked child: everything belongs to the parent.
  virtual void forget() noexcept = 0;

 protected:
  std::vector<std::unique_ptr<ServerConnection>> connections_;
};

/// Sends all requests to one server.
class SingleServerRouter final : public Router {
 public:
  explicit SingleServerRouter(std::unique_ptr<ServerConnection> connection);

  void submit(std::span<Request* const> requests, Sink& sink, TimePoint now) override;
  bool next(Delivery& delivery, TimePoint now) noexcept override;
  [[nodiscard]] std::size_t outstanding() const noexcept override;
  [[nodiscard]] bool has_news() const noexcept override { return connection_.session.has_news(); }
  Start start(Failure& why) override;
  [[nodiscard]] bool keeps_order() const noexcept override {
    return connection_.session.may_kill();
  }
  void forget() noexcept override;

 private:
  ServerConnection& connection_;
};

/// With the first connections, which are still down. `tls` outlives the router; null: no TLS.
[[nodiscard]] std::unique_ptr<Router> make_router(const RedisUri& uri, const Options& options,
                                                  const TlsContext* tls);

}  // namespace latchkey::inline v1::detail::redis
