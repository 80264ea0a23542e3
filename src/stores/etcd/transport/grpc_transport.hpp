// gRPC over one HTTP/2 connection.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <latchkey/clock.hpp>

#include "stores/driver/descriptor_set.hpp"
#include "stores/etcd/transport/grpc_call.hpp"
#include "stores/http2/byte_stream.hpp"
#include "stores/http2/http2_session.hpp"

namespace latchkey::inline v1::detail::etcd {

using http2::ByteStream;
using http2::Http2Events;
using http2::Http2Session;
using http2::StreamId;

inline constexpr http2::StoreWords store_words{"etcd", "etcd: is without TLS, etcds: with it"};

/// Makes calls of one server, concurrently and without blocking. A call is attempted once.
/// Callbacks run in `advance` and `disconnect`, and may start and cancel calls.
///
/// The head and the body of a call leave with one send(2).
class GrpcTransport final : private Http2Events {
 public:
  /// Throws std::invalid_argument if a file of `tls` cannot be used.
  GrpcTransport(stores::DescriptorSet& descriptors, Clock& clock, const TlsOptions& tls);
  GrpcTransport(const GrpcTransport&) = delete;
  GrpcTransport& operator=(const GrpcTransport&) = delete;

  /// The server of the calls that follow. No call may be under way.
  void connect(const UriEndpoint& endpoint);
  /// Identifies the user in the calls that follow; empty: nobody.
  void use_token(std::string token) { token_ = std::move(token); }

  CallId call(Method method, std::string_view message, OnEnd on_end);
  /// Sends (by `send`) and receives any number of messages.
  CallId open_stream(Method method, OnMessage on_message, OnEnd on_end);
  /// One more message of a stream. Nothing if it has ended.
  void send(CallId stream, std::string_view message);
  /// Ends a call or a stream: its callbacks are not called any more.
  void cancel(CallId id) noexcept;

  void advance();
  /// The calls that were started are sent, as far as the network takes them.
  void flush();
  [[nodiscard]] Clock::time_point due() const noexcept {
    return closed_.empty() ? pings_due_ : Clock::time_point{};
  }
  /// The server answers the calls that it has, and takes no more. The connection ends when the last
  /// one that is not a stream has ended.
  [[nodiscard]] bool is_leaving() const noexcept {
    return http2_ != nullptr && http2_->is_leaving();
  }
  /// When the oldest call that is not a stream was started; never: there is none.
  [[nodiscard]] Clock::time_point oldest_call() noexcept;

  /// Why the connection has ended; null: it has not, as far as `advance` has seen.
  [[nodiscard]] const ConnectionFailure* failure() const noexcept;
  /// Closes the connection. Every call ends with no answer, for this reason.
  void disconnect(const std::string& why);
  /// Closes the connection. No callback is called.
  void drop() noexcept;
  /// Drops the connection in a forked child: sends nothing, and leaves the parent's descriptor set
  /// alone. No callback is called.
  void abandon() noexcept;

 private:
  struct Call {
    Method method;
    OnMessage on_message;  ///< null: the call is no stream
    OnEnd on_end;
    Clock::time_point started;
    bool sent = false;
    int http_status = 0, status = -1;  ///< -1: not received
    std::string status_text{}, received{};
  };

  void on_header(StreamId stream, std::string_view name, std::string_view value) override;
  void on_data(StreamId stream, std::string_view bytes) override;
  void on_closed(StreamId stream, std::uint32_t error) override;

  CallId start(Method method, std::string body, OnMessage on_message, OnEnd on_end);
  [[nodiscard]] Call* find(StreamId stream) noexcept;
  [[nodiscard]] Call* find(CallId id) noexcept;
  [[nodiscard]] CallId id_of(StreamId stream) const noexcept;
  void erase(StreamId stream) noexcept;
  void receive();
  void deliver();
  void deliver_messages(StreamId stream);
  [[nodiscard]] static CallEnd end_of(Call& call, std::uint32_t error);
  /// `was_open`: the connection was there.
  [[nodiscard]] std::string why_broken(bool was_open) const;
  void break_off(const std::string& why, bool nothing_listens);
  void forget_calls() noexcept;
  /// Forgets how far the calls of the connection are, which have ended.
  void clear_progress() noexcept;

  Clock& clock_;
  const std::string_view scheme_;
  ByteStream bytes_;
  std::unique_ptr<Http2Session> http2_;
  std::string server_, token_;
  std::unordered_map<StreamId, Call> calls_;
  std::deque<CallId> unary_;       ///< in the order of their start; some have ended
  std::vector<StreamId> unsent_;   ///< calls of which no byte was sent
  std::vector<StreamId> arrived_;  ///< streams that have received something
  std::vector<std::pair<StreamId, std::uint32_t>> closed_;  ///< with their errors
  std::string buffer_;
  std::size_t buffered_ = 0;  ///< bytes of messages that have not arrived as a whole
  bool too_large_ = false;    ///< a reply is larger than any of etcd's
  bool malformed_ = false;    ///< a message of a stream is
  bool has_received_ = false;
  bool has_served_ = false;       ///< gRPC was spoken on this or an earlier connection
  std::uint32_t connection_ = 0;  ///< counts the connections: a part of the ids of their calls
  Clock::time_point pings_due_ = Clock::never();
  ConnectionFailure failure_;  ///< with a text if the connection has ended
};

}  // namespace latchkey::inline v1::detail::etcd
