// The way to a master that sentinels look after.
#include "redis/connect/sentinel_resolver.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace latchkey::detail::redis {
namespace {

using namespace std::chrono_literals;
using State = SentinelSession::State;

/// How long others are waited for when there is an answer.
constexpr auto grace = 200ms;

}  // namespace

SentinelResolver::SentinelResolver(const RedisUri& uri, Transport& transport, const TlsContext* tls,
                                   std::chrono::milliseconds timeout)
    : uri_(uri), transport_(transport) {
  for (const RedisUri::Endpoint& place : uri.places) {
    sentinels_.push_back(
        std::make_unique<SentinelSession>(uri.sentinel_at(place), tls, uri.master, timeout / 2));
  }
}

Io SentinelResolver::begin(Clock::time_point now) {
  tcp_connector_.reset();
  decide_at_ = Clock::never();
  for (const auto& sentinel : sentinels_) sentinel->ask(now);
  return decide(now);
}

Io SentinelResolver::go_on(Clock::time_point now) {
  hear_all(now);
  if (tcp_connector_ == nullptr) return decide(now);
  if (auto failure = elsewhere(now)) return Io::broken(*std::move(failure));
  return tcp_connector_->go_on(now);
}

void SentinelResolver::hear_all(Clock::time_point now) {
  for (const auto& sentinel : sentinels_) sentinel->go_on(now);
}

Io SentinelResolver::decide(Clock::time_point now) {
  const auto count = [&](State state) {
    return static_cast<std::size_t>(std::ranges::count(
        sentinels_, state, [](const auto& sentinel) { return sentinel->state(); }));
  };
  const std::size_t answered = count(State::answered), failed = count(State::failed);
  if (failed == sentinels_.size()) return Io::broken(nobody_answers());
  const bool enough = answered > sentinels_.size() / 2 || answered + failed == sentinels_.size();
  if (!enough) {
    if (answered > 0) decide_at_ = std::min(decide_at_, later(now, grace));
    if (now < decide_at_) return Io::blocked();
  }
  const SentinelSession::Answer* const best = verdict(now);
  if (best == nullptr) {
    // The one that had answered has taken it back: it knows of no such master any more.
    decide_at_ = Clock::never();
    return Io::blocked();
  }
  master_ = uri_.server_at(best->master);
  tcp_connector_ = std::make_unique<TcpConnector>(*master_, transport_);
  return tcp_connector_->begin(now);
}

// Also one that was given before the last question counts for a while: its sentinel may be gone by
// now, but an epoch that was reached is not taken back. Of several masters with one epoch it is the
// one that most sentinels name.
const SentinelSession::Answer* SentinelResolver::verdict(Clock::time_point now) const noexcept {
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

Failure SentinelResolver::nobody_answers() const {
  // What would be the same if they were asked again is more worth knowing.
  const auto refused = std::ranges::find_if(
      sentinels_, [](const auto& sentinel) { return sentinel->failure().refused; });
  const bool all = std::ranges::all_of(
      sentinels_, [](const auto& sentinel) { return sentinel->failure().refused; });
  const SentinelSession& one = refused != sentinels_.end() ? **refused : *sentinels_.front();
  return {all, "no sentinel says where the master '" + uri_.master + "' is: the one at " +
                   one.uri().place.text() + ": " + one.failure().text};
}

void SentinelResolver::give_up() noexcept {
  if (tcp_connector_ != nullptr) tcp_connector_->give_up();
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

std::optional<Failure> SentinelResolver::look(Clock::time_point now) {
  hear_all(now);
  return elsewhere(now);
}

// Why the server that was dialed is not the one to go to; empty: it is.
std::optional<Failure> SentinelResolver::elsewhere(Clock::time_point now) const {
  const SentinelSession::Answer* const answer = verdict(now);
  if (answer == nullptr || !master_ || answer->master == master_->place) return std::nullopt;
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

}  // namespace latchkey::detail::redis
