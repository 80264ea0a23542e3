// One caller that waits for the coordinator.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>

#include <latchkey/attempt.hpp>
#include <latchkey/clock.hpp>
#include <latchkey/lease.hpp>
#include <latchkey/lock_type.hpp>
#include <latchkey/owner.hpp>
#include <latchkey/permits.hpp>

#include "core/lazy_string.hpp"
#include "locks/coordinator/hold_limits.hpp"
#include "locks/coordinator/intrusive_list.hpp"

namespace latchkey::inline v1 {
class Parker;
}

namespace latchkey::inline v1::detail {

class RemoteHold;

/// Whether processes race for a lock of `type`: it has one holder at a time and is not FAIR.
[[nodiscard]] inline bool is_raced_for(LockType type) noexcept {
  return type != LockType::FAIR && !is_shared(type);
}

/// Learns the answer of a call that no thread waits for.
class CallCompletion {
 public:
  /// Called once, with no mutex held, by the thread whose event answered the call. The coordinator
  /// no longer knows the call then.
  virtual void answered() noexcept = 0;

 protected:
  ~CallCompletion() = default;
};

/// The coordinator's answer to a call.
enum class Answer : std::uint8_t {
  pending,
  granted,         ///< acquire: held; extend and release: done
  busy,            ///< acquire: not within the wait
  lost,            ///< extend and release: the hold had ended
  would_deadlock,  ///< acquire: the owner holds the key and may not enter it anew
  not_owner,       ///< unlock: nothing to undo
  cancelled,
  closed,
  unavailable,  ///< no answer of the backend: the outcome is unknown
  refused,      ///< the backend rejected the request
  too_long,     ///< extend: held_at_most does not allow it
};

/// The events that the listener has received about one key of an acquire of several keys. The
/// acquire may make several calls for the key, and give a grant back; the listener hears of one
/// attempt with one outcome.
struct MemberReport {
  Clock::time_point asked{};          ///< when the acquire of all keys began
  std::uint64_t ticket = 0;           ///< Call::ticket of the last call
  bool attempt = false;               ///< the event `attempt` was reported
  bool waits = false;                 ///< the event `waiting` was reported
  Clock::time_point waiting_since{};  ///< if `waits`
};

/// The terms of an acquire, whether or not it waits.
struct AcquireTerms {
  Owner owner = Owner::nobody();
  LockType type = LockType::REENTRANT;
  bool by_lock = false;  ///< counts as lock() rather than as a Hold
  Reentry reentry = Reentry::count;
  Lease lease = watchdog;
  Origin origin{};
  Permits permits{};    ///< PERMIT
  bool fenced = false;  ///< Attempt::fenced
  /// Not null: the call is for one of several keys. The coordinator reports that it waits, but not
  /// how it ends: the acquire of all keys does so by report_member.
  MemberReport* member = nullptr;
  AcquireReport* report = nullptr;  ///< Attempt::report

  /// Takes over what `attempt` says about the hold. How long it may wait is the call's.
  void set(Owner whose, const Attempt& attempt) noexcept {
    owner = whose;
    type = attempt.type;
    reentry = attempt.reentry;
    lease = attempt.lease;
    origin = attempt.origin;
    permits = attempt.permits;
    fenced = attempt.fenced;
    report = attempt.report;
  }

  /// Whether the hold has a fencing token.
  [[nodiscard]] bool wants_token() const noexcept { return fenced || type == LockType::FENCED; }
  /// Whether the hold has neither a token nor a limit nor a lock_delay.
  [[nodiscard]] bool is_plain() const noexcept {
    return !wants_token() && lease.held_at_most().count() == 0 && lease.lock_delay().count() == 0;
  }
};

/// An acquire, an extend or a release under way. It lives on its caller's stack, or in the
/// asynchronous operation that started it, and belongs to the coordinator from the event that
/// brings it until `answer` is no longer pending.
struct Call : AcquireTerms {
  enum class Kind : std::uint8_t { acquire, extend, release };
  /// The last reply of the backend to this call's requests.
  enum class LastReply : std::uint8_t { none, busy, unknown };

