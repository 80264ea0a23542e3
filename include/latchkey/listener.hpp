// Events of locks, and the listener that receives them.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <latchkey/detail/cxx20.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <latchkey/attempt.hpp>
#include <latchkey/lock_type.hpp>
#include <latchkey/owner.hpp>

#pragma GCC visibility push(default)
namespace latchkey::inline v1 {

/// One event of one lock.
struct Event {
  enum class Kind : std::uint8_t {
    attempt,         ///< an acquire began; it ends with exactly one of granted to would_deadlock
    waiting,         ///< it found the lock busy and waits
    granted,         ///< it has the lock; `waited`: after how long
    timeout,         ///< it gave up: the lock was busy for the whole wait
    busy,            ///< it found the lock busy, and its wait was 0
    taken,           ///< the lock of a OncePer was busy: another run has the instant, or had it
    unavailable,     ///< it gave up: no definite reply of the backend; `text`: why
    refused,         ///< the backend rejected it; `text`: why
    cancelled,       ///< its stop token ended the wait
    closed,          ///< its Locks were closed
    would_deadlock,  ///< its owner holds the key in a mode in which it could never succeed
    renewed,         ///< the watchdog, an extend or a re-entry moved the deadline
    /// A hold ended before its holder released it; `text`: how; `held_too_long`.
    lost,
    released,             ///< a hold was released; `held`: after how long
    release_unconfirmed,  ///< a hold was released and the backend has not confirmed it; see `text`
    /// A thread ended while it held by lock(): the lease expires by itself. Or, on host:, another
    /// process ended while it held `key`, which is free again. `text`: which.
    abandoned,
    unlock_error,  ///< unlock() or a destructor could not throw an error; `text`: which
    /// no_throw() kept an error from a decorated call's caller, or the callback of a Leader threw;
    /// `text`: which.
    hidden_error,
    /// A policy file lets methods run without their lock, a server may evict held locks, or a
    /// coroutine blocked its thread; `text`: the details. Without a listener: std::clog.
    warning,
    /// Options::check_order: two locks are taken in both orders; `text`: where. Without a listener
    /// it goes to std::clog.
    order,
    elected,  ///< a Leader became the leader of `key`; `fencing_token`: its term
    /// A Leader told its callback to stop, because it lost its lock or could not renew it; `text`:
    /// which.
    deposed,
    term_ended,  ///< the callback of a Leader has ended, which is about to release its lock; `held`
    once_ran,    ///< a OncePer ran its body for the instant `text`, which is marked as done
    once_taken,  ///< it ran nothing: another one runs the instant or has run it; `holder`: which
    once_late,   ///< it ran nothing: it is too late for the instant `text`
    once_failed,    ///< its body threw, or another one may run the instant again; `text`: why
    latch_counted,  ///< a latch was counted down or given a count; `count`: what remains
    latch_opened,   ///< a wait for a latch ended because its count is zero; `waited`
    latch_timeout,  ///< a wait for a latch ended before; `waited`
    latch_failed,   ///< an operation on a latch failed; `text`: why
    connected,      ///< the first connection to `server`, usually when Locks are made
    /// The connection to `server` is lost or, without Startup::allow_down, could not be made;
    /// `text`: why.
    connection_lost,
    connection_restored,  ///< the connection is back, or no longer needed
    revoked,              ///< somebody asks the holder to release (Locks::revoke); `held`
    /// A lock that this process had released and kept (Options::cache) was given back, because
    /// somebody else wants it.
    recalled,
    dropped,  ///< `count` earlier events were discarded; `text`: why
  };

