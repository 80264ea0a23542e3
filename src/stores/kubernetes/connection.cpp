// The connection to the API server of Kubernetes: token, check, timeouts, reconnection.
// SPDX-License-Identifier: BSL-1.0
#include "stores/kubernetes/connection.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <random>
#include <stdexcept>
#include <utility>

#include <latchkey/detail/in_quotes.hpp>
#include "stores/kubernetes/api_reply.hpp"
#include "stores/kubernetes/lease.hpp"

namespace latchkey::inline v1::detail::kubernetes {
namespace {

constexpr const char* api_path = "/apis/coordination.k8s.io/v1";
constexpr http2::StoreWords store_words{"k8s",
                                        "server=http:// is without TLS, server=https:// with it"};

std::string read_token(const std::string& path) {
  std::ifstream file(path);
  std::string token(std::istreambuf_iterator<char>(file), {});
  while (!token.empty() && (token.back() == '\n' || token.back() == '\r')) token.pop_back();
  const bool is_text =
      std::ranges::all_of(token, [](char byte) { return byte > ' ' && byte < 127; });
  if (token.empty() || !is_text) {
    throw std::invalid_argument("the option 'token_file' of the k8s URI names " + in_quotes(path) +
                                ", which cannot be used: there is no token in it");
  }
  return token;
}

std::optional<MadeOfFiles<std::string>> token_of(const std::string& path) {
  if (path.empty()) return std::nullopt;
  return MadeOfFiles<std::string>({path}, [path] { return read_token(path); });
}

}  // namespace

ApiConnection::ApiConnection(KubernetesUri uri, stores::DescriptorSet& descriptors, Clock& clock,
                             std::chrono::milliseconds timeout,
                             std::function<void(bool up)> on_change)
    : uri_(std::move(uri)),
      server_(uri_.endpoint.text()),
      leases_path_(std::string(api_path) + "/namespaces/" + uri_.name_space + "/leases"),
      clock_(clock),
      timeout_(timeout),
      on_change_(std::move(on_change)),
      token_(token_of(uri_.token_file)),
      transport_(descriptors, clock, uri_.tls, store_words),
      policy_(std::random_device{}()) {}

void ApiConnection::want() {
  const Clock::time_point now = clock_.now();
  if (state_ == State::up) {
    // Nobody has read since the last request. A connection that has ended must not get the next.
    transport_.advance();
    if (has_ended()) close(now);
  }
  policy_.want(now);
  if (state_ == State::down) policy_.hasten();
}

Clock::time_point ApiConnection::gives_up_at(Clock::time_point submitted) const noexcept {
  const Clock::time_point timeout = later(submitted, timeout_);
  const ConnectionFailure* const why = failure();
  if (why == nullptr) return timeout;
  if (why->is_certain()) return submitted;
  return std::min(timeout, policy_.gives_up_at(submitted));
}

void ApiConnection::connect() {
  transport_.connect(uri_.endpoint);
  state_ = State::checking;
  transport_.request(prepared("GET", api_path),
                     [this](http2::HttpEnd&& end) { check(std::move(end)); });
}

// Every user that is authenticated may read which APIs there are.
void ApiConnection::check(http2::HttpEnd&& end) {
  const bool is_known = token_ || !uri_.tls.certificate.empty();
  if (end.status == HttpStatus::ok || (end.status == HttpStatus::forbidden && is_known)) {
    state_ = State::up;
    policy_.connected(clock_.now());
    return on_change_(true);
  }
  if (end.status == 0) {
    if (!failed_) fail({false, server_ + ": " + end.text, end.nothing_listens});
    return;
  }
  if (end.status == HttpStatus::forbidden) {
    return fail(
        {true, "the API server does not know this client; expected token_file, or tls_cert"});
  }
  if (end.status == HttpStatus::not_found && !read_status(end.body).reason.empty()) {
    return fail({true,
                 "the API server has no coordination.k8s.io/v1; expected Kubernetes 1.14 or "
                 "later"});
  }
  const std::string why = reason_of(end, {"get", uri_.name_space});
  fail({end.status == HttpStatus::unauthorized,
        end.status == HttpStatus::unauthorized ? why : server_ + ": " + why});
}

http2::HttpRequest ApiConnection::prepared(std::string_view method, std::string_view path) {
  http2::HttpRequest request{.method = method, .path = path};
  if (token_) request.token = token_->current();
  return request;
}

void ApiConnection::get(const std::string& path, http2::OnHttpEnd on_end) {
  const std::string whole = leases_path_ + path;
  transport_.request(prepared("GET", whole), std::move(on_end));
}

void ApiConnection::write(std::string_view method, const std::string& path, std::string body,
                          http2::OnHttpEnd on_end) {
  const std::string whole = leases_path_ + path;
  http2::HttpRequest request = prepared(method, whole);
  request.content_type = "application/json";
  request.body = std::move(body);
  transport_.request(std::move(request), std::move(on_end));
}

http2::RequestId ApiConnection::open_stream(const std::string& path, http2::OnHttpData on_data,
                                            http2::OnHttpEnd on_end) {
  const std::string whole = leases_path_ + path;
  return transport_.open_stream(prepared("GET", whole), std::move(on_data), std::move(on_end));
}

void ApiConnection::fail(ConnectionFailure failure) {
  if (std::exchange(failed_, true)) return;
  why_ = std::move(failure);
}

bool ApiConnection::has_ended() {
  const ConnectionFailure* const why = transport_.failure();
  if (why != nullptr && !failed_) fail({false, server_ + ": " + why->text, why->nothing_listens});
  return failed_;
}

void ApiConnection::close(Clock::time_point now) {
  const bool was_up = state_ == State::up;
  state_ = State::down;
  policy_.failed(why_, now, false);
  transport_.disconnect(why_.text);
  failed_ = false;
  if (was_up) on_change_(false);
}

void ApiConnection::advance(Clock::time_point now) {
  if (state_ == State::down && now >= policy_.next_attempt_at()) connect();
  transport_.advance();
  now = clock_.now();
  if (!has_ended() && later(transport_.oldest_request(), timeout_) <= now) {
    fail({false, server_ + ": no answer for " + std::to_string(timeout_.count()) + " ms"});
  }
  if (failed_) close(now);
}

Clock::time_point ApiConnection::due() noexcept {
  if (failed_) return Clock::time_point{};
  if (state_ == State::down) return policy_.next_attempt_at();
  return std::min(transport_.due(), later(transport_.oldest_request(), timeout_));
}

void ApiConnection::start_over(Clock::time_point now) noexcept {
  transport_.drop();
  policy_.failed(no_memory(), now, true);
  state_ = State::down;
  failed_ = false;
}

void ApiConnection::abandon() noexcept {
  transport_.abandon();
  policy_.reset();
  state_ = State::down;
  failed_ = false;
}

}  // namespace latchkey::inline v1::detail::kubernetes
