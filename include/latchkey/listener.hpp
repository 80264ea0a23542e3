// Who is told what happens to locks.
#pragma once

#include <latchkey/cxx20.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <latchkey/attempt.hpp>
#include <latchkey/lock_type.hpp>
#include <latchkey/owner.hpp>

namespace latchkey {

/// One thing that happened to one lock.
struct Event {
  enum class Kind : std::uint8_t {
    attempt,         ///< an acquire began; it ends with exactly one of granted to would_deadlock
    waiting,         ///< it found the lock busy and waits
    granted,         ///< it has the lock; `waited` says after how long
    timeout,         ///< it gave up: the lock was busy for the whole wait
    unavailable,     ///< it gave up: nobody can tell who holds the lock; `text` says why
    refused,         ///< the backend said no; `text` says why
    cancelled,       ///< its stop token ended the wait
    closed,          ///< its Locks were closed
    would_deadlock,  ///< its owner holds the key in a way in which it could never end
    renewed,         ///< the watchdog, an extend or a re-entry moved the deadline
    lost,            ///< a hold ended before its holder did; `text` says how
    released,        ///< a hold was released; `held` says after how long
    release_unconfirmed,  ///< a hold was released and the backend has not confirmed it; see `text`
    abandoned,            ///< a thread ended while it held by lock(): the lease runs out by itself
    unlock_error,  ///< an unlock() or a destructor could not say so by throwing; `text` says what
    hidden_error,  ///< no_throw() kept an error from a decorated call's caller; `text` says what
    /// A policy file lets methods run without their lock, or a server may evict held locks; `text`
    /// says it. Where there is no listener it goes to std::clog.
    warning,
    /// Options::check_order: two locks are taken in both orders; `text` says where. Where there is
    /// no listener it goes to std::clog.
    order,
    connected,  ///< the first connection to `server`: when Locks are made, as a rule
    /// The connection to `server` is lost or, unless Startup::allow_down was said, could not be
    /// made; `text` says why.
    connection_lost,
    connection_restored,  ///< it is back, or no longer needed
    dropped,              ///< `count` events before this one were not kept: `text` says why
  };

  Kind kind = Kind::attempt;
  LockType type = LockType::REENTRANT;
  std::string key{};
  /// The decorated place that asked, and the template of its key. No site: no LOCKED asked.
  Origin origin{};
  std::uint64_t owner = 0;  ///< Owner::number() of the holder or waiter
  /// The place in the local queue: later waiters of a key have larger tickets. 0: not queued.
  std::uint64_t ticket = 0;
  /// granted to would_deadlock: since the acquire began, round trips included.
  std::chrono::nanoseconds waited{};
  /// The same events: since `waiting`, so the time that others were in the way. Empty: nobody was.
  std::optional<std::chrono::nanoseconds> contended{};
  std::chrono::nanoseconds held{};
  /// granted, renewed, lost, released: the lease in force (the watchdog's period where it renews)
  /// and what was left of it, less its margin.
  std::chrono::milliseconds lease{};
  std::chrono::nanoseconds left{};
  /// renewed: how long after it was due it was confirmed.
  std::chrono::nanoseconds late{};
  /// waiting, timeout: who holds the lock, as far as that is known.
  std::string holder{};
  std::optional<std::uint64_t> fencing_token{};
  /// dropped: how many events; granted: how many local holds share the lock, so 1 where it is new.
  std::uint64_t count = 0;
  std::string text{};
  /// connected, connection_lost, connection_restored: scheme, host, port and database of the Locks,
  /// and which of their servers it is; of one server that is the same.
  std::string backend{};
  std::string server{};

  /// What the dropped events of one kind and one decorated place come to.
  struct Missed {
    Kind kind = Kind::attempt;
    Origin origin{};
    std::uint64_t count = 0;      ///< events
    std::uint64_t new_holds = 0;  ///< granted: of these with a `count` of 1
    std::uint64_t contended = 0;  ///< of these with `contended`
  };
  /// dropped: so counters and gauges stay right.
  std::vector<Missed> missed{};

  /// The name of the decorated place; empty where no LOCKED asked. Lives as long as the program.
  [[nodiscard]] std::string_view method() const;
};

/// The enumerator's own spelling.
[[nodiscard]] std::string_view to_string(Event::Kind kind) noexcept;

/// Derive from it and pass it in Options.
///
/// Called on the notifier thread, one event at a time, in the order in which they happened to one
/// key. It may take its time, throw and use locks: no lock waits for it, but events beyond a queue
/// of 4096 are dropped and counted (losses, reports, errors and connections never are).
///
/// It outlives the Locks and their holds, or a `close` of these Locks: both wait until all is told.
/// Installed Locks never go, so a listener of theirs lives as long as the process, or main ends
/// with close. Where the last of the Locks and holds goes within on_event, what is queued then is
/// not told.
class Listener {
 public:
  virtual ~Listener() = default;
  virtual void on_event(const Event& event) = 0;

  /// Events other than losses, reports, errors (`unavailable`, `refused`, `release_unconfirmed`
  /// among them) and lost or restored connections are only made where this says true. Asked once.
  [[nodiscard]] virtual bool wants_everything() const noexcept { return true; }
};

}  // namespace latchkey
