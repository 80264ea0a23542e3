// The connection to the servers of a store that speak HTTP/2: checks, timeouts, the next server.
// SPDX-License-Identifier: BSL-1.0
#include "stores/http2/http_connection.hpp"

#include <algorithm>
#include <random>
#include <utility>

namespace latchkey::inline v1::detail::http2 {

using Start = stores::StoreClient::Start;

HttpConnection::HttpConnection(const HttpServers& servers, stores::DescriptorSet& descriptors,
                               Clock& clock, std::chrono::milliseconds timeout,
                               std::function<void(bool up)> on_change)
    : endpoints_(servers.endpoints),
      clock_(clock),
      timeout_(timeout),
      on_change_(std::move(on_change)),
      http_(descriptors, clock, servers.tls, servers.dialect),
      policy_(std::random_device{}()) {}

void HttpConnection::want() {
  const Clock::time_point now = clock_.now();
  if (state_ == State::up) {
    // Nobody has read since the last request. A connection that has ended must not get the next.
    http_.advance();
    if (has_ended()) close(now);
  }
  policy_.want(now);
  if (state_ == State::down) policy_.hasten();
}

Clock::time_point HttpConnection::gives_up_at(Clock::time_point submitted) const noexcept {
  const Clock::time_point timeout = later(submitted, timeout_);
  const ConnectionFailure* const why = failure();
  if (why == nullptr) return timeout;
  if (why->permanent || (why->nothing_listens && all_tried())) return submitted;
  return std::min(timeout, policy_.gives_up_at(submitted));
}

Start HttpConnection::start_state() const noexcept {
  if (is_up()) return Start::up;
  const ConnectionFailure* const why = failure();
  return why != nullptr && (why->permanent || all_tried()) ? Start::failed : Start::connecting;
}

void HttpConnection::connect() {
  http_.connect(endpoints_[endpoint_]);
  state_ = State::checking;
  check();
}

void HttpConnection::passed() {
  state_ = State::up;
  policy_.connected(clock_.now());
  failures_ = 0;
  on_change_(true);
}

void HttpConnection::fail(ConnectionFailure failure) {
  if (std::exchange(failed_, true)) return;
  why_ = std::move(failure);
}

void HttpConnection::fail_here(const std::string& why, bool nothing_listens) {
  fail({.permanent = false,
        .text = endpoints_[endpoint_].text() + ": " + why,
        .nothing_listens = nothing_listens});
}

bool HttpConnection::has_ended() {
  const ConnectionFailure* const why = http_.failure();
  if (why != nullptr) fail_here(why->text, why->nothing_listens);
  return failed_;
}

void HttpConnection::close(Clock::time_point now) {
  const bool was_up = state_ == State::up;
  state_ = State::down;
  endpoint_ = (endpoint_ + 1) % endpoints_.size();
  ++failures_;
  policy_.failed(why_, now, false);
  http_.disconnect(why_.text);
  failed_ = false;
  if (was_up) on_change_(false);
}

void HttpConnection::advance(Clock::time_point now) {
  if (state_ == State::down && now >= policy_.next_attempt_at()) connect();
  http_.advance();
  now = clock_.now();
  if (!has_ended() && later(http_.oldest_request(), timeout_) <= now) {
    fail_here("no answer for " + std::to_string(timeout_.count()) + " ms");
  }
  if (failed_) close(now);
}

Clock::time_point HttpConnection::due() noexcept {
  if (failed_) return Clock::time_point{};
  if (state_ == State::down) return policy_.next_attempt_at();
  return std::min(http_.due(), later(http_.oldest_request(), timeout_));
}

void HttpConnection::start_over(Clock::time_point now) noexcept {
  http_.drop();
  policy_.failed(no_memory(), now, true);
  state_ = State::down;
  failed_ = false;
}

void HttpConnection::abandon() noexcept {
  http_.abandon();
  policy_.reset();
  state_ = State::down;
  failed_ = false;
}

}  // namespace latchkey::inline v1::detail::http2
