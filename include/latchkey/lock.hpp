// A handle to one lock.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <latchkey/detail/cxx20.hpp>

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <latchkey/hold.hpp>
#include <latchkey/lease.hpp>
#include <latchkey/lock_type.hpp>
#include <latchkey/owner.hpp>
#include <latchkey/wait.hpp>

#pragma GCC visibility push(default)
namespace latchkey::inline v1 {

namespace detail {
class LockAccess;
class LockSet;
class SpaceRef;
}  // namespace detail

/// A handle to one lock of one Locks, or to several locks at once (Locks::all_of). It has no state
/// of its own: copies refer to the same lock. Thread-safe. Meets TimedLockable.
///
/// lock() and acquire() are counted separately. lock() is counted per owner, key, and shared or
/// exclusive mode: unlock() never ends a Hold from acquire(), and a Hold never ends what lock()
/// acquired. The hold at the backend ends when no lock() and no Hold remains.
///
/// Every acquire may throw LockTimeout (if its wait is bounded), WouldDeadlock, Closed,
/// BackendUnavailable, BackendRefused and std::bad_alloc.
class Lock {
 public:
  Lock(const Lock&);
  Lock(Lock&&) noexcept;
  Lock& operator=(const Lock&);
  Lock& operator=(Lock&&) noexcept;
  ~Lock();

  /// Waits without a limit. The watchdog renews the lease.
  void lock();
  /// Makes one attempt. Returns false if the lock is busy.
  bool try_lock();
  template <class Rep, class Period>
  bool try_lock_for(std::chrono::duration<Rep, Period> wait) {
    return try_lock_within(Wait(wait));
  }
  /// The difference to `Time::now()` is taken once, at the start.
  template <class Time, class Length>
  bool try_lock_until(std::chrono::time_point<Time, Length> until) {
    const auto now = Time::now();
    if (until <= now) return try_lock();  // the difference could overflow for a time long ago
    return try_lock_within(Wait(until - now));
  }

  /// Undoes one lock(). Reports errors (the hold was lost, the server does not reply, the caller is
  /// not the owner) to the listener: an exception would end a process that uses std::scoped_lock.
  void unlock() noexcept;

  /// Like unlock(), but returns or throws the result. Returns false if the hold had been lost.
  /// Throws NotOwner, BackendRefused and, if the backend does not reply, ReleaseUnconfirmed, which
  /// is a BackendUnavailable.
  bool release();

  /// Waits for the lock for at most `wait`. Throws LockTimeout if it was busy all that time. Write
  /// acquire(forever) to wait without a limit. The Hold says when the lock is no longer needed, so
  /// the watchdog renews the lease by default.
  Hold acquire(Wait wait = default_wait, Lease lease = watchdog);

  /// Like acquire(), but returns nullopt instead of throwing LockTimeout, and does not wait by
  /// default.
  /// Name the result: the Hold of `if (lock.try_acquire())` has ended before the branch begins, and
  /// no compiler warns of it. Write `if (auto hold = lock.try_acquire())`.
  [[nodiscard(
      "latchkey: a lock is held for as long as its Hold lives: if (auto hold = "
      "lock.try_acquire(...)) { ... }")]] std::optional<Hold>
  try_acquire(Wait wait = std::chrono::milliseconds(0), Lease lease = watchdog);

  /// The key without the prefix, as it was given. For several keys: a text for messages that lists
  /// them, or the first ones.
  [[nodiscard]] std::string_view key() const noexcept;
  /// For several keys: the type of the first one.
  [[nodiscard]] LockType type() const noexcept { return type_; }

 private:
  friend class Locks;
  friend class detail::LockAccess;
  Lock(std::shared_ptr<detail::SpaceRef> space, std::string key, LockType type,
       std::optional<Owner> owner);
  Lock(std::shared_ptr<detail::SpaceRef> space, std::shared_ptr<const detail::LockSet> several);

  bool try_lock_within(Wait wait);
  [[nodiscard]] Owner owner() const noexcept { return owner_ ? *owner_ : Owner::this_thread(); }

  std::shared_ptr<detail::SpaceRef> space_;
  std::string key_;       ///< with its prefix; for several keys: the text
  std::size_t hash_ = 0;  ///< of one lock's key
  LockType type_;
  std::optional<Owner> owner_;
  std::shared_ptr<const detail::LockSet> several_{};  // null: one lock, `key_`
};

}  // namespace latchkey::inline v1
#pragma GCC visibility pop
