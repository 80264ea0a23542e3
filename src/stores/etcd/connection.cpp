// The connection to an etcd cluster: login, checks, timeouts, and the next endpoint.
// SPDX-License-Identifier: BSL-1.0
#include "stores/etcd/connection.hpp"

#include <algorithm>
#include <charconv>
#include <random>
#include <utility>

#include <latchkey/detail/in_quotes.hpp>
#include "stores/etcd/wire/messages.hpp"

namespace latchkey::inline v1::detail::etcd {
namespace {

constexpr int least_major = 3, least_minor = 4;

bool is_too_old(const std::string& version) {
  int major = 0, minor = 0;
  const char* const end = version.data() + version.size();
  const auto [dot, error] = std::from_chars(version.data(), end, major);
  if (error != std::errc() || dot == end) return true;
  std::from_chars(dot + 1, end, minor);
  return major < least_major || (major == least_major && minor < least_minor);
}

// etcd rejects a signed token that is older than the last change of any permission.
bool needs_new_login(const CallEnd& end) {
  return end.status == GrpcStatus::unauthenticated ||
         (end.status == GrpcStatus::invalid_argument &&
          end.text.find("revision of auth store is old") != std::string::npos);
}

}  // namespace

EtcdConnection::EtcdConnection(EtcdUri uri, stores::DescriptorSet& descriptors, Clock& clock,
                               std::chrono::milliseconds timeout,
                               std::function<void(bool up)> on_change)
    : uri_(std::move(uri)),
      clock_(clock),
      timeout_(timeout),
      on_change_(std::move(on_change)),
      transport_(descriptors, clock, uri_.tls),
      policy_(std::random_device{}()) {}

void EtcdConnection::want() {
  const Clock::time_point now = clock_.now();
  if (state_ == State::up) {
    // Nobody has read since the last call. A connection that has ended must not get the next one.
    transport_.advance();
    if (has_ended()) close(now);
  }
  policy_.want(now);
  if (state_ == State::down) policy_.hasten();
}

Clock::time_point EtcdConnection::gives_up_at(Clock::time_point submitted) const noexcept {
  const Clock::time_point timeout = later(submitted, timeout_);
  const ConnectionFailure* const why = failure();
  if (why == nullptr) return timeout;
  const bool all_tried = failures_ >= uri_.endpoints.size();
  if (why->permanent || (why->nothing_listens && all_tried)) return submitted;
  return std::min(timeout, policy_.gives_up_at(submitted));
}

bool EtcdConnection::start_failed() const noexcept {
  const ConnectionFailure* const why = failure();
  return why != nullptr && (why->permanent || failures_ >= uri_.endpoints.size());
}

void EtcdConnection::connect() {
  server_ = uri_.endpoints[endpoint_].text();
  transport_.connect(uri_.endpoints[endpoint_]);
  state_ = State::logging_in;
  uri_.user.empty() ? check_version() : log_in();
}

bool EtcdConnection::answered(const CallEnd& end) {
  if (end.ok()) return true;
  if (!failed_) fail({false, server_ + ": " + end.text, end.nothing_listens});
  return false;
}

void EtcdConnection::log_in() {
  transport_.use_token({});
  std::string request = encode_login(uri_.user, uri_.password);
  transport_.call(Method::authenticate, std::move(request), [this](CallEnd&& end) {
    if (end.status == GrpcStatus::failed_precondition) {
      return fail({true,
                   "etcd has no authentication enabled, but the URI has a user: remove the "
                   "user, or enable it with `etcdctl auth enable`"});
    }
    if (end.status == GrpcStatus::invalid_argument) {
      return fail({true, "etcd rejects this user or this password"});
    }
    if (!answered(end)) return;
    transport_.use_token(decode_token(end.reply));
    check_version();
  });
}

bool EtcdConnection::wants_user(const CallEnd& end) {
  if (end.status != GrpcStatus::invalid_argument || !uri_.user.empty()) return false;
  fail({true, "etcd requires a user and a password: etcd://user:password@host"});
  return true;
}

// Newer releases, such as 3.5.30, tell it to administrators only. None that is too old refuses it,
// and the read that follows needs a leader.
void EtcdConnection::check_version() {
  state_ = State::checking;
  transport_.call(Method::status, {}, [this](CallEnd&& end) {
    if (end.status == GrpcStatus::permission_denied) return check_reads();
    if (wants_user(end) || !answered(end)) return;
    const StatusReply status = decode_status(end.reply);
    if (is_too_old(status.version)) {
      return fail({true, "etcd " + in_quotes(status.version) + " is too old: 3.4 is the least"});
    }
    if (!status.has_leader) {
      return fail({false, server_ + ": the etcd cluster has no leader: most of its members do not "
                                    "answer each other"});
    }
    check_reads();
  });
}

// A read that most of the members confirm. That a key outside its permissions is refused says
// nothing about those of the locks.
void EtcdConnection::check_reads() {
  const std::string key = uri_.prefix + "latchkey";
  std::string request = encode_range({.key = key, .limit = 1, .keys_only = true});
  transport_.call(Method::range, std::move(request), [this](CallEnd&& end) {
    if (wants_user(end)) return;
    if (end.status != GrpcStatus::permission_denied && !answered(end)) return;
    go_up();
  });
}

void EtcdConnection::go_up() {
  state_ = State::up;
  policy_.connected(clock_.now());
  failures_ = 0;
  on_change_(true);
}

void EtcdConnection::fail(ConnectionFailure failure) {
  if (std::exchange(failed_, true)) return;
  why_ = std::move(failure);
}

bool EtcdConnection::has_ended() {
  const ConnectionFailure* const why = transport_.failure();
  if (why != nullptr && !failed_) {
    fail({false, server_ + ": " + why->text, why->nothing_listens});
  }
  return failed_;
}

void EtcdConnection::close(Clock::time_point now) {
  const bool was_up = state_ == State::up;
  state_ = State::down;
  endpoint_ = (endpoint_ + 1) % uri_.endpoints.size();
  ++failures_;
  policy_.failed(why_, now, false);
  transport_.disconnect(why_.text);
  failed_ = false;
  if (was_up) on_change_(false);
}

CallId EtcdConnection::call(Method method, std::string message, OnEnd on_end) {
  return transport_.call(method, std::move(message),
                         [this, on_end = std::move(on_end)](CallEnd&& end) {
                           if (end.status == GrpcStatus::no_answer) {
                             answered(end);
                           } else if (needs_new_login(end)) {
                             end.status = GrpcStatus::unauthenticated;
                             fail({false, server_ + ": the login has expired"});
                           }
                           on_end(std::move(end));
                         });
}

void EtcdConnection::advance(Clock::time_point now) {
  if (state_ == State::down && now >= policy_.next_attempt_at()) connect();
  transport_.advance();
  now = clock_.now();
  if (!has_ended() && later(transport_.oldest_call(), timeout_) <= now) {
    fail({false, server_ + ": no answer for " + std::to_string(timeout_.count()) + " ms"});
  }
  if (failed_) close(now);
}

Clock::time_point EtcdConnection::due() noexcept {
  if (failed_) return Clock::time_point{};
  if (state_ == State::down) return policy_.next_attempt_at();
  return std::min(transport_.due(), later(transport_.oldest_call(), timeout_));
}

void EtcdConnection::start_over(Clock::time_point now) noexcept {
  transport_.drop();
  policy_.failed(no_memory(), now, true);
  state_ = State::down;
  failed_ = false;
}

void EtcdConnection::abandon() noexcept {
  transport_.abandon();
  policy_.reset();
  state_ = State::down;
  failed_ = false;
}

}  // namespace latchkey::inline v1::detail::etcd
