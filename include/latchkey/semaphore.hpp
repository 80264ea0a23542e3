// A semaphore whose permits end with their holder.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <latchkey/detail/cxx20.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include <latchkey/hold.hpp>
#include <latchkey/lease.hpp>
#include <latchkey/lock.hpp>
#include <latchkey/lock_info.hpp>
#include <latchkey/permits.hpp>
#include <latchkey/wait.hpp>

#pragma GCC visibility push(default)
namespace latchkey::inline v1 {

namespace detail {
class CoroutineCall;
class LockAccess;
}  // namespace detail

/// A handle to the semaphore of one key: at most so many permits are held at once, by whatever
/// threads and processes. Made by Locks::semaphore. It has no state of its own: copies refer to the
/// same semaphore. Thread-safe.
///
/// An acquire gives one Hold, with a lease, a deadline, loss and a stop token as every Hold has: a
/// permit whose holder was killed is available again when its lease ends. Unlike a lock, a
/// semaphore knows no owner: each acquire takes permits of its own, also on a thread that holds
/// some, and a Hold may be released on any thread.
///
/// The first acquire makes the semaphore with the number of permits that its handle says. One that
/// exists keeps its number, whatever a handle says: set_total changes it.
///
/// Calls of one Locks are served first come, first served, whatever number they ask for. Each
/// process asks for its first waiting call only. On Redis the processes wait in a queue; elsewhere
/// the first to ask after a release gets the permits.
///
/// Not promised: that no more than `total` are at work in the time after the server has lost its
/// data, until the holders notice it (Hold::lost), at most a third of their leases later.
///
/// Every acquire may throw LockTimeout (if its wait is bounded), Closed, BackendUnavailable,
/// BackendRefused (also if the key is a lock, or the semaphore has fewer permits than are asked
/// for), std::bad_alloc, and std::invalid_argument for a number of permits below 1, above
/// most_permits_at_once or above that of the handle.
class Semaphore {
 public:
  /// Waits for `permits` permits for at most `wait`, and takes all of them at once. Throws
  /// LockTimeout if there were too few all that time.
  Hold acquire(int permits = 1, Wait wait = default_wait, Lease lease = watchdog) const;

  /// Like acquire(), but returns nullopt instead of throwing LockTimeout. Name the result, as that
  /// of Lock::try_acquire.
  [[nodiscard(
      "latchkey: permits are held for as long as their Hold lives: if (auto hold = "
      "semaphore.try_acquire(...)) { ... }")]] std::optional<Hold>
  try_acquire(int permits = 1, Wait wait = std::chrono::milliseconds(0),
              Lease lease = watchdog) const;

  /// How many permits could be taken when the backend replied: all of them if the semaphore does
  /// not exist yet; fewer than 0 after set_total() made them fewer than are taken. This function
  /// and those below throw BackendUnavailable and BackendRefused.
  [[nodiscard]] std::int64_t available() const;

  /// How many permits the semaphore has, taken or not. If it does not exist yet: how many it would
  /// be made with.
  [[nodiscard]] std::int64_t total() const;

  /// The permits that are taken, at most 1 000 of them, each with the id that Redisson's users know
  /// it by and what is left of its lease. LockInfo::permits is empty if there is no semaphore.
  [[nodiscard]] LockInfo inspect() const;

  /// Changes how many permits the semaphore has, for all processes. Permits that are held stay
  /// held: if they are more than `total`, none is granted until enough are released. Handles keep
  /// what they say. Throws std::invalid_argument if `total` is below 1.
  void set_total(int total) const;

  /// Deletes the semaphore: the backend keeps nothing of it. Whoever holds permits loses them, and
  /// notices at its next check. Returns false if there was none. The next acquire makes it anew.
  bool destroy() const;

  /// The key without the prefix, as it was given.
  [[nodiscard]] std::string_view key() const noexcept { return lock_.key(); }
  /// How many permits the handle makes the semaphore with.
  [[nodiscard]] int permits() const noexcept { return permits_; }

 private:
  friend class Locks;
  friend class detail::CoroutineCall;
  friend class detail::LockAccess;
  Semaphore(Lock lock, int permits) : lock_(std::move(lock)), permits_(permits) {}

  Lock lock_;  ///< its type is LockType::PERMIT
  int permits_;
};

}  // namespace latchkey::inline v1
#pragma GCC visibility pop
