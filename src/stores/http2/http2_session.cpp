// The client's side of one HTTP/2 connection, without a socket.
// SPDX-License-Identifier: BSL-1.0
#include "stores/http2/http2_session.hpp"

#include <algorithm>
#include <array>
#include <new>

namespace latchkey::inline v1::detail::http2 {
namespace {

/// How much the server may send before this side confirms it: long lists need few round trips.
constexpr std::int32_t window = 1 << 20;
/// Pings that are kept for `answer_pings`. A gRPC server has one under way.
constexpr std::size_t most_pings = 1'000;

void require(int code) {
  if (code < 0) throw std::bad_alloc();
}

std::string_view text_of(const std::uint8_t* bytes, std::size_t size) noexcept {
  return {reinterpret_cast<const char*>(bytes), size};
}

/// Why the server leaves, by the error of its GOAWAY: a clause.
std::string reason_of(std::uint32_t error) {
  if (error == NGHTTP2_NO_ERROR) return "the server is shutting down";
  return std::string("the server ends the connection: ") + ::nghttp2_http2_strerror(error);
}

nghttp2_nv header(std::string_view name, std::string_view value) noexcept {
  const auto bytes = [](std::string_view text) {  // the library only reads them
    return reinterpret_cast<std::uint8_t*>(const_cast<char*>(text.data()));
  };
  return {bytes(name), bytes(value), name.size(), value.size(), NGHTTP2_NV_FLAG_NONE};
}

/// Calls a handler from C code, which no exception may cross.
template <class Handler>
int guarded(Handler&& handler) noexcept {
  try {
    handler();
    return 0;
  } catch (const std::bad_alloc&) {
    return NGHTTP2_ERR_CALLBACK_FAILURE;
  }
}

}  // namespace

Http2Session::Http2Session(Http2Events& events) : events_(events) {
  nghttp2_session_callbacks* callbacks = nullptr;
  require(::nghttp2_session_callbacks_new(&callbacks));
  ::nghttp2_session_callbacks_set_on_header_callback(callbacks, &Http2Session::header_received);
  ::nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks,
                                                              &Http2Session::data_received);
  ::nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, &Http2Session::frame_received);
  ::nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, &Http2Session::stream_closed);
  nghttp2_option* options = nullptr;
  int code = ::nghttp2_option_new(&options);
  if (code == 0) {
    ::nghttp2_option_set_no_auto_ping_ack(options, 1);
    code = ::nghttp2_session_client_new2(&session_, callbacks, this, options);
  }
  ::nghttp2_option_del(options);
  ::nghttp2_session_callbacks_del(callbacks);
  require(code);
  constexpr std::array settings{
      nghttp2_settings_entry{NGHTTP2_SETTINGS_ENABLE_PUSH, 0},
      nghttp2_settings_entry{NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, window}};
  const bool begun =
      ::nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, settings.data(), settings.size()) ==
          0 &&
      ::nghttp2_session_set_local_window_size(session_, NGHTTP2_FLAG_NONE, 0, window) == 0;
  if (begun) return;
  ::nghttp2_session_del(session_);
  throw std::bad_alloc();
}

StreamId Http2Session::request(const Headers& headers, std::string body, BodyEnds ends) {
  std::vector<nghttp2_nv> fields;
  fields.reserve(headers.size());
  for (const auto& [name, value] : headers) fields.push_back(header(name, value));
  auto owned = std::make_unique<Body>(Body{.bytes = std::move(body), .ends = ends});
  nghttp2_data_provider provider{};
  provider.source.ptr = owned.get();
  provider.read_callback = &Http2Session::read_body;
  const StreamId stream =
      ::nghttp2_submit_request(session_, nullptr, fields.data(), fields.size(), &provider, nullptr);
  require(stream);
  bodies_.emplace(stream, std::move(owned));
  return stream;
}

void Http2Session::append(StreamId stream, std::string_view bytes) {
  const auto found = bodies_.find(stream);
  if (found == bodies_.end()) return;
  Body& body = *found->second;
  body.bytes.append(bytes);
  if (!body.deferred) return;
  if (::nghttp2_session_resume_data(session_, stream) == NGHTTP2_ERR_NOMEM) throw std::bad_alloc();
  body.deferred = false;
}

void Http2Session::cancel(StreamId stream) noexcept {
  ::nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, stream, NGHTTP2_CANCEL);
}

