// The features of a backend, and the leases that it offers.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <latchkey/detail/cxx20.hpp>

#include <chrono>
#include <cstdint>
#include <string>

#include <latchkey/lock_type.hpp>

#pragma GCC visibility push(default)
namespace latchkey::inline v1 {

/// The features of a backend. Queried once, when the Locks are made.
struct Capabilities {
  bool reentrant = true, fair = false, read_write = false, fenced = false;
  /// WRITE and FAIR, as far as they are offered, get fencing tokens, too (Request::fenced).
  bool tokens = false;
  bool permits = false;  ///< semaphores: LockType::PERMIT, and Verb::resize
  /// acquire_all works for any keys (all), for keys of one partition (Backend::same_partition), or
  /// not at all (none).
  enum class OneStep : std::uint8_t { none, partition, all } one_step = OneStep::none;
  /// Subscriptions deliver notifications; without this, waiters poll.
  bool pushes = false;
  /// A release grants the lock to the process that waits in line the longest (Request::queues).
  bool grants = false;
  /// A request runs after all that were submitted before it, even if those ended as unknown.
  bool in_order = false;
  /// Renewals and verifications that are sent together cost less than one by one: the holds of a
  /// Locks are checked at common times, up to an eighth of the interval early.
  bool batches_checks = false;
  /// A check can ask for a notification when the key changes (Request::watch), so a hold that was
  /// taken away is told of at once, and not at its next check.
  bool watches = false;
  /// An expire or a renewal can ask for a notification when somebody waits for the key
  /// (Request::recall), so that a process can keep a lock that it does not use until others want
  /// it.
  bool recalls = false;
  /// All users of the backend are in this process: nothing is gained if one keeps an unused lock.
  bool one_process = false;
  /// expire works: the time of LOCKED's hold_for ends at the backend even if the process ends
  /// before.
  bool expires = false;
  /// The verbs of latches work, and subscriptions to latches deliver notifications.
  bool latches = false;
  /// inspect, list and force_release work.
  bool administration = false;

  /// Which limit ends a hold whose process has ended.
  enum class Lifetime : std::uint8_t {
    per_hold,  ///< its lease
    /// The session that all holds of the connection share: it ends when the process has not been
    /// heard of for its timeout, and all its holds end with it, each told by a notification `gone`.
    /// A process that lives ends each hold with its lease.
    per_session,
  } lifetime = Lifetime::per_hold;
  /// revoke works, and subscriptions to revocations deliver its notifications.
  bool revocation = false;
  /// The shortest and the longest lease, and what each lease is a multiple of. A lease that does
  /// not fit is an error; it is never changed silently. per_session: no lease is longer than the
  /// session's timeout, which a process that is frozen does not survive.
  std::chrono::milliseconds min_lease{10};
  std::chrono::milliseconds max_lease = std::chrono::milliseconds::max();
  std::chrono::milliseconds lease_granularity{1};

  [[nodiscard]] bool offers(LockType type) const noexcept;

  [[nodiscard]] constexpr bool offers(std::chrono::milliseconds lease) const noexcept {
    return lease >= min_lease && lease <= max_lease && lease % lease_granularity == lease.zero();
  }
  /// Why `lease` is not offered, with the cure; empty: it is. A clause that follows the name of the
  /// backend.
  [[nodiscard]] std::string why_not(std::chrono::milliseconds lease) const;
  /// Why a lease with this lock_delay is not offered (Lease::lock_delay), with the cure; empty: it
  /// is. A clause that follows the name of the backend.
  [[nodiscard]] std::string why_no_delay(std::chrono::milliseconds lease,
                                         std::chrono::milliseconds delay) const;
  /// Why no lock is kept after its release (Options::cache, Lease::cache), with the cure; empty:
  /// one can be. A clause that follows the name of the backend.
  [[nodiscard]] std::string why_no_cache() const;
  /// Why a lock of `type` has no fencing token (Attempt::fenced), with the cure; empty: it has one.
  /// A clause that follows the name of the backend.
  [[nodiscard]] std::string why_no_token(LockType type) const;
};

}  // namespace latchkey::inline v1
#pragma GCC visibility pop
