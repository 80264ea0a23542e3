// gRPC over one HTTP/2 connection.
// SPDX-License-Identifier: BSL-1.0
#include "stores/etcd/transport/grpc_transport.hpp"

#include <algorithm>
#include <chrono>

#include "core/text/number.hpp"
#include "stores/etcd/transport/grpc_call.hpp"
#include "stores/etcd/wire/messages.hpp"

namespace latchkey::inline v1::detail::etcd {
namespace {

/// When a ping is answered. gRPC servers send one with each call, to measure how much data the
/// network carries, but not before the last one was answered: so they cost no packet per call.
constexpr std::chrono::milliseconds ping_delay{50};
/// The limit for what has arrived of all replies that are not complete, as for a reply of Redis.
constexpr std::size_t most_bytes = std::size_t{256} << 20U;
constexpr const char* cut_off = "malformed reply: a field of the message is cut off";

}  // namespace

GrpcTransport::GrpcTransport(stores::DescriptorSet& descriptors, Clock& clock,
                             const TlsOptions& tls)
    : clock_(clock),
      scheme_(tls.offered() ? "https" : "http"),
      bytes_(descriptors, tls, store_words) {}

void GrpcTransport::connect(const UriEndpoint& endpoint) {
  server_ = endpoint.text();
  failure_ = {};
  has_received_ = too_large_ = malformed_ = false;
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
  buffered_ -= found->second.received.size();
  calls_.erase(found);
}

CallId GrpcTransport::call(Method method, std::string_view message, OnEnd on_end) {
  const CallId id = start(method, with_prefix(message), nullptr, std::move(on_end));
  unary_.push_back(id);
  return id;
}

CallId GrpcTransport::open_stream(Method method, OnMessage on_message, OnEnd on_end) {
  return start(method, {}, std::move(on_message), std::move(on_end));
}

void GrpcTransport::send(CallId stream, std::string_view message) {
  if (find(stream) == nullptr) return;
  http2_->append(static_cast<StreamId>(stream & 0xFFFF'FFFFU), with_prefix(message));
}

CallId GrpcTransport::start(Method method, std::string body, OnMessage on_message, OnEnd on_end) {
  using BodyEnds = Http2Session::BodyEnds;
  Http2Session::Headers headers{{":method", "POST"},
                                {":scheme", scheme_},
                                {":path", method_paths[static_cast<std::size_t>(method)]},
                                {":authority", server_},
                                {"content-type", "application/grpc"},
                                {"te", "trailers"}};
  if (!token_.empty()) headers.emplace_back("token", token_);
  const StreamId stream =
      http2_->request(headers, std::move(body), on_message ? BodyEnds::never : BodyEnds::here);
  calls_.emplace(stream, Call{method, std::move(on_message), std::move(on_end), clock_.now()});
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
  if (malformed_) return break_off(cut_off, false);
  if (bytes_.state() == ByteStream::State::broken) {
    return break_off(why_broken(was_open), bytes_.failure().nothing_listens);
  }
  if (pings_due_ <= clock_.now()) {
    pings_due_ = Clock::never();
    http2_->answer_pings();
  }
  flush();
  deliver();  // ends the calls that a leaving server did not take
  if (is_leaving() && oldest_call() == Clock::never()) break_off(http2_->leaving(), false);
}

void GrpcTransport::receive() {
  has_received_ = true;
  const bool goes_on = http2_->receive(buffer_) && !too_large_;
  has_served_ = has_served_ || http2_->is_greeted();
  if (http2_->has_pings()) pings_due_ = std::min(pings_due_, later(clock_.now(), ping_delay));
  if (goes_on) return;
  const std::string why = too_large_
                              ? "a reply of more than " + std::to_string(most_bytes >> 20U) + " MiB"
                              : why_broken(true);
  deliver();
  break_off(why, false);
}

// A proxy whose server is away, and a server that expects TLS, end the connection without a word.
std::string GrpcTransport::why_broken(bool was_open) const {
  const std::string& why = http2_->failure().empty() ? bytes_.failure().text : http2_->failure();
  if (http2_->is_greeted() || !was_open) return why;
  const bool is_plain = scheme_ == "http";
  if (has_received_) {
    return "the server speaks no gRPC, or only " +
           std::string(is_plain ? "with TLS (etcds://): " : "without TLS (etcd://): ") + why;
  }
  return why + " before it answered; " +
         (has_served_ ? "if it is a proxy, etcd does not answer it"
          : is_plain  ? "it is a proxy that etcd does not answer, or speaks gRPC only with TLS "
                        "(etcds://)"
                      : "it is a proxy that etcd does not answer, or speaks no gRPC");
}

void GrpcTransport::on_header(StreamId stream, std::string_view name, std::string_view value) {
  Call* const call = find(stream);
  if (call == nullptr) return;
  int number = 0;
  if (name == ":status" && read_number(value, number)) call->http_status = number;
  if (name == "grpc-status" && read_number(value, number)) call->status = number;
  if (name == "grpc-message") call->status_text = percent_decoded(value);
}

void GrpcTransport::on_data(StreamId stream, std::string_view bytes) {
  Call* const call = find(stream);
  if (call == nullptr || too_large_) return;
  call->received += bytes;
  buffered_ += bytes.size();
  too_large_ = buffered_ > most_bytes || size_of_message(call->received) > most_bytes;
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
    buffered_ -= call->received.size();
    CallEnd end = end_of(*call, error);
    call->received.clear();
    const OnEnd on_end = std::move(call->on_end);
    erase(stream);
    on_end(std::move(end));
  }
}

void GrpcTransport::deliver_messages(StreamId stream) {
  std::string message;
  for (Call* call = find(stream); call != nullptr && take_message(call->received, message);
       call = find(stream)) {
    buffered_ -= size_with_prefix(message);
    malformed_ = malformed_ || !is_whole_reply(call->method, message);
    if (malformed_) return;
    const OnMessage on_message = call->on_message;  // which may cancel its own call
    on_message(message);
  }
}

// Only REFUSED_STREAM says that the server has not begun with a call. A proxy answers with an error
// of HTTP after etcd has run it, too.
CallEnd GrpcTransport::end_of(Call& call, std::uint32_t error) {
  CallEnd end;
  if (call.status < 0 && call.http_status == 0 && error == NGHTTP2_REFUSED_STREAM) {
    end.status = GrpcStatus::unavailable;
    end.sent = false;
    end.text = "the server takes no more calls on this connection";
    return end;
  }
  if (call.status < 0) {
    end.text = call.http_status != 0 ? "the server, or a proxy in front of it, does not answer as "
                                       "etcd does (HTTP status " +
                                           std::to_string(call.http_status) + ")"
                                     : "the server has ended the call: " +
                                           std::string(::nghttp2_http2_strerror(error));
    return end;
  }
  end.status = static_cast<GrpcStatus>(call.status);
  constexpr std::string_view origin = "etcdserver: ";
  const std::string& text = call.status_text;
  end.text = text.starts_with(origin) ? text.substr(origin.size()) : text;
  if (!end.ok() && end.text.empty()) end.text = "gRPC status " + std::to_string(call.status);
  const bool has_message = take_message(call.received, end.reply);
  const bool is_stream = call.on_message != nullptr;
  if (!end.ok() || is_stream) return end;
  if (has_message && is_whole_reply(call.method, end.reply)) return end;
  end.status = GrpcStatus::no_answer;
  end.text = has_message ? cut_off : "malformed reply: a call that succeeded has no message";
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
  clear_progress();
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
  clear_progress();
  failure_ = {};
}

void GrpcTransport::clear_progress() noexcept {
  unary_.clear();
  unsent_.clear();
  arrived_.clear();
  closed_.clear();
  buffered_ = 0;
  pings_due_ = Clock::never();
}

}  // namespace latchkey::inline v1::detail::etcd
