// Requests over one HTTP/2 connection.
// SPDX-License-Identifier: BSL-1.0
#pragma once

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

/// The end of a request.
struct HttpEnd {
  int status = 0;                ///< of HTTP; 0: there was no answer
  std::string text{};            ///< without an answer: why, as a clause
  std::string body{};            ///< the answer's; that of a stream was told as it arrived
  std::string retry_after{};     ///< the header of that name
  bool sent = true;              ///< false: it never reached the server, and never will
  bool nothing_listens = false;  ///< the system refused the connection
};

struct HttpRequest {
  std::string_view method, path;
  std::string_view token{};         ///< of the header `authorization: Bearer`; empty: none
  std::string_view content_type{};  ///< empty: there is no body
  std::string body{};
};

/// 0: none.
using RequestId = std::uint64_t;
using OnHttpEnd = std::function<void(HttpEnd&&)>;
/// More of the body of an answer with the status 200; empty at first, once the headers are there.
using OnHttpData = std::function<void(std::string_view)>;

/// Makes requests of one server, concurrently and without blocking. A request is attempted once.
/// Callbacks run in `advance` and `disconnect`, and may start and cancel requests.
class HttpTransport final : private Http2Events {
 public:
  /// Throws std::invalid_argument if a file of `tls` cannot be used.
  HttpTransport(stores::DescriptorSet& descriptors, Clock& clock, const TlsOptions& tls,
                const StoreWords& words);
  HttpTransport(const HttpTransport&) = delete;
  HttpTransport& operator=(const HttpTransport&) = delete;

  /// The server of the requests that follow. No request may be under way.
  void connect(const UriEndpoint& endpoint);
  RequestId request(HttpRequest&& request, OnHttpEnd on_end);
  /// A request whose answer has no end that is awaited.
  RequestId open_stream(HttpRequest&& request, OnHttpData on_data, OnHttpEnd on_end);
  /// Ends a request or a stream: its callbacks are not called any more.
  void cancel(RequestId id) noexcept;

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
    OnHttpData on_data;  ///< null: it is no stream
    OnHttpEnd on_end;
    Clock::time_point started;
    bool sent = false;
    bool announced = false;  ///< on_data knows that the headers have arrived
    HttpEnd end{};
  };

  void on_header(StreamId stream, std::string_view name, std::string_view value) override;
  void on_data(StreamId stream, std::string_view bytes) override;
  void on_closed(StreamId stream, std::uint32_t error) override;

  RequestId start(HttpRequest&& request, OnHttpData on_data, OnHttpEnd on_end);
  [[nodiscard]] Exchange* find(StreamId stream) noexcept;
  [[nodiscard]] Exchange* find(RequestId id) noexcept;
  [[nodiscard]] RequestId id_of(StreamId stream) const noexcept;
  void erase(StreamId stream) noexcept;
  void receive();
  void deliver();
  void deliver_data(StreamId stream);
  /// `was_open`: the connection was there.
  [[nodiscard]] std::string why_broken(bool was_open) const;
  void break_off(const std::string& why, bool nothing_listens);
  void forget_requests() noexcept;
  void clear_progress() noexcept;

  Clock& clock_;
  const StoreWords words_;
  const std::string_view scheme_;
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
  bool too_large_ = false;
  std::uint32_t connection_ = 0;  ///< counts the connections: a part of the ids of their requests
  Clock::time_point pings_due_ = Clock::never();
  ConnectionFailure failure_;  ///< with a text if the connection has ended
};

}  // namespace latchkey::inline v1::detail::http2
