// One caller that waits for the coordinator.
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

#include "core/lazy_string.hpp"
#include "locks/intrusive_list.hpp"

namespace latchkey {
class Parker;
}

namespace latchkey::detail {

class RemoteHold;

/// What the coordinator answers to a call.
enum class Answer : std::uint8_t {
  pending,
  granted,         ///< acquire: held; extend and release: done
  busy,            ///< acquire: not within the wait
  lost,            ///< extend and release: it was no longer ours
  would_deadlock,  ///< acquire: the owner holds in another way
  not_owner,       ///< unlock: nothing to undo
  cancelled,
  closed,
  unavailable,  ///< nobody can tell
  refused,      ///< the backend said no
};

/// An acquire, an extend or a release under way. It lives on its caller's stack and belongs to the
/// coordinator from the event that brings it until `answer` is no longer pending.
struct Call {
  // What is asked.
  Owner owner = Owner::nobody();
  LockType type = LockType::REENTRANT;
  Lease lease = watchdog;
  bool by_lock = false;  ///< counts as lock() rather than as a Hold
  Reentry reentry = Reentry::count;
  bool wants_holder_name = false;  ///< whoever is in the way shall be named
  Origin origin{};
  /// One attempt, asked for together with others: it takes its place in the queue and a claim, and
  /// whoever brought it asks the backend for all of them at once.
  bool bundled = false;
  bool forever = false;
  std::chrono::milliseconds wait{};
  Clock::time_point asked{};
  /// The end of the wait; at or before `asked`: one attempt.
  Clock::time_point until = Clock::never();
  /// How long after `until` the answer to the first attempt is waited for.
  std::chrono::milliseconds grace{};
  Parker* parker = nullptr;  ///< where the caller sleeps

  // What is answered. Written under the mutex of the key's shard, and read by the caller once it
  // has seen `done`, which is set last.
  std::atomic<bool> done{false};
  Answer answer = Answer::pending;
  RemoteHold* hold = nullptr;              ///< granted: what was granted; before: the claim
  LockType held_as = LockType::REENTRANT;  ///< would_deadlock
  bool holder_is_local = false;  ///< busy: the holder that `text` names is of this process
  /// busy: the holder; unavailable, refused: the reason; would_deadlock: the holder's method
  LazyString text;
  LazyString key;            ///< unavailable, refused, lost, not_owner: of what
  Clock::duration held{};    ///< lost: since the grant
  std::uint64_t ticket = 0;  ///< its place in the key's queue
  /// When the caller's thread has to bring a tick at the latest.
  Clock::time_point wake_at = Clock::never();

  // The coordinator's own.
  Call* previous = nullptr;
  Call* next = nullptr;
  Call* same_bucket = nullptr;          ///< of the waiting calls by owner
  IntrusiveList<Call>* list = nullptr;  ///< the list that it waits in
  Clock::time_point silent_since{};     ///< since when no answer came
  std::chrono::milliseconds want{};     ///< extend, re-entry: the lease that must be reached
  Clock::time_point waiting_since{};    ///< if `waits`
  bool acquires = true;                 ///< an acquire, not an extend or a release
  bool releases = false;                ///< gives a local hold back
  bool answered = false;                ///< the backend answered at least once
  bool outcome_unknown = false;         ///< the last outcome was unknown
  bool waits = false;                   ///< the listener was told so
  bool waking = false;                  ///< among the wakes of this turn

  /// The wait begins.
  void start(Clock::time_point now) noexcept {
    asked = now;
    until = later(now, wait);
  }

  /// A wait is a bound: a little is added to it for the first answer, so that a wait shorter than a
  /// round trip is not in vain. A wait of zero makes one attempt, which takes as long as a command
  /// may.
  void set_grace(std::chrono::milliseconds its_wait,
                 std::chrono::milliseconds command_timeout) noexcept {
    constexpr std::chrono::milliseconds little{40};
    grace = its_wait.count() == 0 ? command_timeout : std::min(little, command_timeout);
  }
};

}  // namespace latchkey::detail
