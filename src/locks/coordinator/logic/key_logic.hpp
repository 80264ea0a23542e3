// The steps of decisions about one key that need no event.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

#include <latchkey/backend.hpp>
#include <latchkey/clock.hpp>

#include "core/thread_cache.hpp"
#include "locks/coordinator/coordinator.hpp"

namespace latchkey::inline v1::detail {

/// The state of one key, and the steps of a claim from its beginning to its grant. The logic
/// classes derive from it; each is made for one decision, on the stack.
class KeyLogic {
 public:
  explicit KeyLogic(Coordinator& home) noexcept : home_(home), state_(home) {}
  KeyLogic(const KeyLogic&) = delete;
  KeyLogic& operator=(const KeyLogic&) = delete;
  ~KeyLogic() = default;

 protected:
  [[nodiscard]] CoordinatorContext& shard() const noexcept { return *state_.shard; }
  [[nodiscard]] const CoordinatorSettings& settings() const noexcept {
    return *state_.shard->settings;
  }

  /// The length of the lease that a call with these terms asks for: no longer than its limit.
  [[nodiscard]] std::chrono::milliseconds length_of(const Lease& lease) const noexcept {
    const std::chrono::milliseconds length = lease.length(settings().watchdog);
    const std::chrono::milliseconds limit = lease.held_at_most();
    if (limit.count() == 0) [[likely]]
      return length;
    const Clock::time_point start{};
    return std::min(length, settings().offered_lease(lease_until(start + limit, start)));
  }

  /// The lock_delay of a call with these terms: what its requests add to the lease, which together
  /// with it is one that the backend offers.
  [[nodiscard]] std::chrono::milliseconds delay_of(const Lease& lease) const noexcept {
    const std::chrono::milliseconds delay = lease.lock_delay();
    if (delay.count() == 0) [[likely]]
      return delay;
    const std::chrono::milliseconds length = length_of(lease);
    return settings().offered_lease(length + delay) - length;
  }

  /// The time between two checks of a hold.
  [[nodiscard]] Clock::duration check_interval(const RemoteHold& hold) const noexcept {
    return hold.period(settings().watchdog) / 3;
  }
  /// A time for a check that others of this Locks have, too, if that saves requests: less than an
  /// eighth of `interval` before `at`.
  [[nodiscard]] Clock::time_point common_time(Clock::time_point at,
                                              Clock::duration interval) const noexcept {
    if (!settings().common_checks) return at;
    return common_check_time(at, interval, settings().check_phase);
  }
  /// When a hold is checked next whose lease was last requested, or verified, at `sent`.
  [[nodiscard]] Clock::time_point next_check(const RemoteHold& hold,
                                             Clock::time_point sent) const noexcept {
    const Clock::duration interval = check_interval(hold);
    const Clock::time_point at = common_time(later(sent, interval), interval);
    if (!can_be_watched(hold) || is_old_enough_to_watch(hold, sent)) return at;
    // The timer thread wakes up for them four times a second, however many locks come and go.
    constexpr Clock::duration spread = std::chrono::seconds(4);
    return std::min(at, common_time(later(hold.granted_at, watched_by), spread));
  }
  /// Whether the backend can tell of changes of the key. A semaphore is no use for that: each call
  /// of anybody changes it.
  [[nodiscard]] bool can_be_watched(const RemoteHold& hold) const noexcept {
    return settings().watches && hold.type != LockType::PERMIT;
  }
  [[nodiscard]] static bool is_old_enough_to_watch(const RemoteHold& hold,
                                                   Clock::time_point at) noexcept {
    return at >= later(hold.granted_at, watched_from);
  }

  /// Fills in what all requests about a hold have in common.
  void prepare(OwnedRequest& request, Verb verb, RemoteHold& hold, Clock::time_point now) {
    request.verb = verb;
    request.type = hold.type;
    request.key = state_.key;
    request.hash = state_.hash;
    request.id = hold.id;
    request.fenced = hold.fenced;
    request.lock_delay = hold.delay;
    request.sent = now;
    request.context = &home_;
    request.hold = &hold;
  }

  /// A new claim. Throws std::bad_alloc before anything is changed.
  [[nodiscard]] RemoteHold& make_claim(const AcquireTerms& terms) {
    RemoteHold& claim = ThreadCache<RemoteHold>::take();
    claim.home = &home_;
    claim.space = shard().space;
    claim.prefix_size = settings().prefix_size;
    claim.id = shard().fresh_id();
    claim.type = terms.type;
    claim.owner = terms.owner;
    claim.origin = terms.origin;
    claim.lease = length_of(terms.lease);
    claim.delay = delay_of(terms.lease);
    claim.acquire_request.tokens = 1;
    claim.fenced = terms.wants_token();
    if (terms.type == LockType::PERMIT) claim.set_permits(terms.permits);
    if (!settings().announcement.empty()) announce(claim);
    state_.holds.add_claim(claim);
    return claim;
  }
  /// Sets the text by which others read who the holder is.
  void announce(RemoteHold& claim) const;

  /// Makes a hold of the claim, until `deadline` and with one local hold. `token` is the last of
  /// those that were reserved; this hold gets the first.
  void grant(RemoteHold& claim, const AcquireTerms& terms, std::uint64_t token,
             Clock::time_point deadline, Clock::time_point now) {
    claim.note_attempt(RemoteHold::Attempts::ran);
    state_.holds.set_held(claim);
    claim.spare_tokens = token > 0 ? claim.acquire_request.tokens - 1 : 0;
    claim.token = token - claim.spare_tokens;
    claim.granted_at = now;
    claim.delay_in_force = claim.delay;
    if (terms.lease.held_at_most().count() != 0) [[unlikely]] {
      static_cast<void>(begin_limit(terms, claim, now));
      deadline = std::min(deadline, claim.limits.earliest());
    }
    claim.deadline.set(deadline);
    count(terms, claim);
    claim.check_at = next_check(claim, claim.acquire_request.sent);
    state_.holds.due_by(std::min(deadline, claim.check_at));
  }
  /// Begins the time that held_at_most allows one local hold. Returns the number of its limit. That
  /// of a member of several keys begins when all of them are granted.
  static HoldLimits::Number begin_limit(const AcquireTerms& terms, RemoteHold& hold,
                                        Clock::time_point now) noexcept;
  /// Adds one local hold. The first with the lease `watchdog` brings the next check forward.
  void count(const AcquireTerms& terms, RemoteHold& hold) {
    auto& local_holds = terms.by_lock ? hold.locks : hold.holds;
    ++local_holds[is_shared(terms.type) ? 1 : 0];
    if (!terms.by_lock) ++shard().hold_objects;
    if (terms.member != nullptr) hold.unreported = hold.unreported || hold.local_holds() == 1;
    if (!terms.lease.is_watchdog()) return;
    if (hold.joined != nullptr) ++hold.watchdogs;
    RemoteHold& renewed = hold.at_backend();
    if (renewed.watchdogs++ == 0) {
      const Clock::time_point last = std::max(renewed.granted_at, renewed.check_request.sent);
      renewed.check_at = std::min(renewed.check_at, next_check(renewed, last));
      state_.holds.due_by(renewed.check_at);
    }
  }

  Coordinator& home_;
  KeyState& state_;
};

}  // namespace latchkey::inline v1::detail
