// The functions of Leader: checking its options, and handing the rest to its threads.
// SPDX-License-Identifier: BSL-1.0
#include <latchkey/leader.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <utility>

#include <latchkey/capabilities.hpp>

#include "leader/leader_loop.hpp"
#include "locks/space/leak_intentionally.hpp"

namespace latchkey::inline v1 {
namespace {

using std::chrono::milliseconds;

void require_within(const char* name, milliseconds value, milliseconds least, milliseconds most) {
  if (value >= least && value <= most) return;
  throw std::invalid_argument("LeaderOptions::" + std::string(name) + " is " +
                              std::to_string(value.count()) + " ms; expected " +
                              std::to_string(least.count()) + " to " +
                              std::to_string(most.count()) + " ms");
}

/// The options with their defaults filled in.
LeaderOptions checked(const Locks& locks, const LeaderOptions& given) {
  if (!locks.capabilities().fenced) {
    throw std::invalid_argument(locks.describe() +
                                " offers no FENCED locks, whose token is the term of a Leader; "
                                "expected a backend with fencing tokens, such as redis://");
  }
  constexpr milliseconds day = std::chrono::hours(24);
  const milliseconds lease = locks.options().watchdog;
  LeaderOptions options = given;
  if (!options.stop_before) options.stop_before = lease / 6;
  require_within("stop_before", *options.stop_before, milliseconds(1), lease / 2);
  require_within("pause", options.pause, milliseconds(1), day);
  require_within("longest_pause", options.longest_pause, options.pause, day);
  return options;
}

}  // namespace

std::string_view to_string(LeaderState state) noexcept {
  switch (state) {
    case LeaderState::campaigning: return "campaigning";
    case LeaderState::leading: return "leading";
    case LeaderState::stopping: return "stopping";
    case LeaderState::pausing: return "pausing";
    case LeaderState::ended: return "ended";
  }
  return "?";
}

std::unique_ptr<detail::LeaderLoop> detail::make_leader_loop(const Locks& locks, std::string key,
                                                             Leader::Callback callback,
                                                             const LeaderOptions& options) {
  if (!callback) throw std::invalid_argument("the callback of a Leader is empty");
  const LeaderOptions complete = checked(locks, options);
  static_cast<void>(locks.lock(key, LockType::FENCED));  // throws for a bad key
  return std::make_unique<LeaderLoop>(locks, std::move(key), std::move(callback), complete);
}

Leader Locks::leader(std::string key,
                     std::function<void(std::stop_token, std::uint64_t)> callback) const {
  return leader(std::move(key), std::move(callback), LeaderOptions());
}

Leader Locks::leader(std::string key, std::function<void(std::stop_token, std::uint64_t)> callback,
                     const LeaderOptions& options) const {
  return Leader(*this, std::move(key), std::move(callback), options);
}

Leader::Leader(const Locks& locks, std::string key, Callback callback, const LeaderOptions& options)
    : loop_(detail::make_leader_loop(locks, std::move(key), std::move(callback), options)) {
  loop_->start();
}

// A child of the process that made it has neither of the threads, and what they guarded is in an
// unknown state: it is left alone.
Leader::~Leader() {
  if (loop_->is_inherited()) detail::leak_intentionally(loop_.release());
}

bool Leader::is_leader() const noexcept { return loop_->brief_health().is_leader; }

std::optional<Clock::time_point> Leader::since() const noexcept {
  return loop_->brief_health().since;
}

std::uint64_t Leader::term() const noexcept { return loop_->brief_health().term; }

LeaderHealth Leader::health() const { return loop_->health(); }

bool Leader::resign() noexcept { return loop_->resign(); }

}  // namespace latchkey::inline v1
