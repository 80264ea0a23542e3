// Who is told what happens to locks.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <latchkey/lock_type.hpp>
#include <latchkey/owner.hpp>

namespace latchkey {

/// One thing that happened to one lock.
struct Event {
  enum class Kind : std::uint8_t {
    attempt,       ///< an acquire began
    waiting,       ///< it found the lock busy and waits
    granted,       ///< it has the lock; `waited` says after how long
    timeout,       ///< it gave up: the lock was busy for the whole wait
    renewed,       ///< the watchdog, an extend or a re-entry moved the deadline
    lost,          ///< a hold ended before its holder did; `text` says how
    released,      ///< a hold was released; `held` says after how long
    abandoned,     ///< a thread ended while it held by lock(): the lease runs out by itself
    unlock_error,  ///< an unlock() or a destructor could not say so by throwing; `text` says what
    hidden_error,  ///< no_throw() kept an error from a decorated call's caller; `text` says what
    /// A policy file lets methods run without their lock, or a server may evict held locks; `text`
    /// says it. Where there is no listener it goes to std::clog.
    warning,
    dropped,  ///< the listener was too slow: `count` events before this one were not kept
  };

  Kind kind = Kind::attempt;
  LockType type = LockType::REENTRANT;
  std::string key{};
  std::uint64_t owner = 0;  ///< Owner::number() of the holder or waiter
  /// The place in the local queue: later waiters of a key have larger tickets. 0: not queued.
  std::uint64_t ticket = 0;
  std::chrono::nanoseconds waited{};
  std::chrono::nanoseconds held{};
  std::optional<std::uint64_t> fencing_token{};
  std::uint64_t count = 0;
  std::string text{};
};

/// The enumerator's own spelling.
[[nodiscard]] std::string_view to_string(Event::Kind kind) noexcept;

/// Derive from it and pass it in Options.
///
/// Called on the notifier thread, one event at a time, in the order in which they happened to one
/// key. It may take its time, throw and use locks: no lock waits for it, but events beyond a queue
/// of 4096 are dropped and counted (`lost`, `abandoned` and the errors never are).
///
/// It outlives the Locks and their holds, or a `close` of these Locks: both wait until all is told.
/// Installed Locks never go, so a listener of theirs lives as long as the process, or main ends
/// with close. Where the last of the Locks and holds goes within on_event, what is queued then is
/// not told.
class Listener {
 public:
  virtual ~Listener() = default;
  virtual void on_event(const Event& event) = 0;

  /// Events other than losses and errors are only made where this says true. Asked once.
  [[nodiscard]] virtual bool wants_everything() const noexcept { return true; }
};

}  // namespace latchkey
