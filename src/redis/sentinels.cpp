// The way to a master that sentinels look after.
#include "redis/sentinels.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace latchkey::detail::redis {
namespace {

using namespace std::chrono_literals;
using State = Sentinel::State;

/// How long others are waited for when there is an answer.
constexpr auto grace = 200ms;

}  // namespace

Sentinels::Sentinels(const RedisUri& uri, Transport& transport, const TlsContext* tls,
                     std::chrono::milliseconds timeout)
    : uri_(uri), transport_(transport) {
  for (const RedisUri::Place& place : uri.places) {
    sentinels_.push_back(
        std::make_unique<Sentinel>(uri.sentinel_at(place), tls, uri.master, timeout / 2));
  }
}

Io Sentinels::begin(Clock::time_point now) {
  dialer_.reset();
  decide_at_ = Clock::never();
  for (const auto& sentinel : sentinels_) sentinel->ask(now);
  return decide(now);
}

Io Sentinels::go_on(Clock::time_point now) {
  hear_all(now);
  if (dialer_ == nullptr) return decide(now);
  if (auto failure = elsewhere(now)) return Io::broken(*std::move(failure));
  return dialer_->go_on(now);
}

void Sentinels::hear_all(Clock::time_point now) {
  for (const auto& sentinel : sentinels_) sentinel->go_on(now);
}

Io Sentinels::decide(Clock::time_point now) {
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
  const Sentinel::Answer* const best = verdict(now);
  if (best == nullptr) {
    // The one that had answered has taken it back: it knows of no such master any more.
    decide_at_ = Clock::never();
    return Io::blocked();
  }
  master_ = uri_.server_at(best->master);
  dialer_ = std::make_unique<Dialer>(*master_, transport_);
  return dialer_->begin(now);
}

// Also one that was given before the last question counts for a while: its sentinel may be gone by
// now, but an epoch that was reached is not taken back. Of several masters with one epoch it is the
// one that most sentinels name.
const Sentinel::Answer* Sentinels::verdict(Clock::time_point now) const noexcept {
  const auto votes_for = [&](const Sentinel::Answer& answer) {
    return std::ranges::count_if(
        sentinels_, [&](const auto& sentinel) { return sentinel->answer() == answer; });
  };
  const Sentinel::Answer* best = nullptr;
  for (const auto& sentinel : sentinels_) {
    if (!sentinel->answer() || sentinel->is_out_of_date(now)) continue;
    const Sentinel::Answer& its = *sentinel->answer();
    if (best == nullptr || its.epoch > best->epoch ||
        (its.epoch == best->epoch && votes_for(its) > votes_for(*best))) {
      best = &its;
    }
  }
  return best;
}

Failure Sentinels::nobody_answers() const {
  // What would be the same if they were asked again is more worth knowing.
  const auto refused = std::ranges::find_if(
      sentinels_, [](const auto& sentinel) { return sentinel->failure().refused; });
  const bool all = std::ranges::all_of(
      sentinels_, [](const auto& sentinel) { return sentinel->failure().refused; });
  const Sentinel& one = refused != sentinels_.end() ? **refused : *sentinels_.front();
  return {all, "no sentinel says where the master '" + uri_.master + "' is: the one at " +
                   one.uri().place.text() + ": " + one.failure().text};
}

void Sentinels::give_up() noexcept {
  if (dialer_ != nullptr) dialer_->give_up();
  transport_.drop();
}

void Sentinels::wait_for(PollSet& set, PollSet::Source source) const {
  if (dialer_ != nullptr) dialer_->wait_for(set, source);
  watch(set, source);
}

Clock::time_point Sentinels::due() const noexcept {
  Clock::time_point at = dialer_ == nullptr ? decide_at_ : Clock::never();
  for (const auto& sentinel : sentinels_) at = std::min(at, sentinel->due());
  return at;
}

void Sentinels::watch(PollSet& set, PollSet::Source source) const {
  for (const auto& sentinel : sentinels_) sentinel->wait_for(set, source);
}

std::optional<Failure> Sentinels::look(Clock::time_point now) {
  hear_all(now);
  return elsewhere(now);
}

// Why the server that was dialed is not the one to go to; empty: it is.
std::optional<Failure> Sentinels::elsewhere(Clock::time_point now) const {
  const Sentinel::Answer* const answer = verdict(now);
  if (answer == nullptr || !master_ || answer->master == master_->place) return std::nullopt;
  return Failure{false, "the sentinels name another master: " + answer->master.text()};
}

void Sentinels::lock_for_fork() noexcept {
  for (const auto& sentinel : sentinels_) sentinel->lock_for_fork();
}

void Sentinels::unlock_after_fork() noexcept {
  for (const auto& sentinel : sentinels_) sentinel->unlock_after_fork();
}

void Sentinels::abandon() noexcept {
  for (const auto& sentinel : sentinels_) sentinel->abandon();
  dialer_.reset();
  decide_at_ = Clock::never();
}

}  // namespace latchkey::detail::redis