  // The request.
  bool wants_holder_name = false;  ///< a timeout shall name the holder
  /// After a timeout the caller inspects what a holder elsewhere announces, and reports both.
  bool reports_timeout = false;
  /// The call is one of a batch of keys: it gets a claim, and the batch sends one request for all
  /// of its claims.
  bool bundled = false;
  bool forever = false;
  std::chrono::milliseconds wait{};
  Clock::time_point asked{};
  /// The end of the wait; at or before `asked`: one attempt.
  Clock::time_point until = Clock::never();
  /// How long after `until` the answer to the first attempt is waited for.
  std::chrono::milliseconds grace{};
  Parker* parker = nullptr;  ///< where the caller sleeps
  /// extend: as far as held_at_most allows, instead of not at all.
  bool up_to_limit = false;
  /// Not null: no thread waits for the call. The timer thread brings its ticks.
  CallCompletion* completion = nullptr;

  // The answer. Written under the mutex of the key's shard, and read by the caller after it has
  // seen `done`, which is set last.
  std::atomic<bool> done{false};
  Answer answer = Answer::pending;
  RemoteHold* hold = nullptr;    ///< granted: the hold; before: the claim
  HoldLimits::Number limit = 0;  ///< re-entered, joined or handed over: its limit
  bool held_too_long = false;    ///< lost: because of held_at_most
  bool cached = false;           ///< granted: the hold was idle
  bool lacks_delay = false;  ///< granted, bundled: the backend has yet to learn of its lock_delay
  LockType held_as = LockType::REENTRANT;  ///< would_deadlock: how the owner holds
  /// busy: the holder, if known; would_deadlock: the holder's method.
  LazyString holder;
  bool holder_is_local = false;  ///< busy: `holder` is of this process
  LazyString reason;             ///< unavailable, refused: why
  LazyString key;                ///< unavailable, refused, lost, not_owner: with its prefix
  /// release: the listener has an event of the hold that says that it is unconfirmed.
  bool failure_reported = false;
  Clock::duration held{};      ///< lost: the time since the grant
  std::uint64_t ticket = 0;    ///< its place in the key's queue
  std::uint32_t attempts = 0;  ///< acquires that were sent to the backend
  /// The caller's thread brings a tick by then.
  Clock::time_point wake_at = Clock::never();

  // The coordinator's own.
  Call* previous = nullptr;
  Call* next = nullptr;
  Call* same_bucket = nullptr;          ///< link in the index of waiting calls by owner
  IntrusiveList<Call>* list = nullptr;  ///< the list that it waits in
  Clock::time_point silent_since{};     ///< since then the backend has not answered
  std::chrono::milliseconds want{};     ///< extend, re-entry: the lease that must be reached
  Clock::time_point waiting_since{};    ///< if `waits`
  Kind kind = Kind::acquire;
  LastReply last_reply = LastReply::none;
  bool waits = false;              ///< the event `waiting` was reported
  bool waking = false;             ///< among the wakes, or the completed calls, of this event
  Call* next_completed = nullptr;  ///< link in CompletedCalls

  /// granted: the number of its limit in the hold. The first local hold has the first number.
  [[nodiscard]] HoldLimits::Number limit_number() const noexcept {
    const bool is_first = limit == 0 && member == nullptr && lease.held_at_most().count() != 0;
    return is_first ? HoldLimits::first : limit;
  }

  /// The wait begins.
  void start(Clock::time_point now) noexcept {
    asked = now;
    until = later(now, wait);
  }

  [[nodiscard]] bool makes_one_attempt() const noexcept { return !forever && until <= asked; }

  /// Whether the caller reports the timeout, not the coordinator.
  [[nodiscard]] bool leaves_report() const noexcept {
    return reports_timeout && answer == Answer::busy && !makes_one_attempt() && !holder_is_local &&
           !holder.empty();
  }

  /// Whether it waits for other calls of this process and not for a reply: its thread need not
  /// drive the backend, and is woken when that changes.
  [[nodiscard]] bool waits_locally() const noexcept {
    return kind == Kind::acquire && hold == nullptr && answer == Answer::pending;
  }

  /// How long the first answer is awaited after the end of `wait`: 40 ms at most, so that a wait
  /// shorter than a round trip is not in vain. A wait of zero is one attempt, which may take as
  /// long as a command.
  [[nodiscard]] static std::chrono::milliseconds grace_of(
      std::chrono::milliseconds wait, std::chrono::milliseconds command_timeout) noexcept {
    constexpr std::chrono::milliseconds little{40};
    return wait.count() == 0 ? command_timeout : std::min(little, command_timeout);
  }
};

}  // namespace latchkey::inline v1::detail
