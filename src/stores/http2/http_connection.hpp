// The connection to the servers of a store that speak HTTP/2: checks, timeouts, the next server.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include <latchkey/clock.hpp>

#include "backend/connection/failure.hpp"
#include "backend/connection/reconnect_policy.hpp"
#include "stores/driver/store_client.hpp"
#include "stores/http2/http_transport.hpp"

namespace latchkey::inline v1::detail::http2 {

struct HttpServers {
  std::vector<UriEndpoint> endpoints;
  TlsOptions tls;
  HttpDialect dialect;
};

/// One connection, to one endpoint at a time. A request without an answer within the timeout, or
/// one that breaks, ends the connection: all requests under way end without an answer, and the next
/// endpoint is tried. A server that is leaving gets no more requests, and its last answer ends the
/// connection.
///
/// | state    | left when                                             | for      |
/// |----------|-------------------------------------------------------|----------|
/// | down     | the pause of the reconnect policy is over             | checking |
/// | checking | the store has checked that the server can be used     | up       |
/// | any      | the connection breaks, or a request stays unanswered  | down     |
class HttpConnection {
 public:
  enum class State : std::uint8_t { down, checking, up };

  /// `on_change`: the link came up or went down. Throws std::invalid_argument if a file of `tls`
  /// cannot be used.
  HttpConnection(const HttpServers& servers, stores::DescriptorSet& descriptors, Clock& clock,
                 std::chrono::milliseconds timeout, std::function<void(bool up)> on_change);
  HttpConnection(const HttpConnection&) = delete;
  HttpConnection& operator=(const HttpConnection&) = delete;

  /// False also once a callback has seen that the connection has ended or is about to end: what is
  /// sent then would have no answer.
  [[nodiscard]] bool is_up() const noexcept {
    return state_ == State::up && !failed_ && !http_.is_leaving();
  }
  /// As StoreClient::start_state. It has failed once each endpoint has, or one for good.
  [[nodiscard]] stores::StoreClient::Start start_state() const noexcept;
  /// Why it is down; null: no attempt has failed since it was up.
  [[nodiscard]] const ConnectionFailure* failure() const noexcept { return policy_.last_failure(); }
  /// When a request that was submitted at `submitted` gives up waiting for the link.
  [[nodiscard]] Clock::time_point gives_up_at(Clock::time_point submitted) const noexcept;
  /// A caller needs the connection. Finds out whether it has ended meanwhile.
  void want();

  /// Ends a request: its callbacks are not called any more.
  void cancel(RequestId id) noexcept { http_.cancel(id); }
  void advance(Clock::time_point now);
  void flush() { http_.flush(); }
  [[nodiscard]] Clock::time_point due() noexcept;
  /// As StoreClient::start_over. No callback is called.
  void start_over(Clock::time_point now) noexcept;
  void abandon() noexcept;

 protected:
  ~HttpConnection() = default;

  /// Makes the requests that show whether the server can be used. The last one's end calls `passed`
  /// or `fail`.
  virtual void check() = 0;
  void passed();
  /// Ends the connection after what a callback has seen; `advance` closes it. The first failure
  /// counts.
  void fail(ConnectionFailure failure);
  /// A failure of this endpoint, which another one need not have. `why`: a clause.
  void fail_here(const std::string& why, bool nothing_listens = false);
  [[nodiscard]] HttpTransport& http() noexcept { return http_; }

 private:
  void connect();
  /// Whether the connection has ended, or is to be ended.
  bool has_ended();
  void close(Clock::time_point now);
  [[nodiscard]] bool all_tried() const noexcept { return failures_ >= endpoints_.size(); }

  const std::vector<UriEndpoint> endpoints_;
  Clock& clock_;
  const std::chrono::milliseconds timeout_;
  const std::function<void(bool up)> on_change_;
  HttpTransport http_;
  ReconnectPolicy policy_;
  State state_ = State::down;
  std::size_t endpoint_ = 0;
  std::size_t failures_ = 0;  ///< in a row
  bool failed_ = false;       ///< `close` is to be called
  ConnectionFailure why_;
};

}  // namespace latchkey::inline v1::detail::http2
