// Connects to the master that sentinels name.
// SPDX-License-Identifier: BSL-1.0
#include "redis/connect/sentinel_resolver.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace latchkey::inline v1::detail::redis {
namespace {

using namespace std::chrono_literals;
using State = SentinelSession::State;

/// How long the resolver waits for further answers after the first one.
constexpr auto grace = 200ms;

}  // namespace

SentinelResolver::SentinelResolver(const RedisUri& uri, Transport& transport, const TlsContext* tls,
                                   std::chrono::milliseconds timeout)
    : uri_(uri), transport_(transport) {
  for (const RedisUri::Endpoint& endpoint : uri.endpoints) {
    sentinels_.push_back(
        std::make_unique<SentinelSession>(uri.sentinel_at(endpoint), tls, uri.master, timeout / 2));
  }
}

Io SentinelResolver::start(Clock::time_point now) {
  tcp_connector_.reset();
  decide_at_ = Clock::never();
  for (const auto& sentinel : sentinels_) sentinel->query(now);
  return decide(now);
}

Io SentinelResolver::resume(Clock::time_point now) {
  resume_all(now);
  if (tcp_connector_ == nullptr) return decide(now);
  if (auto failure = why_not_master(now)) return Io::broken(*std::move(failure));
  return tcp_connector_->resume(now);
}

void SentinelResolver::resume_all(Clock::time_point now) {
  for (const auto& sentinel : sentinels_) sentinel->resume(now);
}

Io SentinelResolver::decide(Clock::time_point now) {
  const auto count = [&](State state) {
    return static_cast<std::size_t>(std::ranges::count(
        sentinels_, state, [](const auto& sentinel) { return sentinel->state(); }));
  };
  const std::size_t answered = count(State::answered), failed = count(State::failed);
  if (failed == sentinels_.size()) return Io::broken(no_sentinel_answers());
  const bool enough = answered > sentinels_.size() / 2 || answered + failed == sentinels_.size();
  if (!enough) {
    if (answered > 0) decide_at_ = std::min(decide_at_, later(now, grace));
    if (now < decide_at_) return Io::blocked();
  }
  const SentinelSession::Answer* const best = best_answer(now);
  if (best == nullptr) {
    // The sentinel that had answered does not know the master any more.
    decide_at_ = Clock::never();
    return Io::blocked();
  }
  master_ = uri_.server_at(best->master);
  tcp_connector_ = std::make_unique<TcpConnector>(*master_, transport_);
  return tcp_connector_->start(now);
}

// An answer to an earlier query counts for a while, also if its sentinel is gone: an epoch that was
// reached is never taken back. If several masters have the same epoch, the one that most sentinels
// name is right.
const SentinelSession::Answer* SentinelResolver::best_answer(Clock::time_point now) const noexcept {
  const auto votes_for = [&](const SentinelSession::Answer& answer) {
    return std::ranges::count_if(
        sentinels_, [&](const auto& sentinel) { return sentinel->answer() == answer; });
  };
  const SentinelSession::Answer* best = nullptr;
  for (const auto& sentinel : sentinels_) {
    if (!sentinel->answer() || sentinel->is_out_of_date(now)) continue;
    const SentinelSession::Answer& its = *sentinel->answer();
    if (best == nullptr || its.epoch > best->epoch ||
        (its.epoch == best->epoch && votes_for(its) > votes_for(*best))) {
      best = &its;
    }
  }
  return best;
}

Failure SentinelResolver::no_sentinel_answers() const {
  // A permanent failure is reported first: the user has to act on it.
  const auto permanent = std::ranges::find_if(
      sentinels_, [](const auto& sentinel) { return sentinel->failure().permanent; });
  const bool all = std::ranges::all_of(
      sentinels_, [](const auto& sentinel) { return sentinel->failure().permanent; });
  const SentinelSession& one = permanent != sentinels_.end() ? **permanent : *sentinels_.front();
  return {all, "no sentinel says where the master '" + uri_.master + "' is: the one at " +
                   one.uri().endpoint.text() + ": " + one.failure().text};
}

void SentinelResolver::cancel() noexcept {
  if (tcp_connector_ != nullptr) tcp_connector_->cancel();
  transport_.drop();
}

void SentinelResolver::wait_for(PollSet& set, PollSet::Source source) const {
  if (tcp_connector_ != nullptr) tcp_connector_->wait_for(set, source);
  watch(set, source);
}

Clock::time_point SentinelResolver::due() const noexcept {
  Clock::time_point at = tcp_connector_ == nullptr ? decide_at_ : Clock::never();
  for (const auto& sentinel : sentinels_) at = std::min(at, sentinel->due());
  return at;
}

void SentinelResolver::watch(PollSet& set, PollSet::Source source) const {
  for (const auto& sentinel : sentinels_) sentinel->wait_for(set, source);
}

std::optional<Failure> SentinelResolver::check_route(Clock::time_point now) {
  resume_all(now);
  return why_not_master(now);
}

// Why the server that the connector leads to is not the master; empty: it is.
std::optional<Failure> SentinelResolver::why_not_master(Clock::time_point now) const {
  const SentinelSession::Answer* const answer = best_answer(now);
  if (answer == nullptr || !master_ || answer->master == master_->endpoint) return std::nullopt;
  return Failure{false, "the sentinels name another master: " + answer->master.text()};
}

void SentinelResolver::lock_for_fork() noexcept {
  for (const auto& sentinel : sentinels_) sentinel->lock_for_fork();
}

void SentinelResolver::unlock_after_fork() noexcept {
  for (const auto& sentinel : sentinels_) sentinel->unlock_after_fork();
}

void SentinelResolver::abandon() noexcept {
  for (const auto& sentinel : sentinels_) sentinel->abandon();
  tcp_connector_.reset();
  decide_at_ = Clock::never();
}

}  // namespace latchkey::inline v1::detail::redis