  Kind kind = Kind::attempt;
  LockType type = LockType::REENTRANT;
  std::string key{};  ///< without the prefix
  /// The decorated place of the acquire, and its key template. No site: the caller is not a LOCKED.
  Origin origin{};
  std::uint64_t owner = 0;  ///< Owner::number() of the holder or waiter
  /// The place in the local queue: later waiters of a key have larger tickets. 0: not queued.
  std::uint64_t ticket = 0;
  /// granted to would_deadlock: the time since the acquire began, round trips included.
  std::chrono::nanoseconds waited{};
  /// granted to would_deadlock: the time since `waiting`, during which the lock was busy. Empty:
  /// the acquire did not wait.
  std::optional<std::chrono::nanoseconds> contended{};
  std::chrono::nanoseconds held{};
  /// granted, renewed, lost, released: the lease in force (Options::watchdog if the watchdog renews
  /// it) and what remains of it, less its safety margin.
  std::chrono::milliseconds lease{};
  std::chrono::nanoseconds left{};
  /// renewed: the time between the due time of the renewal and its confirmation.
  std::chrono::nanoseconds late{};
  /// waiting, timeout, taken: the holder of the lock, if it is known.
  std::string holder{};
  std::optional<std::uint64_t> fencing_token{};
  /// PERMIT, granted and what ends a hold: how many permits it has; otherwise 0.
  std::uint32_t permits = 0;
  /// granted: the process had kept the lock (Options::cache), and the backend was not asked.
  bool cached = false;
  /// lost: it ended because of held_at_most, not because the backend lost it or did not answer.
  bool held_too_long = false;
  /// dropped: how many events; granted: how many local holds share the lock, so 1 for a new hold.
  std::uint64_t count = 0;
  std::string text{};
  /// connected, connection_lost, connection_restored: `backend` is scheme, host, port and database
  /// of the Locks; `server` is the server concerned. For a single server both are the same.
  std::string backend{};
  std::string server{};

  /// The totals of the dropped events of one kind and one decorated place.
  struct Missed {
    Kind kind = Kind::attempt;
    Origin origin{};
    std::uint64_t count = 0;      ///< events
    std::uint64_t new_holds = 0;  ///< granted: events whose `count` is 1
    std::uint64_t contended = 0;  ///< events with `contended`
    std::uint64_t cached = 0;     ///< granted: events with `cached`
    std::uint64_t permits = 0;    ///< the sum of their `permits`
  };
  /// dropped: lets a listener keep counters and gauges correct.
  std::vector<Missed> missed{};

  /// The name of the decorated place; empty if the caller is not a LOCKED. Lives as long as the
  /// program.
  [[nodiscard]] std::string_view method() const;
};

/// The name of the enumerator.
[[nodiscard]] std::string_view to_string(Event::Kind kind) noexcept;

/// Receives events. Derive from it and pass it in Options.
///
/// on_event is called on the notifier thread, one event at a time. Events of one key arrive in the
/// order in which they happened. on_event may be slow, may throw and may use locks: no lock waits
/// for it. Events beyond a queue of 4096 are dropped and counted, except losses, reports, errors,
/// and lost or restored connections, which are not dropped if on_event is slow.
///
/// A listener lives as long as the Locks and their holds if Options has a std::shared_ptr to it. A
/// borrowed one must outlive them, or a `close` of these Locks: both wait until all events are
/// delivered. Installed Locks are never destroyed. When the process exits, their events are
/// delivered, for at most a second, before static objects are destroyed; afterwards no listener is
/// called. A borrowed listener that is destroyed earlier hears of nothing from then on, and its
/// destructor waits for a call of on_event that is under way; but by then the members of the
/// derived class are gone already, so this is right only for members without a destructor. If the
/// last of the Locks and holds is destroyed inside on_event, events that are queued then are not
/// delivered.
class Listener {
 public:
  Listener() = default;
  Listener(const Listener&) = default;
  Listener& operator=(const Listener&) = default;
  virtual ~Listener();
  /// Override it. It is not pure, because a call may meet a listener that is being destroyed.
  virtual void on_event(const Event& event);

  /// False: of all events only losses, revocations, reports, errors (`unavailable`, `refused` and
  /// `release_unconfirmed` among them) and lost or restored connections are made. Called once.
  [[nodiscard]] virtual bool wants_everything() const noexcept { return true; }
};

}  // namespace latchkey::inline v1
#pragma GCC visibility pop
