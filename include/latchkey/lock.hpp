// A handle to one lock.
#pragma once

#include <latchkey/cxx20.hpp>

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include <latchkey/hold.hpp>
#include <latchkey/lease.hpp>
#include <latchkey/lock_type.hpp>
#include <latchkey/owner.hpp>
#include <latchkey/wait.hpp>

namespace latchkey {

namespace detail {
class LockSet;
class SpaceRef;
}  // namespace detail

/// Names one lock of one Locks, or several at once (Locks::all_of). Without state of its own:
/// copies are the same lock, and one handle may be used by many threads at once. Meets
/// TimedLockable.
///
/// What lock() takes is counted per (owner, key, shared or exclusive), apart from Hold objects:
/// unlock() never ends what acquire() gave, a Hold never ends what lock() took, and the remote hold
/// goes when the last of both goes.
///
/// Every acquire may throw LockTimeout (only those with an end to their wait), WouldDeadlock,
/// Closed, BackendUnavailable, BackendRefused and std::bad_alloc.
class Lock {
 public:
  Lock(const Lock&);
  Lock(Lock&&) noexcept;
  Lock& operator=(const Lock&);
  Lock& operator=(Lock&&) noexcept;
  ~Lock();

  /// Waits for ever; held under the watchdog.
  void lock();
  /// One attempt. False: busy.
  bool try_lock();
  template <class Rep, class Period>
  bool try_lock_for(std::chrono::duration<Rep, Period> wait) {
    return try_lock_within(Wait(wait));
  }
  /// The difference to `Time::now()` is taken once, at the start.
  template <class Time, class Length>
  bool try_lock_until(std::chrono::time_point<Time, Length> until) {
    const auto now = Time::now();
    if (until <= now) return try_lock();  // a time long past would overflow in the difference
    return try_lock_within(Wait(until - now));
  }

  /// Undoes one lock(). A loss, a silent server, or "not the owner" go to the listener: a throw
  /// from here would end the process that uses std::scoped_lock.
  void unlock() noexcept;

  /// The same, and says it. False: it had been lost. Throws NotOwner, BackendRefused and, if the
  /// backend does not answer, ReleaseUnconfirmed, which is a BackendUnavailable.
  bool release();

  /// Waits, at most `wait`; throws LockTimeout when the lock was busy for all of it.
  Hold acquire(Wait wait = forever, Lease lease = watchdog);

  /// The same; nullopt where acquire throws LockTimeout.
  std::optional<Hold> try_acquire(Wait wait = std::chrono::milliseconds(0), Lease lease = watchdog);

  /// With its prefix. Of several a text for messages that names them, or the first of many.
  [[nodiscard]] const std::string& key() const noexcept { return key_; }
  /// Of several the first one's.
  [[nodiscard]] LockType type() const noexcept { return type_; }

 private:
  friend class Locks;
  Lock(std::shared_ptr<detail::SpaceRef> space, std::string key, LockType type,
       std::optional<Owner> owner);
  Lock(std::shared_ptr<detail::SpaceRef> space, std::shared_ptr<const detail::LockSet> several);

  bool try_lock_within(Wait wait);
  [[nodiscard]] Owner owner() const noexcept { return owner_ ? *owner_ : Owner::this_thread(); }

  std::shared_ptr<detail::SpaceRef> space_;
  std::string key_;
  LockType type_;
  std::optional<Owner> owner_;
  std::shared_ptr<const detail::LockSet> several_{};  // null: the one that key_ names
};

}  // namespace latchkey
