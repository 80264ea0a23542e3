// The connection to an etcd cluster: login, checks, timeouts, and the next endpoint.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include <latchkey/clock.hpp>

#include "backend/connection/failure.hpp"
#include "backend/connection/reconnect_policy.hpp"
#include "stores/etcd/transport/grpc_transport.hpp"
#include "stores/etcd/uri.hpp"

namespace latchkey::inline v1::detail::etcd {

/// One connection, to one endpoint at a time. A call without an answer within the timeout, or a
/// call that breaks, ends the connection: all calls under way end with no answer, and the next
/// endpoint is tried. A server that is leaving gets no more calls, and its last answer ends the
/// connection.
///
/// | state      | left when                                                     | for         |
/// |------------|---------------------------------------------------------------|-------------|
/// | down       | the pause of the reconnect policy is over                     | logging_in  |
/// | logging_in | the user is authenticated, or the URI names none              | checking    |
/// | checking   | the version is new enough or secret, and a leader answers     | up          |
/// | any        | a call breaks or stays unanswered                             | down        |
class EtcdConnection {
 public:
  enum class State : std::uint8_t { down, logging_in, checking, up };

  /// `on_change`: the link came up or went down.
  EtcdConnection(EtcdUri uri, stores::DescriptorSet& descriptors, Clock& clock,
                 std::chrono::milliseconds timeout, std::function<void(bool up)> on_change);

  /// False also once a callback has seen that the connection has ended or is about to end: what is
  /// sent then would have no answer.
  [[nodiscard]] bool is_up() const noexcept {
    return state_ == State::up && !failed_ && !transport_.is_leaving();
  }
  /// Why it is down; null: no attempt has failed since it was up.
  [[nodiscard]] const ConnectionFailure* failure() const noexcept { return policy_.last_failure(); }
  /// When a request that was submitted at `submitted` gives up waiting for the link.
  [[nodiscard]] Clock::time_point gives_up_at(Clock::time_point submitted) const noexcept;
  /// Whether each endpoint has failed since the start, or one for good.
  [[nodiscard]] bool start_failed() const noexcept;
  /// A caller needs the connection. Finds out whether it has ended meanwhile.
  void want();

  /// Only while the link is up. `on_end` gets an end that breaks the link, too, and may start no
  /// call then.
  CallId call(Method method, std::string message, OnEnd on_end);
  /// A stream of watches. Its end says nothing about the connection: proxies end streams on which
  /// nothing happens.
  CallId open_watches(OnMessage on_message, OnEnd on_end) {
    return transport_.open_stream(Method::watch, std::move(on_message), std::move(on_end));
  }
  void send(CallId stream, std::string_view message) { transport_.send(stream, message); }
  void cancel(CallId id) noexcept { transport_.cancel(id); }

  void advance(Clock::time_point now);
  void flush() { transport_.flush(); }
  [[nodiscard]] Clock::time_point due() noexcept;
  /// As StoreClient::start_over. No callback is called.
  void start_over(Clock::time_point now) noexcept;
  void abandon() noexcept;

 private:
  void connect();
  void log_in();
  void check_version();
  void check_reads();
  void go_up();
  /// Ends the connection after what a callback has seen; `advance` closes it.
  void fail(ConnectionFailure failure);
  /// Whether the connection has ended, or is to be ended.
  bool has_ended();
  void close(Clock::time_point now);
  /// Whether the call has succeeded. If not, the link has failed.
  bool answered(const CallEnd& end);
  /// Whether the server requires a user and the URI names none. If so, the link has failed.
  bool wants_user(const CallEnd& end);

  const EtcdUri uri_;
  Clock& clock_;
  const std::chrono::milliseconds timeout_;
  const std::function<void(bool up)> on_change_;
  GrpcTransport transport_;
  ReconnectPolicy policy_;
  State state_ = State::down;
  std::size_t endpoint_ = 0;
  std::string server_;
  std::size_t failures_ = 0;  ///< in a row
  bool failed_ = false;       ///< `close` is to be called
  ConnectionFailure why_;
};

}  // namespace latchkey::inline v1::detail::etcd
