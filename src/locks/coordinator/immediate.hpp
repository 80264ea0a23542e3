// The steps from a claim to its grant, and an uncontended lock of a backend in the same process.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <new>
#include <string_view>

#include <latchkey/backend.hpp>
#include <latchkey/clock.hpp>

#include "core/thread_cache.hpp"
#include "locks/coordinator/coordinator.hpp"
#include "locks/probes.hpp"

namespace latchkey::inline v1::detail {

inline constexpr std::string_view lost_before_renewal =
    "its lease ended before the renewal was answered";

// --- the lease that a call asks for, and when its hold is checked ---

/// The length of the lease that a call with these terms asks for: no longer than its limit.
inline std::chrono::milliseconds Coordinator::length_of(const Lease& lease) const noexcept {
  const std::chrono::milliseconds length = lease.length(settings().watchdog);
  const std::chrono::milliseconds limit = lease.held_at_most();
  if (limit.count() == 0) [[likely]]
    return length;
  const Clock::time_point start{};
  return std::min(length, settings().offered_lease(lease_until(start + limit, start)));
}

/// The lock_delay of a call with these terms: what its requests add to the lease, which together
/// with it is one that the backend offers.
inline std::chrono::milliseconds Coordinator::delay_of(const Lease& lease) const noexcept {
  const std::chrono::milliseconds delay = lease.lock_delay();
  if (delay.count() == 0) [[likely]]
    return delay;
  const std::chrono::milliseconds length = length_of(lease);
  return settings().offered_lease(length + delay) - length;
}

/// For how long a call with these terms lets its hold become idle.
inline std::chrono::milliseconds cache_of(const Lease& lease,
                                          const CoordinatorSettings& settings) noexcept {
  return lease.cache().value_or(settings.cache);
}

/// Whether two thirds of `wanted` remain: a call that asked for it shares or takes over the hold
/// without a renewal.
inline bool Coordinator::two_thirds_remain(const RemoteHold& hold,
                                           std::chrono::milliseconds wanted) {
  return (hold.deadline_point() - now()) * 3 >= Clock::duration(wanted) * 2;
}

/// Whether enough is left of the lease for a renewal to be answered: a call that asked for `wanted`
/// may then begin with the hold. One that was idle has a short lease of its own.
inline bool Coordinator::enough_remains(const RemoteHold& hold, std::chrono::milliseconds wanted) {
  const std::chrono::milliseconds least = hold.was_idle() ? least_idle_rest : least_rest;
  return hold.deadline_point() - now() >= least_rest_of(wanted, least);
}

/// Whether a copy of an unanswered acquire may run after the release, because the backend does not
/// keep the order.
inline bool Coordinator::copy_may_run(const RemoteHold& hold) const noexcept {
  return hold.acquire.trace == AcquireProgress::Trace::unanswered && !settings().in_order;
}

/// Whether a late copy of the original WRITE acquire may still run after the downgrade: the backend
/// may then have a READ and a WRITE in turn.
inline bool Coordinator::may_be_write_again(const RemoteHold& hold) const noexcept {
  return hold.type == LockType::READ && hold.acquire.request.type == LockType::WRITE &&
         !settings().in_order;
}

/// The time between two checks of a hold.
inline Clock::duration Coordinator::check_interval(const RemoteHold& hold) const noexcept {
  return hold.period(settings().watchdog) / 3;
}

/// A time for a check that others of this Locks have, too, if that saves requests: less than an
/// eighth of `interval` before `at`.
inline Clock::time_point Coordinator::common_time(Clock::time_point at,
                                                  Clock::duration interval) const noexcept {
  if (!settings().common_checks) return at;
  return common_check_time(at, interval, settings().check_phase);
}

/// When a hold is checked next whose lease was last requested, or verified, at `sent`.
inline Clock::time_point Coordinator::next_check(const RemoteHold& hold,
                                                 Clock::time_point sent) const noexcept {
  const Clock::duration interval = check_interval(hold);
  const Clock::time_point at = common_time(later(sent, interval), interval);
  if (!can_be_watched(hold) || hold.is_old_enough_to_watch(sent)) return at;
  // The timer thread wakes up for them four times a second, however many locks come and go.
  constexpr Clock::duration spread = std::chrono::seconds(4);
  return std::min(at, common_time(later(hold.granted_at, watched_by), spread));
}

/// Whether the backend can tell of changes of the key. A semaphore is no use for that: each call of
/// anybody changes it.
inline bool Coordinator::can_be_watched(const RemoteHold& hold) const noexcept {
  return settings().watches && hold.type != LockType::PERMIT;
}

// --- from a claim to its grant ---

/// Fills in what all requests about a hold have in common.
inline void Coordinator::prepare(OwnedRequest& request, Verb verb, RemoteHold& hold,
                                 Clock::time_point now) {
  request.verb = verb;
  request.type = hold.type;
  request.key = key;
  request.hash = hash;
  request.id = hold.id;
  request.fenced = hold.fenced;
  request.lock_delay = hold.delay;
  request.sent = now;
  request.context = this;
  request.hold = &hold;
}

/// A new claim. Throws std::bad_alloc before anything is changed.
inline RemoteHold& Coordinator::make_claim(const AcquireTerms& terms) {
  RemoteHold& claim = ThreadCache<RemoteHold>::take();
  claim.home = this;
  claim.space = shard_->space;
  claim.prefix_size = settings().prefix_size;
  claim.id = shard_->fresh_id();
  claim.type = terms.type;
  claim.owner = terms.owner;
  claim.origin = terms.origin;
  claim.lease = length_of(terms.lease);
  claim.delay = delay_of(terms.lease);
  claim.cache = cache_of(terms.lease, settings());
  claim.acquire.request.tokens = 1;
  claim.fenced = terms.wants_token();
  if (terms.type == LockType::PERMIT) claim.set_permits(terms.permits);
  if (!settings().announcement.empty()) announce(claim);
  holds_.add_claim(claim);
  return claim;
}

/// Makes a hold of the claim, until `deadline` and with one local hold. `token` is the last of
/// those that were reserved; this hold gets the first.
inline void Coordinator::grant(RemoteHold& claim, const AcquireTerms& terms, std::uint64_t token,
                               Clock::time_point deadline, Clock::time_point now) {
  claim.acquire.note(AcquireProgress::Trace::ran);
  holds_.set_held(claim);
  claim.spare_tokens = token > 0 ? claim.acquire.request.tokens - 1 : 0;
  claim.token = token - claim.spare_tokens;
  claim.granted_at = now;
  claim.delay_in_force = claim.delay;
  if (terms.lease.held_at_most().count() != 0) [[unlikely]] {
    static_cast<void>(begin_limit(terms, claim, now));
    deadline = std::min(deadline, claim.limits.earliest());
  }
  claim.deadline.set(deadline);
  count_local_hold(terms, claim);
  claim.check.due_at = next_check(claim, claim.acquire.request.sent);
  holds_.due_by(std::min(deadline, claim.check.due_at));
}

/// Adds one local hold. The first with the lease `watchdog` brings the next check forward.
inline void Coordinator::count_local_hold(const AcquireTerms& terms, RemoteHold& hold) {
  ++(terms.by_lock ? hold.locks : hold.holds).of(terms.type);
  if (!terms.by_lock) ++shard_->hold_objects;
  if (terms.member != nullptr) hold.unreported = hold.unreported || hold.local_holds() == 1;
  if (!terms.lease.is_watchdog()) return;
  if (hold.joined != nullptr) ++hold.watchdogs;
  RemoteHold& renewed = hold.at_backend();
  if (renewed.watchdogs++ == 0) bring_check_forward(renewed);
}

/// The lease by which it is checked may have become shorter.
inline void Coordinator::bring_check_forward(RemoteHold& hold) {
  const Clock::time_point last = std::max(hold.granted_at, hold.check.request.sent);
  hold.check.due_at = std::min(hold.check.due_at, next_check(hold, last));
  holds_.due_by(hold.check.due_at);
}

// --- a backend in the same process ---
//
// It answers at once, and no other call of this process needs the key: no call waits, and there is
// no queue, no wake-up and no subscription. An uncontended lock in this process is little else, so
// these functions are inlined where the backend's type is known, which saves a virtual call as
// well. For several keys ImmediateBatch takes the claim and its grant apart: one request for all
// stands between them.

/// The caller has made sure that the key is idle.
[[gnu::always_inline]] inline RemoteHold& Coordinator::claim_at_once(const AcquireTerms& terms,
                                                                     Clock::time_point now) {
  holds_.end_plain();
  RemoteHold& claim = make_claim(terms);
  OwnedRequest& request = claim.acquire.request;
  prepare(request, Verb::acquire, claim, now);
  request.lease = claim.lease + claim.delay;
  request.queue_wait = std::chrono::milliseconds(0);
  request.queues = false;
  claim.expires_at = later(now, request.lease);
  return claim;
}

/// Grants the whole lease that `claim` asked for, without a look at the deadline: a lease of at
/// least 10 ms that begins now has not ended.
[[gnu::always_inline]] inline void Coordinator::grant_in_full(RemoteHold& claim,
                                                              const AcquireTerms& terms,
                                                              std::uint64_t token,
                                                              Clock::time_point now) noexcept {
  claim.in_force = claim.lease;
  grant(claim, terms, token, end_of_lease(now, claim.lease), now);
}

/// One attempt that does not wait at the backend, for an idle key. Returns the claim, which is held
/// if it was granted; if not, `outcome` says why. Null: there is no memory for a claim.
[[gnu::always_inline]] inline RemoteHold* Coordinator::try_at_once(const AcquireTerms& terms,
                                                                   ImmediateBackend& backend,
                                                                   Clock::time_point now,
                                                                   Outcome& outcome) noexcept {
  try {
    RemoteHold& claim = claim_at_once(terms, now);
    if (backend.answer(claim.acquire.request, outcome)) {
      if (outcome.kind == Outcome::Kind::granted) [[likely]] {
        grant_in_full(claim, terms, outcome.token, now);
      } else {
        claim.acquire.note(outcome);
      }
    }
    return &claim;
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

/// Releases a hold whose last local hold has ended or is about to. True: `outcome` is the answer;
/// if it is granted, the caller erases the hold. False: nothing is done.
[[gnu::always_inline]] inline bool Coordinator::end_at_once(RemoteHold& hold,
                                                            ImmediateBackend& backend,
                                                            Clock::time_point now,
                                                            Outcome& outcome) noexcept {
  const bool alone = waiters_.empty() && subscription_.ended() && revocations_.ended() &&
                     holds_.contains_only(hold) && hold.is_settled();
  if (!alone || hold.is_lost(now)) return false;
  prepare(hold.release.request, Verb::release, hold, now);
  return backend.answer(hold.release.request, outcome);
}

// An acquire that is not granted at once is made again as a call, whose attempt it is.
[[gnu::always_inline]] inline void Coordinator::fire_grant_probes(
    const AcquireTerms& terms) const noexcept {
  probes::attempt(key.view(), terms);
  probes::granted(key.view(), terms);
}

[[gnu::always_inline]] inline RemoteHold* Coordinator::acquire_at_once(
    const AcquireTerms& terms, ImmediateBackend& backend, Clock::time_point now) noexcept {
  Outcome outcome;
  RemoteHold* const claim = try_at_once(terms, backend, now, outcome);
  if (claim != nullptr && claim->stage == RemoteHold::Stage::held) fire_grant_probes(terms);
  return claim;
}

inline void Coordinator::grant_at_once(RemoteHold& claim, const AcquireTerms& terms,
                                       std::uint64_t token, Clock::time_point now) noexcept {
  grant_in_full(claim, terms, token, now);
  fire_grant_probes(terms);
}

[[gnu::always_inline]] inline bool Coordinator::release_at_once(RemoteHold& hold,
                                                                ImmediateBackend& backend,
                                                                Clock::time_point now) noexcept {
  Outcome outcome;
  if (hold.local_holds() != 1 || !end_at_once(hold, backend, now, outcome)) return false;
  if (outcome.kind != Outcome::Kind::granted) return false;
  probes::released(key.view(), hold);
  holds_.erase_held(hold);
  return true;
}

[[gnu::always_inline]] inline RemoteHold* Coordinator::only_lock_of(Owner owner,
                                                                    LockType type) const noexcept {
  RemoteHold* hold = holds_.plain();
  if (hold == nullptr || hold->owner != owner) [[unlikely]] {
    hold = holds_.held_by(owner);
    if (hold == nullptr || HoldTable::next_of_owner(*hold) != nullptr) return nullptr;
  }
  return hold->local_holds() == 1 && hold->locks.of(type) == 1 ? hold : nullptr;
}

}  // namespace latchkey::inline v1::detail
