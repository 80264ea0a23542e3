// gRPC over one HTTP/2 connection.
// SPDX-License-Identifier: BSL-1.0
#include "stores/etcd/transport/grpc_transport.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>

namespace latchkey::inline v1::detail::etcd {
namespace {

/// What stands before each message: whether it is compressed, and its length.
constexpr std::size_t prefix_size = 5;
/// When a ping is answered. gRPC servers send one with each call, to measure how much data the
/// network carries, but not before the last one was answered: so they cost no packet per call.
constexpr std::chrono::milliseconds ping_delay{50};

std::string with_prefix(std::string_view message) {
  std::string body(prefix_size, '\0');
  for (std::size_t byte = 1; byte < prefix_size; ++byte) {
    body[byte] = static_cast<char>(message.size() >> (8 * (prefix_size - 1 - byte)));
  }
  return body.append(message);
}

/// A message that has arrived as a whole leaves the buffer; false: there is none.
bool take_message(std::string& received, std::string& message) {
  if (received.size() < prefix_size) return false;
  std::size_t length = 0;
  for (std::size_t byte = 1; byte < prefix_size; ++byte) {
    length = length << 8U | static_cast<unsigned char>(received[byte]);
  }
  if (received.size() < prefix_size + length) return false;
  message.assign(received, prefix_size, length);
  received.erase(0, prefix_size + length);
  return true;
}

std::string percent_decoded(std::string_view text) {
  std::string decoded;
  for (std::size_t at = 0; at < text.size(); ++at) {
    unsigned value = 0;
    const bool escaped =
        text[at] == '%' && at + 2 < text.size() &&
        std::from_chars(&text[at + 1], &text[at + 1] + 2, value, 16).ec == std::errc();
    decoded += escaped ? static_cast<char>(value) : text[at];
    if (escaped) at += 2;
  }
  return decoded;
}

void read_number(std::string_view text, int& number) noexcept {
  std::from_chars(text.data(), text.data() + text.size(), number);
}

}  // namespace

GrpcTransport::GrpcTransport(stores::DescriptorSet& descriptors, Clock& clock, const TlsFiles& tls)
    : clock_(clock), scheme_(tls.used ? "https" : "http"), bytes_(descriptors, tls) {}

void GrpcTransport::connect(const UriEndpoint& endpoint) {
  server_ = endpoint.text();
  failure_ = {};
  ++connection_;
  Http2Events& events = *this;
  http2_ = std::make_unique<Http2Session>(events);
  bytes_.connect(endpoint);
}

CallId GrpcTransport::id_of(StreamId stream) const noexcept {
  return static_cast<CallId>(connection_) << 32U | static_cast<std::uint32_t>(stream);
}

GrpcTransport::Call* GrpcTransport::find(StreamId stream) noexcept {
  const auto found = calls_.find(stream);
  return found == calls_.end() ? nullptr : &found->second;
}

GrpcTransport::Call* GrpcTransport::find(CallId id) noexcept {
  const auto stream = static_cast<StreamId>(id & 0xFFFF'FFFFU);
  return id == id_of(stream) ? find(stream) : nullptr;
}

void GrpcTransport::erase(StreamId stream) noexcept {
  const auto found = calls_.find(stream);
  if (found == calls_.end()) return;
  if (found->second.on_message) --streams_;
  calls_.erase(found);
}

CallId GrpcTransport::call(Method method, std::string_view message, OnEnd on_end) {
  const CallId id = start(method, message, nullptr, std::move(on_end));
  unary_.push_back(id);
  return id;
}

CallId GrpcTransport::open_stream(Method method, std::string_view message, OnMessage on_message,
                                  OnEnd on_end) {
  const CallId id = start(method, message, std::move(on_message), std::move(on_end));
  ++streams_;
  return id;
}

CallId GrpcTransport::start(Method method, std::string_view message, OnMessage on_message,
                            OnEnd on_end) {
  Http2Session::Headers headers{{":method", "POST"},
                                {":scheme", scheme_},
                                {":path", method_paths[static_cast<std::size_t>(method)]},
                                {":authority", server_},
                                {"content-type", "application/grpc"},
                                {"te", "trailers"}};
  if (!token_.empty()) headers.emplace_back("token", token_);
  const StreamId stream = http2_->request(headers, with_prefix(message));
  calls_.emplace(stream, Call{std::move(on_message), std::move(on_end), clock_.now()});
  unsent_.push_back(stream);
  return id_of(stream);
}

void GrpcTransport::cancel(CallId id) noexcept {
  if (find(id) == nullptr) return;
  const auto stream = static_cast<StreamId>(id & 0xFFFF'FFFFU);
  erase(stream);
  http2_->cancel(stream);
}

void GrpcTransport::flush() {
  if (bytes_.state() != ByteStream::State::open) return;
  const std::string output = http2_->take_output();
  for (const StreamId stream : std::exchange(unsent_, {})) {
    if (Call* const call = find(stream)) call->sent = true;
  }
  if (!output.empty()) bytes_.send(output);
}

void GrpcTransport::advance() {
  if (http2_ == nullptr || !failure_.text.empty()) return;
  buffer_.clear();
  const bool was_open = bytes_.state() == ByteStream::State::open;
  bytes_.advance(buffer_);
  if (!buffer_.empty()) receive();
  deliver();
  if (bytes_.state() == ByteStream::State::broken) {
    return break_off(why_broken(was_open), bytes_.failure().nothing_listens);
  }
  if (pings_due_ <= clock_.now()) {
    pings_due_ = Clock::never();
    http2_->answer_pings();
  }
  flush();
}

void GrpcTransport::receive() {
  const bool goes_on = http2_->receive(buffer_);
  if (http2_->has_pings()) pings_due_ = std::min(pings_due_, later(clock_.now(), ping_delay));
  if (goes_on) return;
  const std::string why = why_broken(true);
  deliver();
  break_off(why, false);
}

std::string GrpcTransport::why_broken(bool was_open) const {
  const std::string& why = http2_->failure().empty() ? bytes_.failure().text : http2_->failure();
  if (http2_->is_greeted() || !was_open) return why;
  return "the server speaks no gRPC, or only " +
         std::string(scheme_ == "http" ? "with TLS (etcds://): " : "without TLS (etcd://): ") + why;
}

void GrpcTransport::on_header(StreamId stream, std::string_view name, std::string_view value) {
  Call* const call = find(stream);
  if (call == nullptr) return;
  if (name == ":status") read_number(value, call->http_status);
  if (name == "grpc-status") read_number(value, call->status);
  if (name == "grpc-message") call->status_text = percent_decoded(value);
}

void GrpcTransport::on_data(StreamId stream, std::string_view bytes) {
  Call* const call = find(stream);
  if (call == nullptr) return;
  call->received += bytes;
  if (call->on_message) arrived_.push_back(stream);
}

void GrpcTransport::on_closed(StreamId stream, std::uint32_t error) {
  if (find(stream) != nullptr) closed_.emplace_back(stream, error);
}

// The callbacks may start and cancel calls.
void GrpcTransport::deliver() {
  for (const StreamId stream : std::exchange(arrived_, {})) deliver_messages(stream);
  for (const auto& [stream, error] : std::exchange(closed_, {})) {
    Call* const call = find(stream);
    if (call == nullptr) continue;
    CallEnd end = end_of(*call, error);
    const OnEnd on_end = std::move(call->on_end);
    erase(stream);
    on_end(std::move(end));
  }
}

void GrpcTransport::deliver_messages(StreamId stream) {
  std::string message;
  for (Call* call = find(stream); call != nullptr && take_message(call->received, message);
       call = find(stream)) {
    const OnMessage on_message = call->on_message;  // which may cancel its own call
    on_message(message);
  }
}

CallEnd GrpcTransport::end_of(Call& call, std::uint32_t error) {
  CallEnd end;
  if (call.status < 0) {
    end.sent = call.http_status == 0 && error != NGHTTP2_REFUSED_STREAM;
    end.text = call.http_status != 0 ? "the server does not answer as etcd does (HTTP status " +
                                           std::to_string(call.http_status) + ")"
                                     : "the server has ended the call: " +
                                           std::string(::nghttp2_http2_strerror(error));
    return end;
  }
  end.status = static_cast<GrpcStatus>(call.status);
  constexpr std::string_view origin = "etcdserver: ";
  const std::string& text = call.status_text;
  end.text = text.starts_with(origin) ? text.substr(origin.size()) : text;
  static_cast<void>(take_message(call.received, end.reply));
  return end;
}

Clock::time_point GrpcTransport::oldest_call() noexcept {
  for (; !unary_.empty(); unary_.pop_front()) {
    if (const Call* const call = find(unary_.front())) return call->started;
  }
  return Clock::never();
}

const ConnectionFailure* GrpcTransport::failure() const noexcept {
  return failure_.text.empty() ? nullptr : &failure_;
}

void GrpcTransport::break_off(const std::string& why, bool nothing_listens) {
  failure_ = {.permanent = false, .text = why, .nothing_listens = nothing_listens};
  bytes_.close();
  unary_.clear();
  unsent_.clear();
  arrived_.clear();
  closed_.clear();
  streams_ = 0;
  pings_due_ = Clock::never();
  for (auto& [stream, call] : std::exchange(calls_, {})) {
    CallEnd end;
    end.text = why;
    end.sent = call.sent;
    end.nothing_listens = nothing_listens;
    call.on_end(std::move(end));
  }
}

void GrpcTransport::disconnect(const std::string& why) {
  break_off(why, false);
  failure_ = {};
  http2_.reset();
}

void GrpcTransport::drop() noexcept {
  bytes_.close();
  forget_calls();
}

void GrpcTransport::abandon() noexcept {
  bytes_.abandon();
  forget_calls();
}

void GrpcTransport::forget_calls() noexcept {
  http2_.reset();
  calls_.clear();
  unary_.clear();
  unsent_.clear();
  arrived_.clear();
  closed_.clear();
  streams_ = 0;
  pings_due_ = Clock::never();
  failure_ = {};
}

}  // namespace latchkey::inline v1::detail::etcd