// After an error of the peer the library prepares its farewell, and reads no more.
bool Http2Session::receive(std::string_view bytes) {
  const auto* const from = reinterpret_cast<const std::uint8_t*>(bytes.data());
  const ssize_t used = ::nghttp2_session_mem_recv(session_, from, bytes.size());
  if (used == NGHTTP2_ERR_NOMEM || used == NGHTTP2_ERR_CALLBACK_FAILURE) throw std::bad_alloc();
  collect();
  if (used < 0) {
    failure_ = ::nghttp2_strerror(static_cast<int>(used));
  } else if (pings_.size() >= most_pings) {
    failure_ = "it sends pings without end";
  } else if (::nghttp2_session_want_read(session_) == 0) {
    failure_ = is_leaving() ? leaving_ : "it broke the rules of HTTP/2";
  }
  return failure_.empty();
}

void Http2Session::collect() {
  for (;;) {
    const std::uint8_t* bytes = nullptr;
    const ssize_t size = ::nghttp2_session_mem_send(session_, &bytes);
    require(static_cast<int>(size));
    if (size == 0) return;
    output_ += text_of(bytes, static_cast<std::size_t>(size));
  }
}

void Http2Session::answer_pings() {
  for (const Ping& ping : std::exchange(pings_, {})) {
    require(::nghttp2_submit_ping(session_, NGHTTP2_FLAG_ACK, ping.data()));
  }
}

std::string Http2Session::take_output() {
  collect();
  return std::exchange(output_, {});
}

ssize_t Http2Session::read_body(nghttp2_session*, StreamId, std::uint8_t* to, std::size_t size,
                                std::uint32_t* flags, nghttp2_data_source* source, void*) noexcept {
  auto& body = *static_cast<Body*>(source->ptr);
  const std::size_t length = std::min(size, body.bytes.size() - body.sent);
  std::copy_n(body.bytes.data() + body.sent, length, reinterpret_cast<char*>(to));
  body.sent += length;
  if (body.sent < body.bytes.size()) return static_cast<ssize_t>(length);
  if (body.ends == BodyEnds::here) {
    *flags |= NGHTTP2_DATA_FLAG_EOF;
    return static_cast<ssize_t>(length);
  }
  body.bytes.clear();
  body.sent = 0;
  body.deferred = length == 0;
  if (body.deferred) return NGHTTP2_ERR_DEFERRED;
  return static_cast<ssize_t>(length);
}

int Http2Session::header_received(nghttp2_session*, const nghttp2_frame* frame,
                                  const std::uint8_t* name, std::size_t name_size,
                                  const std::uint8_t* value, std::size_t value_size, std::uint8_t,
                                  void* self) noexcept {
  return guarded([&] {
    static_cast<Http2Session*>(self)->events_.on_header(
        frame->hd.stream_id, text_of(name, name_size), text_of(value, value_size));
  });
}

int Http2Session::data_received(nghttp2_session*, std::uint8_t, StreamId stream,
                                const std::uint8_t* bytes, std::size_t size, void* self) noexcept {
  return guarded(
      [&] { static_cast<Http2Session*>(self)->events_.on_data(stream, text_of(bytes, size)); });
}

int Http2Session::frame_received(nghttp2_session*, const nghttp2_frame* frame,
                                 void* self) noexcept {
  auto& me = *static_cast<Http2Session*>(self);
  if (frame->hd.type == NGHTTP2_SETTINGS) me.greeted_ = true;
  return guarded([&] {
    me.end_with_the_answer(*frame);
    if (frame->hd.type == NGHTTP2_GOAWAY) me.leaving_ = reason_of(frame->goaway.error_code);
    if (frame->hd.type != NGHTTP2_PING || (frame->hd.flags & NGHTTP2_FLAG_ACK) != 0) return;
    Ping& ping = me.pings_.emplace_back();
    std::copy_n(frame->ping.opaque_data, ping.size(), ping.data());
  });
}

// In gRPC the end of the answer is the end of the call, also of one whose request is open.
void Http2Session::end_with_the_answer(const nghttp2_frame& frame) {
  const bool carries = frame.hd.type == NGHTTP2_HEADERS || frame.hd.type == NGHTTP2_DATA;
  if (!carries || (frame.hd.flags & NGHTTP2_FLAG_END_STREAM) == 0) return;
  const auto found = bodies_.find(frame.hd.stream_id);
  if (found == bodies_.end() || found->second->ends == BodyEnds::here) return;
  cancel(frame.hd.stream_id);
}

int Http2Session::stream_closed(nghttp2_session*, StreamId stream, std::uint32_t error,
                                void* self) noexcept {
  auto& me = *static_cast<Http2Session*>(self);
  me.bodies_.erase(stream);
  return guarded([&] { me.events_.on_closed(stream, error); });
}

}  // namespace latchkey::inline v1::detail::http2
