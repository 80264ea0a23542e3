// Requests over one HTTP/2 connection.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <latchkey/clock.hpp>

#include "stores/driver/descriptor_set.hpp"
#include "stores/http2/byte_stream.hpp"
#include "stores/http2/http2_session.hpp"

namespace latchkey::inline v1::detail::http2 {

/// A store's protocol on top of HTTP/2.
struct HttpDialect {
  StoreWords words;
  /// The limit for what has arrived of all answers that are not complete.
  std::size_t most_bytes = 0;
  /// The headers and trailers that an HttpEnd has.
  std::array<std::string_view, 2> kept_headers{};
};

/// The end of a request.
struct HttpEnd {
  int status = 0;                        ///< of HTTP; 0: there was no answer, or only a part of one
  std::string text{};                    ///< without an answer: why, as a clause
  std::string body{};                    ///< the answer's, without what an OnHttpData took
  bool sent = true;                      ///< false: it never reached the server, and never will
  bool refused = false;                  ///< the server takes no more requests on this connection
  bool nothing_listens = false;          ///< the system refused the connection
  std::array<std::string, 2> headers{};  ///< the dialect's; empty: not received
};

struct HttpRequest {
  std::string_view method, path;
  Http2Session::Headers headers{};  ///< those that not every request has
  std::string body{};
  Http2Session::BodyEnds body_ends = Http2Session::BodyEnds::here;
};

/// 0: none.
using RequestId = std::uint64_t;
using OnHttpEnd = std::function<void(HttpEnd&&)>;
/// The bytes of an answer with the status 200 that were not taken yet; none at first, once the
/// headers are there. It takes bytes from the front, and is called again if it has.
using OnHttpData = std::function<void(std::string&)>;

/// Why a connection ends whose server sends more than `most_bytes`: a clause.
[[nodiscard]] std::string reply_too_large(std::size_t most_bytes);

/// Makes requests of one server, concurrently and without blocking. A request is attempted once.
/// Callbacks run in `advance` and `disconnect`, and may start and cancel requests.
class HttpTransport final : private Http2Events {
 public:
  /// Throws std::invalid_argument if a file of `tls` cannot be used.
  HttpTransport(stores::DescriptorSet& descriptors, Clock& clock, const TlsOptions& tls,
                const HttpDialect& dialect);
  HttpTransport(const HttpTransport&) = delete;
  HttpTransport& operator=(const HttpTransport&) = delete;

  /// The server of the requests that follow. No request may be under way.
  void connect(const UriEndpoint& endpoint);
  RequestId request(HttpRequest&& request, OnHttpEnd on_end, OnHttpData on_data = nullptr);
  /// A request whose answer has no end that is awaited.
  RequestId open_stream(HttpRequest&& request, OnHttpData on_data, OnHttpEnd on_end);
  /// More of the body of a request whose body never ends. Nothing if the request has ended.
  void append(RequestId id, std::string_view bytes);
  /// Ends a request or a stream: its callbacks are not called any more.
  void cancel(RequestId id) noexcept;
  /// A callback has received what is malformed: the connection ends when it has returned. `why`: a
  /// clause.
  void reject(std::string why);

  void advance();
  /// The requests that were started are sent, as far as the network takes them.
  void flush();
  [[nodiscard]] Clock::time_point due() const noexcept {
    return closed_.empty() ? pings_due_ : Clock::time_point{};
  }
  /// The server answers the requests that it has, and takes no more. The connection ends when the
  /// last one that is not a stream has ended.
  [[nodiscard]] bool is_leaving() const noexcept {
    return http2_ != nullptr && http2_->is_leaving();
  }
  /// When the oldest request that is not a stream was started; never: there is none.
  [[nodiscard]] Clock::time_point oldest_request() noexcept;

  /// Why the connection has ended; null: it has not, as far as `advance` has seen.
  [[nodiscard]] const ConnectionFailure* failure() const noexcept {
    return failure_.text.empty() ? nullptr : &failure_;
  }
  /// Closes the connection. Every request ends without an answer, for this reason.
  void disconnect(const std::string& why);
  /// Closes the connection. No callback is called.
  void drop() noexcept;
  /// Drops the connection in a forked child: sends nothing, and leaves the parent's descriptor set
  /// alone. No callback is called.
  void abandon() noexcept;

 private:
  struct Exchange {
    OnHttpData on_data;  ///< null: the body is complete when it is told
    OnHttpEnd on_end;
    Clock::time_point started;
    bool sent = false;
    bool announced = false;  ///< on_data knows that the headers have arrived
    HttpEnd end{};
  };

  void on_header(StreamId stream, std::string_view name, std::string_view value) override;
  void on_data(StreamId stream, std::string_view bytes) override;
  void on_closed(StreamId stream, std::uint32_t error) override;

  [[nodiscard]] Exchange* find(StreamId stream) noexcept;
  [[nodiscard]] Exchange* find(RequestId id) noexcept;
  [[nodiscard]] RequestId id_of(StreamId stream) const noexcept;
  [[nodiscard]] static StreamId stream_of(RequestId id) noexcept {
    return static_cast<StreamId>(id & 0xFFFF'FFFFU);
  }
  void erase(StreamId stream) noexcept;
  void receive();
  void deliver();
  void deliver_data(StreamId stream);
  void deliver_end(StreamId stream, std::uint32_t error);
  /// `was_open`: the connection was there.
  [[nodiscard]] std::string why_broken(bool was_open) const;
  void break_off(const std::string& why, bool nothing_listens);
  void forget_requests() noexcept;
  void clear_progress() noexcept;

  Clock& clock_;
  const HttpDialect dialect_;
  const bool is_plain_;
  ByteStream bytes_;
  std::unique_ptr<Http2Session> http2_;
  std::string server_;
  std::unordered_map<StreamId, Exchange> exchanges_;
  std::deque<RequestId> unary_;    ///< in the order of their start; some have ended
  std::vector<StreamId> unsent_;   ///< requests of which no byte was sent
  std::vector<StreamId> arrived_;  ///< streams that have received something
  std::vector<std::pair<StreamId, std::uint32_t>> closed_;  ///< with their errors
  std::string buffer_;
  std::size_t buffered_ = 0;  ///< bytes of answers that have not arrived as a whole
  std::string rejection_;     ///< why the connection is to end; empty: it is not
  bool has_received_ = false;
  bool has_served_ = false;       ///< HTTP/2 was spoken on this or an earlier connection
  std::uint32_t connection_ = 0;  ///< counts the connections: a part of the ids of their requests
  Clock::time_point pings_due_ = Clock::never();
  ConnectionFailure failure_;  ///< with a text if the connection has ended
};

}  // namespace latchkey::inline v1::detail::http2
