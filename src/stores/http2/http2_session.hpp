// The client's side of one HTTP/2 connection, without a socket.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <nghttp2/nghttp2.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace latchkey::inline v1::detail::http2 {

using StreamId = std::int32_t;

/// The events of a Http2Session's streams, reported inside the session's members. Handlers may not
/// call the session.
class Http2Events {
 public:
  virtual void on_header(StreamId stream, std::string_view name, std::string_view value) = 0;
  virtual void on_data(StreamId stream, std::string_view bytes) = 0;
  /// `error`: RFC 9113, section 7; 0: none.
  virtual void on_closed(StreamId stream, std::uint32_t error) = 0;

 protected:
  ~Http2Events() = default;
};

/// Drives a session of libnghttp2: it is given what was received, and gives what is to be sent.
class Http2Session {
 public:
  using Headers = std::vector<std::pair<std::string_view, std::string_view>>;

  /// `events` outlives the session. Throws std::bad_alloc, as do all members that are not noexcept.
  explicit Http2Session(Http2Events& events);
  Http2Session(const Http2Session&) = delete;
  Http2Session& operator=(const Http2Session&) = delete;
  ~Http2Session() { ::nghttp2_session_del(session_); }

  /// Whether the body of a request is complete, or `append` adds to it.
  enum class BodyEnds : std::uint8_t { here, never };

  /// A stream with this request. A server that is leaving does not get it: its stream is closed
  /// with REFUSED_STREAM.
  StreamId request(const Headers& headers, std::string body, BodyEnds ends);
  /// More of the body of a request. Nothing if its stream has ended.
  void append(StreamId stream, std::string_view bytes);
  void cancel(StreamId stream) noexcept;
  /// False: the peer broke the protocol; see `failure`.
  [[nodiscard]] bool receive(std::string_view bytes);
  [[nodiscard]] std::string take_output();
  /// Pings of the server that `answer_pings` has not answered yet.
  [[nodiscard]] bool has_pings() const noexcept { return !pings_.empty(); }
  void answer_pings();

  /// The server has sent its settings, so it speaks HTTP/2.
  [[nodiscard]] bool is_greeted() const noexcept { return greeted_; }
  /// The server has sent GOAWAY: it answers the requests that it has, and takes no more.
  [[nodiscard]] bool is_leaving() const noexcept { return !leaving_.empty(); }
  /// Why it leaves: a clause.
  [[nodiscard]] const std::string& leaving() const noexcept { return leaving_; }
  [[nodiscard]] const std::string& failure() const noexcept { return failure_; }

 private:
  void collect();
  void end_with_the_answer(const nghttp2_frame& frame);

  using Ping = std::array<std::uint8_t, 8>;
  struct Body {
    std::string bytes;
    std::size_t sent = 0;
    BodyEnds ends = BodyEnds::here;
    bool deferred = false;  ///< the library asks for no more until it is told of some
  };

  static ssize_t read_body(nghttp2_session*, StreamId, std::uint8_t* to, std::size_t size,
                           std::uint32_t* flags, nghttp2_data_source* source, void*) noexcept;
  static int header_received(nghttp2_session*, const nghttp2_frame* frame, const std::uint8_t* name,
                             std::size_t name_size, const std::uint8_t* value,
                             std::size_t value_size, std::uint8_t, void* self) noexcept;
  static int data_received(nghttp2_session*, std::uint8_t, StreamId stream,
                           const std::uint8_t* bytes, std::size_t size, void* self) noexcept;
  static int frame_received(nghttp2_session*, const nghttp2_frame* frame, void* self) noexcept;
  static int stream_closed(nghttp2_session*, StreamId stream, std::uint32_t error,
                           void* self) noexcept;

  Http2Events& events_;
  nghttp2_session* session_ = nullptr;
  std::unordered_map<StreamId, std::unique_ptr<Body>> bodies_;  ///< for each open stream
  std::vector<Ping> pings_;
  std::string output_, failure_, leaving_;
  bool greeted_ = false;
};

}  // namespace latchkey::inline v1::detail::http2
