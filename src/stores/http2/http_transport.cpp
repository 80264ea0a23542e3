// Requests over one HTTP/2 connection.
// SPDX-License-Identifier: BSL-1.0
#include "stores/http2/http_transport.hpp"

#include <algorithm>
#include <chrono>

#include "core/text/number.hpp"

namespace latchkey::inline v1::detail::http2 {
namespace {

/// When a ping is answered: several of them with one packet.
constexpr std::chrono::milliseconds ping_delay{50};
/// The limit for what has arrived of all answers that are not complete.
constexpr std::size_t most_bytes = std::size_t{64} << 20U;

}  // namespace

HttpTransport::HttpTransport(stores::DescriptorSet& descriptors, Clock& clock,
                             const TlsOptions& tls, const StoreWords& words)
    : clock_(clock),
      words_(words),
      scheme_(tls.offered() ? "https" : "http"),
      bytes_(descriptors, tls, words) {}

void HttpTransport::connect(const UriEndpoint& endpoint) {
  server_ = endpoint.text();
  failure_ = {};
  too_large_ = false;
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
  const auto stream = static_cast<StreamId>(id & 0xFFFF'FFFFU);
  return id == id_of(stream) ? find(stream) : nullptr;
}

void HttpTransport::erase(StreamId stream) noexcept {
  const auto found = exchanges_.find(stream);
  if (found == exchanges_.end()) return;
  buffered_ -= found->second.end.body.size();
  exchanges_.erase(found);
}

RequestId HttpTransport::request(HttpRequest&& request, OnHttpEnd on_end) {
  const RequestId id = start(std::move(request), nullptr, std::move(on_end));
  unary_.push_back(id);
  return id;
}

RequestId HttpTransport::open_stream(HttpRequest&& request, OnHttpData on_data, OnHttpEnd on_end) {
  return start(std::move(request), std::move(on_data), std::move(on_end));
}

RequestId HttpTransport::start(HttpRequest&& request, OnHttpData on_data, OnHttpEnd on_end) {
  Http2Session::Headers headers{{":method", request.method},    {":scheme", scheme_},
                                {":path", request.path},        {":authority", server_},
                                {"accept", "application/json"}, {"user-agent", "latchkey"}};
  const std::string credential = "Bearer " + std::string(request.token);
  if (!request.token.empty()) headers.emplace_back("authorization", credential);
  if (!request.content_type.empty()) headers.emplace_back("content-type", request.content_type);
  const StreamId stream =
      http2_->request(headers, std::move(request.body), Http2Session::BodyEnds::here);
  exchanges_.emplace(stream, Exchange{std::move(on_data), std::move(on_end), clock_.now()});
  unsent_.push_back(stream);
  return id_of(stream);
}

void HttpTransport::cancel(RequestId id) noexcept {
  if (find(id) == nullptr) return;
  const auto stream = static_cast<StreamId>(id & 0xFFFF'FFFFU);
  erase(stream);
  http2_->cancel(stream);
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
  const bool goes_on = http2_->receive(buffer_) && !too_large_;
  if (http2_->has_pings()) pings_due_ = std::min(pings_due_, later(clock_.now(), ping_delay));
  if (goes_on) return;
  const std::string why =
      too_large_ ? "an answer of more than " + std::to_string(most_bytes >> 20U) + " MiB"
                 : why_broken(true);
  deliver();
  break_off(why, false);
}

// A server that speaks HTTP/1 alone answers the greeting with text, or hangs up.
std::string HttpTransport::why_broken(bool was_open) const {
  const std::string& why = http2_->failure().empty() ? bytes_.failure().text : http2_->failure();
  if (http2_->is_greeted() || !was_open) return why;
  return "the server speaks no HTTP/2, or expects something else (" + std::string(words_.tls_hint) +
         "): " + why;
}

void HttpTransport::on_header(StreamId stream, std::string_view name, std::string_view value) {
  Exchange* const one = find(stream);
  if (one == nullptr) return;
  int number = 0;
  if (name == ":status" && read_number(value, number)) {
    one->end.status = number;
    if (one->on_data) arrived_.push_back(stream);
  }
  if (name == "retry-after") one->end.retry_after = value;
}

void HttpTransport::on_data(StreamId stream, std::string_view bytes) {
  Exchange* const one = find(stream);
  if (one == nullptr || too_large_) return;
  one->end.body += bytes;
  buffered_ += bytes.size();
  too_large_ = buffered_ > most_bytes;
  if (one->on_data) arrived_.push_back(stream);
}

void HttpTransport::on_closed(StreamId stream, std::uint32_t error) {
  if (find(stream) != nullptr) closed_.emplace_back(stream, error);
}

// The callbacks may start and cancel requests.
void HttpTransport::deliver() {
  for (const StreamId stream : std::exchange(arrived_, {})) deliver_data(stream);
  for (const auto& [stream, error] : std::exchange(closed_, {})) {
    Exchange* const one = find(stream);
    if (one == nullptr) continue;
    buffered_ -= one->end.body.size();
    HttpEnd end = std::exchange(one->end, {});
    const bool is_whole = error == NGHTTP2_NO_ERROR && end.status != 0;
    if (!is_whole) {
      // Only REFUSED_STREAM says that the server has not begun with a request.
      end.sent = end.status != 0 || error != NGHTTP2_REFUSED_STREAM;
      end.status = 0;
      end.body.clear();
      end.text = end.sent ? "the server has ended the request: " +
                                std::string(::nghttp2_http2_strerror(error))
                          : "the server takes no more requests on this connection";
    }
    const OnHttpEnd on_end = std::move(one->on_end);
    erase(stream);
    on_end(std::move(end));
  }
}

// The body of an answer that is no success stays for its end, which says why.
void HttpTransport::deliver_data(StreamId stream) {
  Exchange* const one = find(stream);
  if (one == nullptr || one->end.status != 200) return;
  const OnHttpData on_data = one->on_data;  // which may cancel its own request
  buffered_ -= one->end.body.size();
  const std::string bytes = std::exchange(one->end.body, {});
  if (bytes.empty() && std::exchange(one->announced, true)) return;
  one->announced = true;
  on_data(bytes);
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
