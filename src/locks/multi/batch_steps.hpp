// The steps of one request for several keys.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <new>
#include <vector>

#include <latchkey/backend.hpp>

#include "locks/coordinator/call.hpp"
#include "locks/coordinator/coordinator.hpp"
#include "locks/coordinator/remote_hold.hpp"

namespace latchkey::inline v1::detail {

/// The members of one acquire_all: of each key that is not held yet, a claim in its local queue. It
/// lives until the outcome arrives, which may be after the call has ended.
struct BatchClaims {
  explicit BatchClaims(std::size_t most) {
    members.reserve(most);
    claims.reserve(most);
    items.reserve(most);
  }

  void add(RemoteHold& claim, LockType type, std::size_t item) noexcept {
    members.push_back({claim.home->key.view(), type, claim.id, claim.home->hash, claim.fenced});
    claims.push_back(&claim);
    items.push_back(item);
    // No member's deadline counts from later than this, nor does the backend's lease.
    sent = std::max(sent, claim.acquire.request.sent);
  }

  std::vector<Member> members;
  std::vector<RemoteHold*> claims;  ///< under way, so their addresses do not change
  std::vector<std::size_t> items;   ///< the number of each member among the call's items
  Clock::time_point sent = Clock::time_point::min();
};

/// The part of a batch's outcome that the member `index` always gets. As the only member of an
/// acquire of its own it has the number 0: a busy_member of 1 says that another one was busy.
[[nodiscard]] inline Outcome outcome_of_member(const Outcome& outcome, std::size_t index) noexcept {
  Outcome its;
  its.kind = outcome.kind;
  its.never_ran = outcome.never_ran;
  if (outcome.kind == Outcome::Kind::busy && outcome.busy_member != index) its.busy_member = 1;
  return its;
}

/// Takes several keys by one acquire_all. `Host`, which is BatchAcquire or the simulator's caller,
/// brings the events to the coordinators and has the request sent:
///
///     const Call& start_claim(std::size_t item);    // a bundled acquire. Throws std::bad_alloc
///     void complete(std::size_t item, RemoteHold& claim, Outcome& outcome);
///     void give_up(std::size_t item, RemoteHold& claim);
///     bool answers_at_once(Request& request, Outcome& outcome);
///     void submit(Request& request);                // throws std::bad_alloc
template <class Host>
class BatchSteps {
 public:
  /// `claims` is empty before `start`.
  BatchSteps(Host& host, BatchClaims& claims) noexcept : host_(host), claims_(claims) {}

  /// Takes the place of each of `items` keys in its local queue and submits `request` if it is the
  /// first in all of them. False: every call is answered already. Throws std::bad_alloc.
  bool start(std::size_t items, Request& request) {
    bool first_everywhere = false;
    std::exception_ptr failure;
    try {
      first_everywhere = claim_all(items);
    } catch (const std::bad_alloc&) {
      failure = std::current_exception();  // the places that were taken must be left again
    }
    if (!first_everywhere) complete(busy_elsewhere());
    if (failure) std::rethrow_exception(failure);
    if (!first_everywhere || claims_.members.empty()) return false;
    prepare(request);
    return send(request);
  }

  /// Brings the outcome to each key's coordinator, as the answer to an acquire of its own.
  void complete(const Outcome& outcome) {
    for (std::size_t index = 0; index < claims_.claims.size(); ++index) {
      Outcome its = of_member(outcome, index);
      host_.complete(claims_.items[index], *claims_.claims[index], its);
    }
  }

  /// The wait is over. Each coordinator gives back what may come of the request.
  void give_up() {
    for (std::size_t index = 0; index < claims_.claims.size(); ++index) {
      host_.give_up(claims_.items[index], *claims_.claims[index]);
    }
  }

 private:
  // Claims the keys one after the other. False: another call is in front of one of them, or one was
  // answered otherwise.
  bool claim_all(std::size_t items) {
    for (std::size_t item = 0; item < items; ++item) {
      const Call& call = host_.start_claim(item);
      if (call.answer == Answer::pending) {
        claims_.add(*call.hold, call.type, item);
      } else if (call.answer != Answer::granted) {
        return false;
      }
    }
    return true;
  }

  void prepare(Request& request) const {
    request.verb = Verb::acquire_all;
    request.members = claims_.members;
    request.key = claims_.members.front().key;
    const Request& first = claims_.claims.front()->acquire.request;
    request.lease = first.lease;  // that of all
    request.lock_delay = first.lock_delay;
    request.sent = claims_.sent;
  }

  bool send(Request& request) {
    Outcome outcome;
    if (!host_.answers_at_once(request, outcome)) {
      try {
        host_.submit(request);
        return true;
      } catch (const std::bad_alloc&) {
        outcome.reason = "out of memory";  // short enough to need none
        outcome.never_ran = true;
      }
    }
    complete(outcome);
    return false;
  }

  [[nodiscard]] Outcome busy_elsewhere() const {
    Outcome outcome;
    outcome.kind = Outcome::Kind::busy;
    outcome.busy_member = static_cast<std::uint32_t>(claims_.members.size());  // none of these
    outcome.never_ran = true;
    return outcome;
  }

  // The outcome for one member. Only the member that was busy learns by whom.
  [[nodiscard]] Outcome of_member(const Outcome& outcome, std::size_t index) const {
    Outcome its = outcome_of_member(outcome, index);
    if (claims_.members[index].wants_token()) its.token = outcome.token;
    if (its.busy_member != 0) return its;
    try {
      its.holder = outcome.holder;
      its.reason = outcome.reason;
    } catch (const std::bad_alloc&) {
      its.holder.clear();  // the error then names no holder
      its.reason.clear();
    }
    its.retry_after = outcome.retry_after;
    return its;
  }

  Host& host_;
  BatchClaims& claims_;
};

/// The outcome of a request whose caller has given it up: `complete(RemoteHold&, Outcome&)` brings
/// it to each key's coordinator, which gives back what was granted.
template <class Complete>
void complete_late(const BatchClaims& claims, const Outcome& outcome, Complete&& complete) {
  for (std::size_t index = 0; index < claims.claims.size(); ++index) {
    Outcome its = outcome_of_member(outcome, index);
    complete(*claims.claims[index], its);
  }
}

}  // namespace latchkey::inline v1::detail
