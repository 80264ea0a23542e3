// The decisions about a key that only one call of this process uses, at a backend in the process.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <new>

#include <latchkey/backend.hpp>

#include "locks/coordinator/event_context.hpp"
#include "locks/coordinator/logic/key_logic.hpp"
#include "locks/probes.hpp"

namespace latchkey::inline v1::detail {

/// The two steps of an acquire that is answered at once: the claim of an idle key, and its grant.
/// For several keys ImmediateBatch takes them apart: one request for all stands between them.
class ImmediateClaim : public KeyLogic {
 public:
  ImmediateClaim(Coordinator& home, Clock::time_point now) noexcept : KeyLogic(home), now_(now) {}

  /// Throws std::bad_alloc and then changes nothing.
  [[nodiscard]] RemoteHold& claim(const AcquireTerms& terms);
  /// Grants without a look at the deadline: a lease of at least 10 ms that begins now has not
  /// ended.
  void grant(RemoteHold& claim, const AcquireTerms& terms, std::uint64_t token) noexcept;

 protected:
  Clock::time_point now_;
};

/// Decides as AcquireLogic and ReleaseLogic would, in fewer steps, if a backend in the same process
/// answers at once and no other call of this process needs the key: no call waits, and there is no
/// queue, no wake-up and no subscription. An uncontended lock in this process is little else, so
/// the functions are inlined where the backend's type is known, which saves a virtual call as well.
class ImmediateLogic : public ImmediateClaim {
 public:
  ImmediateLogic(Coordinator& home, ImmediateBackend& backend, Clock::time_point now) noexcept
      : ImmediateClaim(home, now), backend_(backend) {}

  /// One attempt that does not wait at the backend, for an idle key. Returns the claim, which is
  /// held if it was granted; if not, `outcome` says why. Null: there is no memory for a claim.
  [[nodiscard]] RemoteHold* acquire(const AcquireTerms& terms, Outcome& outcome) noexcept;
  /// Releases a hold whose last local hold has ended or is about to. True: `outcome` is the answer;
  /// if it is granted, the caller erases the hold. False: nothing is done.
  [[nodiscard]] bool release(RemoteHold& hold, Outcome& outcome) noexcept;

 private:
  [[nodiscard]] bool is_alone(const RemoteHold& hold) const noexcept {
    return state_.waiters.empty() && state_.subscription.ended() && state_.revocations.ended() &&
           state_.holds.contains_only(hold) && hold.is_settled();
  }

  ImmediateBackend& backend_;
};

[[gnu::always_inline]] inline RemoteHold& ImmediateClaim::claim(const AcquireTerms& terms) {
  RemoteHold& claim = make_claim(terms);
  RemoteHold::HoldRequest& request = claim.acquire_request;
  prepare(request, Verb::acquire, claim, now_);
  request.lease = claim.lease + claim.delay;
  request.queue_wait = std::chrono::milliseconds(0);
  request.queues = false;
  claim.expires_at = later(now_, request.lease);
  return claim;
}

[[gnu::always_inline]] inline void ImmediateClaim::grant(RemoteHold& claim,
                                                         const AcquireTerms& terms,
                                                         std::uint64_t token) noexcept {
  claim.in_force = claim.lease;
  KeyLogic::grant(claim, terms, token, end_of_lease(now_, claim.lease), now_);
}

[[gnu::always_inline]] inline RemoteHold* ImmediateLogic::acquire(const AcquireTerms& terms,
                                                                  Outcome& outcome) noexcept {
  try {
    RemoteHold& claim = this->claim(terms);
    if (backend_.answer(claim.acquire_request, outcome)) {
      if (outcome.kind == Outcome::Kind::granted) [[likely]] {
        grant(claim, terms, outcome.token);
      } else {
        claim.note_attempt(outcome);
      }
    }
    return &claim;
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

[[gnu::always_inline]] inline bool ImmediateLogic::release(RemoteHold& hold,
                                                           Outcome& outcome) noexcept {
  if (!is_alone(hold) || hold.is_lost(now_)) return false;
  prepare(hold.release_request, Verb::release, hold, now_);
  return backend_.answer(hold.release_request, outcome);
}

// --- Coordinator ---

// An acquire that is not granted at once is made again as a call, whose attempt it is.
[[gnu::always_inline]] inline void Coordinator::fire_grant_probes(
    const AcquireTerms& terms) const noexcept {
  probes::attempt(key.view(), terms);
  probes::granted(key.view(), terms);
}

[[gnu::always_inline]] inline RemoteHold* Coordinator::acquire_at_once(
    const AcquireTerms& terms, ImmediateBackend& backend, Clock::time_point now) noexcept {
  Outcome outcome;
  RemoteHold* const claim = ImmediateLogic(*this, backend, now).acquire(terms, outcome);
  if (claim != nullptr && claim->stage == RemoteHold::Stage::held) fire_grant_probes(terms);
  return claim;
}

inline RemoteHold& Coordinator::claim_at_once(const AcquireTerms& terms, Clock::time_point now) {
  return ImmediateClaim(*this, now).claim(terms);
}

inline void Coordinator::grant_at_once(RemoteHold& claim, const AcquireTerms& terms,
                                       std::uint64_t token, Clock::time_point now) {
  ImmediateClaim(*this, now).grant(claim, terms, token);
  fire_grant_probes(terms);
}

[[gnu::always_inline]] inline bool Coordinator::release_at_once(RemoteHold& hold,
                                                                ImmediateBackend& backend,
                                                                Clock::time_point now) noexcept {
  Outcome outcome;
  if (hold.local_holds() != 1) return false;
  if (!ImmediateLogic(*this, backend, now).release(hold, outcome)) return false;
  if (outcome.kind != Outcome::Kind::granted) return false;
  probes::released(key.view(), hold);
  holds.erase_held(hold);
  --shard->hold_objects;
  return true;
}

}  // namespace latchkey::inline v1::detail
