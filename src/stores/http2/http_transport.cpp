// Requests over one HTTP/2 connection.
// SPDX-License-Identifier: BSL-1.0
#include "stores/http2/http_transport.hpp"

#include <algorithm>
#include <chrono>

#include "core/text/number.hpp"

namespace latchkey::inline v1::detail::http2 {
namespace {

/// When a ping is answered. gRPC servers send one with each call, to measure how much data the
/// network carries, but not before the last one was answered: so they cost no packet per call.
constexpr std::chrono::milliseconds ping_delay{50};

}  // namespace

std::string reply_too_large(std::size_t most_bytes) {
  return "a reply of more than " + std::to_string(most_bytes >> 20U) + " MiB";
}

HttpTransport::HttpTransport(stores::DescriptorSet& descriptors, Clock& clock,
                             const TlsOptions& tls, const HttpDialect& dialect)
    : clock_(clock),
      dialect_(dialect),
      is_plain_(!tls.offered()),
      bytes_(descriptors, tls, dialect.words) {}

void HttpTransport::connect(const UriEndpoint& endpoint) {
  server_ = endpoint.text();
  failure_ = {};
  rejection_.clear();
  has_received_ = false;
  ++connection_;
  Http2Events& events = *this;
  http2_ = std::make_unique<Http2Session>(events);
  bytes_.connect(endpoint);
}

RequestId HttpTransport::id_of(StreamId stream) const noexcept {
  return static_cast<RequestId>(connection_) << 32U | static_cast<std::uint32_t>(stream);
}

HttpTransport::Exchange* HttpTransport::find(StreamId stream) noexcept {
  const auto found = exchanges_.find(stream);
  return found == exchanges_.end() ? nullptr : &found->second;
}

HttpTransport::Exchange* HttpTransport::find(RequestId id) noexcept {
  return id == id_of(stream_of(id)) ? find(stream_of(id)) : nullptr;
}

void HttpTransport::erase(StreamId stream) noexcept {
  const auto found = exchanges_.find(stream);
  if (found == exchanges_.end()) return;
  buffered_ -= found->second.end.body.size();
  exchanges_.erase(found);
}

RequestId HttpTransport::request(HttpRequest&& request, OnHttpEnd on_end, OnHttpData on_data) {
  const RequestId id = open_stream(std::move(request), std::move(on_data), std::move(on_end));
  unary_.push_back(id);
  return id;
}

RequestId HttpTransport::open_stream(HttpRequest&& request, OnHttpData on_data, OnHttpEnd on_end) {
  Http2Session::Headers headers{{":method", request.method},
                                {":scheme", is_plain_ ? "http" : "https"},
                                {":path", request.path},
                                {":authority", server_},
                                {"user-agent", "latchkey"}};
  headers.insert(headers.end(), request.headers.begin(), request.headers.end());
  const StreamId stream = http2_->request(headers, std::move(request.body), request.body_ends);
  exchanges_.emplace(stream, Exchange{std::move(on_data), std::move(on_end), clock_.now()});
  unsent_.push_back(stream);
  return id_of(stream);
}

void HttpTransport::append(RequestId id, std::string_view bytes) {
  if (find(id) != nullptr) http2_->append(stream_of(id), bytes);
}

void HttpTransport::cancel(RequestId id) noexcept {
  if (find(id) == nullptr) return;
  erase(stream_of(id));
  http2_->cancel(stream_of(id));
}

void HttpTransport::reject(std::string why) {
  if (rejection_.empty()) rejection_ = std::move(why);
}

void HttpTransport::flush() {
  if (bytes_.state() != ByteStream::State::open) return;
  const std::string output = http2_->take_output();
  for (const StreamId stream : std::exchange(unsent_, {})) {
    if (Exchange* const one = find(stream)) one->sent = true;
  }
  if (!output.empty()) bytes_.send(output);
}

void HttpTransport::advance() {
  if (http2_ == nullptr || !failure_.text.empty()) return;
  buffer_.clear();
  const bool was_open = bytes_.state() == ByteStream::State::open;
  bytes_.advance(buffer_);
  if (!buffer_.empty()) receive();
  deliver();
  if (!failure_.text.empty()) return;
  if (!rejection_.empty()) return break_off(std::exchange(rejection_, {}), false);
  if (bytes_.state() == ByteStream::State::broken) {
    return break_off(why_broken(was_open), bytes_.failure().nothing_listens);
  }
  if (pings_due_ <= clock_.now()) {
    pings_due_ = Clock::never();
    http2_->answer_pings();
  }
  flush();
  deliver();  // ends the requests that a leaving server did not take
  if (is_leaving() && oldest_request() == Clock::never()) break_off(http2_->leaving(), false);
}

void HttpTransport::receive() {
  has_received_ = true;
  const bool goes_on = http2_->receive(buffer_);
  has_served_ = has_served_ || http2_->is_greeted();
  if (http2_->has_pings()) pings_due_ = std::min(pings_due_, later(clock_.now(), ping_delay));
  if (goes_on) return;
  const std::string why = why_broken(true);
  deliver();
  break_off(why, false);
}

// A proxy whose server is away, and a server that expects TLS, end the connection without a word.
std::string HttpTransport::why_broken(bool was_open) const {
  const std::string& why = http2_->failure().empty() ? bytes_.failure().text : http2_->failure();
  if (http2_->is_greeted() || !was_open) return why;
  const std::string protocol(dialect_.words.protocol), name(dialect_.words.name);
  const std::string only_with_tls = "only with TLS (" + std::string(dialect_.words.with_tls) + ")";
  const std::string only_without =
      "only without TLS (" + std::string(dialect_.words.without_tls) + ")";
  if (has_received_) {
    return "the server speaks no " + protocol + ", or " +
           (is_plain_ ? only_with_tls : only_without) + ": " + why;
  }
  const std::string proxy = "it is a proxy that " + name + " does not answer, or speaks ";
  return why + " before it answered; " +
         (has_served_ ? "if it is a proxy, " + name + " does not answer it"
          : is_plain_ ? proxy + protocol + ' ' + only_with_tls
                      : proxy + "no " + protocol);
}

void HttpTransport::on_header(StreamId stream, std::string_view name, std::string_view value) {
  Exchange* const one = find(stream);
  if (one == nullptr) return;
  int number = 0;
  if (name == ":status" && read_number(value, number)) {
    one->end.status = number;
    if (one->on_data) arrived_.push_back(stream);
  }
  for (std::size_t at = 0; at < dialect_.kept_headers.size(); ++at) {
    if (name == dialect_.kept_headers.at(at)) one->end.headers.at(at) = value;
  }
}

void HttpTransport::on_data(StreamId stream, std::string_view bytes) {
  Exchange* const one = find(stream);
  if (one == nullptr || !rejection_.empty()) return;
  one->end.body += bytes;
  buffered_ += bytes.size();
  if (buffered_ > dialect_.most_bytes) reject(reply_too_large(dialect_.most_bytes));
  if (one->on_data) arrived_.push_back(stream);
}

void HttpTransport::on_closed(StreamId stream, std::uint32_t error) {
  if (find(stream) != nullptr) closed_.emplace_back(stream, error);
}

// The callbacks may start and cancel requests. Nothing is believed of a server once one of its
// answers was rejected: `break_off` ends the requests.
void HttpTransport::deliver() {
  for (const StreamId stream : std::exchange(arrived_, {})) deliver_data(stream);
  for (const auto& [stream, error] : std::exchange(closed_, {})) deliver_end(stream, error);
}

// The body of an answer that is no success stays for its end, which says why.
void HttpTransport::deliver_data(StreamId stream) {
  for (bool takes_more = true; takes_more;) {
    Exchange* one = find(stream);
    if (one == nullptr || one->end.status != 200 || !rejection_.empty()) return;
    std::string body = std::exchange(one->end.body, {});
    if (body.empty() && std::exchange(one->announced, true)) return;
    one->announced = true;
    const std::size_t size = body.size();
    OnHttpData on_data = std::move(one->on_data);  // which may cancel its own request
    buffered_ -= size;
    on_data(body);
    one = find(stream);
    if (one == nullptr) return;
    takes_more = body.size() != size;
    buffered_ += body.size();
    one->end.body = std::move(body);
    one->on_data = std::move(on_data);
  }
}

void HttpTransport::deliver_end(StreamId stream, std::uint32_t error) {
  Exchange* const one = find(stream);
  if (one == nullptr || !rejection_.empty()) return;
  buffered_ -= one->end.body.size();
  HttpEnd end = std::exchange(one->end, {});
  // Only REFUSED_STREAM says that the server has not begun with a request.
  end.refused = end.status == 0 && error == NGHTTP2_REFUSED_STREAM;
  end.sent = !end.refused;
  if (error != NGHTTP2_NO_ERROR) end.status = 0;
  if (end.status == 0) {
    end.body.clear();
    end.text = end.refused ? "the server takes no more requests on this connection"
                           : "the server has ended the request: " +
                                 std::string(::nghttp2_http2_strerror(error));
  }
  const OnHttpEnd on_end = std::move(one->on_end);
  erase(stream);
  on_end(std::move(end));
}

Clock::time_point HttpTransport::oldest_request() noexcept {
  for (; !unary_.empty(); unary_.pop_front()) {
    if (const Exchange* const one = find(unary_.front())) return one->started;
  }
  return Clock::never();
}

void HttpTransport::break_off(const std::string& why, bool nothing_listens) {
  failure_ = {.permanent = false, .text = why, .nothing_listens = nothing_listens};
  bytes_.close();
  clear_progress();
  for (auto& [stream, one] : std::exchange(exchanges_, {})) {
    HttpEnd end;
    end.text = why;
    end.sent = one.sent;
    end.nothing_listens = nothing_listens;
    one.on_end(std::move(end));
  }
}

void HttpTransport::disconnect(const std::string& why) {
  break_off(why, false);
  failure_ = {};
  http2_.reset();
}

void HttpTransport::drop() noexcept {
  bytes_.close();
  forget_requests();
}

void HttpTransport::abandon() noexcept {
  bytes_.abandon();
  forget_requests();
}

void HttpTransport::forget_requests() noexcept {
  http2_.reset();
  exchanges_.clear();
  clear_progress();
  failure_ = {};
}

void HttpTransport::clear_progress() noexcept {
  unary_.clear();
  unsent_.clear();
  arrived_.clear();
  closed_.clear();
  buffered_ = 0;
  pings_due_ = Clock::never();
}

}  // namespace latchkey::inline v1::detail::http2
