// Which of several servers a request goes to.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <latchkey/backend.hpp>

#include "redis/failure.hpp"
#include "redis/server_connection.hpp"
#include "redis/session/session.hpp"

namespace latchkey::inline v1::detail::redis {

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

}  // namespace latchkey::inline v1::detail::redis
