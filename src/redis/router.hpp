// Which of several servers a request goes to.
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

namespace latchkey::detail::redis {

/// Decides for all connections of one deployment. Pure but for the links that it talks to; under
/// the mutex of ConnectionMultiplexer.
class Router {
 public:
  using TimePoint = Clock::time_point;

  Router() = default;
  Router(const Router&) = delete;
  Router& operator=(const Router&) = delete;
  virtual ~Router() = default;

  /// All connections there are. They come in `tick` and `next` only, and go in `drop_idle`.
  [[nodiscard]] std::span<const std::unique_ptr<ServerConnection>> connections() const noexcept {
    return connections_;
  }

  /// All of them or, where it throws std::bad_alloc, none.
  virtual void submit(std::span<Request* const> requests, Sink& sink, TimePoint now) = 0;
  /// What sinks are to be told. False: nothing now.
  virtual bool next(Delivery& delivery, TimePoint now) noexcept = 0;

  /// What is due by the clock, and when that is the next time.
  virtual void tick(TimePoint /*now*/) {}
  [[nodiscard]] virtual TimePoint due() const noexcept { return Clock::never(); }

  /// Whether a connection that is not there is to be made anew.
  [[nodiscard]] virtual bool keeps(const ServerConnection& /*wire*/) const noexcept { return true; }
  /// Takes out a connection that was closed and that nobody needs; null: there is none.
  virtual std::unique_ptr<ServerConnection> drop_idle() noexcept { return nullptr; }

  /// `next` has something, whatever the servers do.
  [[nodiscard]] virtual bool has_news() const noexcept = 0;

  /// Requests that are neither answered nor given up.
  [[nodiscard]] virtual std::size_t outstanding() const noexcept = 0;

  enum class Start : std::uint8_t { goes_on, settled, failed };
  /// How far the first connections are. `why` is filled with failed.
  virtual Start start(Failure& why) = 0;

  /// Whether the connection before is always ended before a new one carries requests.
  [[nodiscard]] virtual bool keeps_order() const noexcept = 0;

  /// In a forked child: everything is the parent's.
  virtual void forget() noexcept = 0;

 protected:
  std::vector<std::unique_ptr<ServerConnection>> connections_;
};

/// All requests go to one server.
class SingleServerRouter final : public Router {
 public:
  explicit SingleServerRouter(std::unique_ptr<ServerConnection> wire);

  void submit(std::span<Request* const> requests, Sink& sink, TimePoint now) override;
  bool next(Delivery& delivery, TimePoint now) noexcept override;
  [[nodiscard]] std::size_t outstanding() const noexcept override;
  [[nodiscard]] bool has_news() const noexcept override { return wire_.link.has_news(); }
  Start start(Failure& why) override;
  [[nodiscard]] bool keeps_order() const noexcept override { return wire_.link.may_kill(); }
  void forget() noexcept override;

 private:
  ServerConnection& wire_;
};

}  // namespace latchkey::detail::redis
