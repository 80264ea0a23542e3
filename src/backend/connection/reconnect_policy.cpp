// When the next attempt to connect to a server is made.
// SPDX-License-Identifier: BSL-1.0
#include "backend/connection/reconnect_policy.hpp"

#include <algorithm>
#include <utility>

namespace latchkey::inline v1::detail {
namespace {

using namespace std::chrono_literals;

/// The first acquire after a server's return is served within 250 ms, so no pause of a wanted
/// connection is longer than that.
constexpr Clock::duration shortest_pause = 10ms, longest_pause = 160ms, longest_idle_pause = 1s;
/// A connection that lived shorter than this counts as one more failed attempt.
constexpr auto stable_after = 1s;
/// A caller whose request failed because the server is down sends the next one within this time.
constexpr auto caller_returns_within = 1500ms;
/// How long a request that fails fast waits for a server that is known to be down.
constexpr auto patience = 250ms;

}  // namespace

ReconnectPolicy::ReconnectPolicy(std::uint64_t seed)
    : random_(static_cast<std::minstd_rand::result_type>(seed % 2'147'483'646 + 1)) {}

void ReconnectPolicy::want(TimePoint now) noexcept {
  wanted_until_ = later(now, caller_returns_within);
}

void ReconnectPolicy::hasten() noexcept {
  if (!outage_) return;
  next_attempt_at_ = std::min(next_attempt_at_, outage_->failed_at + pause(true));
}

void ReconnectPolicy::connected(TimePoint now) noexcept {
  up_since_ = now;
  outage_.reset();
}

void ReconnectPolicy::failed(ConnectionFailure failure, TimePoint now, bool wanted) noexcept {
  const std::optional<TimePoint> up_since = std::exchange(up_since_, std::nullopt);
  if (up_since && now - *up_since >= stable_after) attempts_ = 0;
  const TimePoint since = outage_ ? outage_->since : now;
  outage_ = Outage{std::move(failure), since, now};
  next_attempt_at_ = now + pause(wanted || now < wanted_until_);
  ++attempts_;
}

Clock::duration ReconnectPolicy::pause(bool wanted) noexcept {
  const auto longest = wanted ? longest_pause : longest_idle_pause;
  const Clock::duration full =
      std::min(shortest_pause * (std::int64_t{1} << std::min(attempts_, 10U)), longest);
  const auto percent = std::uniform_int_distribution<std::int64_t>(50, 150)(random_);
  return full * percent / 100;
}

ReconnectPolicy::TimePoint ReconnectPolicy::gives_up_at(TimePoint submitted) const noexcept {
  return outage_ ? later(std::max(submitted, outage_->since), patience) : Clock::never();
}

void ReconnectPolicy::reset() noexcept {
  next_attempt_at_ = wanted_until_ = TimePoint{};
  attempts_ = 0;
  up_since_.reset();
  outage_.reset();
}

}  // namespace latchkey::inline v1::detail
