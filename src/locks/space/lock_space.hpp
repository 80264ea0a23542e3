// The state that Locks, Lock and Hold share.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

#include <latchkey/attempt.hpp>
#include <latchkey/backend.hpp>
#include <latchkey/error.hpp>
#include <latchkey/hold.hpp>
#include <latchkey/options.hpp>
#include <latchkey/owner.hpp>

#include "core/at_fork.hpp"
#include "core/thread_annotations.hpp"
#include "locks/latch/latch_waits.hpp"
#include "locks/listener/reporter.hpp"
#include "locks/space/blocking_call.hpp"
#include "locks/space/closers.hpp"
#include "locks/space/direct_request.hpp"
#include "locks/space/due_times.hpp"
#include "locks/space/error_context.hpp"
#include "locks/space/lease_timer.hpp"
#include "locks/space/lifetime.hpp"
#include "locks/space/shard_driver.hpp"

namespace latchkey::inline v1::detail {

class SpaceRef;

/// All locks of one backend, as one process sees them. It is composed of
///
/// | part           | what it does                                                             |
/// |----------------|--------------------------------------------------------------------------|
/// | ShardDriver    | owns the coordinators; brings them events and carries out their actions  |
/// | LeaseTimer     | the timer thread, which sleeps until the next of DueTimes                |
/// | BlockingCall   | how one thread waits for one call; made for each call                    |
/// | AsyncCall      | a call that no thread waits for                                          |
/// | DirectRequests | requests that no coordinator makes                                       |
/// | Reporter       | events for the listener                                                  |
/// | Closers        | the threads inside close                                                 |
/// | Lifetime       | what keeps the space when no Locks and no Lock is left                   |
///
/// Made by Locks; deletes itself when neither a Locks, a Lock nor a Hold is left. Thread-safe.
class LockSpace final : public Sink, public ForkParticipant {
 public:
  LockSpace(std::unique_ptr<Backend> backend, const Options& options);

  // --- calls; they throw what the public functions of these names throw ---
  // A `place` is driver().place_of the key.
  Hold acquire(const KeyPlace& place, Owner owner, const Attempt& attempt);
  std::optional<Hold> try_acquire(const KeyPlace& place, Owner owner, const Attempt& attempt);
  /// Makes one attempt at several keys, which have their prefix, if a backend in the same process
  /// can answer at once. Empty: it is not granted; an ordinary acquire is to follow, and has the
  /// errors.
  [[nodiscard]] std::optional<Hold> acquire_all_at_once(std::span<const std::string_view> keys,
                                                        Owner owner, const Attempt& attempt);
  bool lock(const KeyPlace& place, LockType type, Owner owner, Wait wait);
  bool unlock(const KeyPlace& place, LockType type, Owner owner);
  /// `context`: as for throw_answer.
  bool release(RemoteHold& hold, HoldTerms terms, std::chrono::milliseconds linger,
               const ErrorContext* context = nullptr);
  void release_quietly(RemoteHold& hold, HoldTerms terms,
                       std::chrono::milliseconds linger) noexcept;
  /// Releases if a backend in the same process answers at once and nobody waits for the key. False:
  /// nothing is done, and a release is to follow.
  bool release_at_once(RemoteHold& hold, HoldTerms terms,
                       std::chrono::milliseconds linger) noexcept;
  bool extend(RemoteHold& hold, LockType type, std::chrono::milliseconds lease);
  /// The key stays locked for at least `time` from now, whenever the hold is released.
  void hold_for(RemoteHold& hold, std::chrono::milliseconds time) noexcept;
  [[nodiscard]] std::stop_token stop_token(RemoteHold& hold);
  /// Whether somebody asked for the key. The first question has the hold listen for that.
  [[nodiscard]] bool revoked(RemoteHold& hold) noexcept;
  [[nodiscard]] std::stop_token revocation_token(RemoteHold& hold);
  /// Asks the holders of `key`, which has its prefix. Returns how many Locks were told. Throws
  /// std::invalid_argument if the backend offers no revocation.
  std::size_t revoke(std::string_view key);
  /// Throws Cancelled if a stop was requested before anything is sent.
  void refuse_if_cancelled(const std::stop_token& cancel, std::string_view key,
                           LockType type) const {
    if (cancel.stop_requested()) throw Cancelled(site_of(key, type));
  }
  /// Runs a request that no coordinator makes: inspect, list, force_release, resize, revoke, or the
  /// release of somebody else's hold.
  Outcome administered(const Request& request);
  Outcome::Kind administer(const Request& request) { return administered(request).kind; }
  /// Runs several such requests at once. Throws if one of them failed.
  void administer_all(std::span<const Request> requests);
  /// Waits for holds for at most `drain`, which a stop request of `hurry` ends early, and then
  /// takes them back. Later calls end as closed.
  void close(std::chrono::milliseconds drain, const std::stop_token& hurry = {});

  // --- event loops ---
  /// From now on a call that blocks a thread of an event loop is reported, once.
  void watch_for_blocked_loops() noexcept { watches_loops_.store(true, std::memory_order_relaxed); }
  /// The calling thread is about to sleep until `call` is answered.
  void before_sleep(const Call& call) noexcept {
    if (watches_loops_.load(std::memory_order_relaxed)) [[unlikely]] {
      report_blocked_loop(call);
    }
  }

  // --- the parts ---
  [[nodiscard]] ShardDriver& driver() noexcept { return driver_; }
  [[nodiscard]] LeaseTimer& timer() noexcept { return timer_; }
  [[nodiscard]] DirectRequests& direct_requests() noexcept { return direct_requests_; }
  [[nodiscard]] DueTimes& due_times() noexcept { return due_times_; }
  [[nodiscard]] LatchWaits& latch_waits() noexcept { return latch_waits_; }
  [[nodiscard]] Reporter& reporter() noexcept { return reporter_; }

  // --- questions ---
  [[nodiscard]] const Options& options() const noexcept { return options_; }
  [[nodiscard]] const Capabilities& capabilities() const noexcept { return capabilities_; }
  [[nodiscard]] Clock& clock() const noexcept { return clock_; }
  [[nodiscard]] Backend& backend() const noexcept { return *backend_; }
  [[nodiscard]] std::string describe() const { return backend_->describe(); }
  /// A key of these Locks as the user gave it.
  [[nodiscard]] std::string_view without_prefix(std::string_view key) const noexcept {
    return key.substr(std::min(key.size(), options_.prefix.size()));
  }
  /// Describes the lock of `key`, which has its prefix, for errors.
  [[nodiscard]] LockSite site_of(std::string_view key, LockType type) const {
    return {.key = std::string(without_prefix(key)),
            .type = type,
            .backend = describe(),
            .prefix = options_.prefix};
  }
  [[nodiscard]] std::uint64_t number() const noexcept { return number_; }
  /// Each throws std::invalid_argument with a sentence unless the backend offers the type or the
  /// lease.
  void require_offered(LockType type) const;
  /// The type that a hold with a fencing token has if `type` was asked for. Throws
  /// std::invalid_argument with a sentence if it has none at this backend.
  [[nodiscard]] LockType type_with_token(LockType type) const;
  void require_offered(const Lease& lease) const {
    if (limits_leases_) [[unlikely]]
      require_offered(lease.length(options_.watchdog));
    if (lease.lock_delay().count() != 0) [[unlikely]]
      require_delay(lease);
  }
  /// Why no lock is kept after its release; empty: one can be, or it is not known yet.
  [[nodiscard]] std::string why_no_cache() const {
    const bool never = keeps_idle_.load(std::memory_order_relaxed) == KeepsIdle::never;
    return never ? capabilities_.why_no_cache() : std::string();
  }
  /// Gives back what nobody here holds.
  bool give_back_idle_holds() noexcept;
  /// For an acquire as `type`.
  void require_offered(const Lease& lease, LockType type) const {
    require_offered(lease);
    if (lease.cache().value_or(std::chrono::milliseconds(0)).count() != 0) [[unlikely]]
      require_cache(type);
  }
  /// Whether the backend takes all these keys by one request.
  [[nodiscard]] bool takes_in_one_step(std::span<const std::string_view> keys) const noexcept;
  /// The time from which an acquire counts its lease. It may be a tick early if the lease is so
  /// long that its margin is more than that.
  [[nodiscard]] Clock::time_point acquire_time(const Lease& lease) const noexcept {
    const bool long_enough = lease.length(options_.watchdog) >= std::chrono::seconds(1);
    return long_enough && !exact_times_ ? clock_.recent() : clock_.now();
  }
  /// The time of the release of `hold`. It may be a tick early while the hold has a second left:
  /// then the hold is not lost either way, as the backend keeps it for longer still.
  [[nodiscard]] Clock::time_point release_time(const RemoteHold& hold) const noexcept {
    const Clock::time_point recent = exact_times_ ? clock_.now() : clock_.recent();
    const bool long_enough = hold.deadline_point() - recent >= std::chrono::seconds(1);
    return long_enough || exact_times_ ? recent : clock_.now();
  }

  // --- lifetime ---
  /// The reference that Locks and Lock share; null: none of them is left.
  [[nodiscard]] std::shared_ptr<SpaceRef> reference() const noexcept { return reference_.lock(); }
  void set_reference(std::weak_ptr<SpaceRef> reference) noexcept {
    reference_ = std::move(reference);
  }
  void detach();                   ///< the last Locks or Lock is gone
  void drop_reference() noexcept;  ///< one of those that Lifetime counts
  /// Drops a reference on a thread that may be inside the backend: if it is the last, the timer
  /// thread deletes the space.
  void drop_reference_later() noexcept;
  void owner_ended(Owner owner);  ///< a thread ended while it held by lock()

  // --- Sink: on any thread that drives ---
  void completed(Request& request, Outcome&& outcome) noexcept override;
  void notified(const Notification& notification) noexcept override;

  // --- ForkParticipant ---
  void prepare() noexcept LATCHKEY_FORK_HANDLER override;
  void parent() noexcept LATCHKEY_FORK_HANDLER override;
  void child() noexcept LATCHKEY_FORK_HANDLER override;

 private:
  friend class LeaseTimer;
  ~LockSpace();

  static Hold hold_of(const Call& granted);
  void report_blocked_loop(const Call& call) noexcept;
  /// Acquires an unused key if a backend in the same process answers at once. Null: a call has to
  /// be brought to the key's coordinator.
  RemoteHold* acquire_at_once(const KeyPlace& place, const AcquireTerms& terms);
  /// Implements release_at_once.
  bool answer_release(RemoteHold& hold, HoldTerms terms, std::chrono::milliseconds linger) noexcept;
  /// Whether a timeout of this attempt is reported with what the holder announces.
  [[nodiscard]] bool names_announced(const Attempt& attempt) const noexcept;
  Hold acquire_by_call(const KeyPlace& place, Owner owner, const Attempt& attempt);
  bool lock_by_call(const KeyPlace& place, LockType type, Owner owner, Wait wait);
  /// Undoes the only lock() of `owner` if a backend in the same process answers at once and nobody
  /// waits for the key. False: nothing is done, and an unlock is to follow.
  bool unlock_at_once(const KeyPlace& place, LockType type, Owner owner) noexcept;
  bool unlock_by_call(const KeyPlace& place, LockType type, Owner owner);
  void require_offered(std::chrono::milliseconds lease) const;
  void require_delay(const Lease& lease) const;
  void require_cache(LockType type) const;
  void acquire(BlockingCall& call, const KeyPlace& place, Owner owner, const Attempt& attempt);
  bool release_by_call(RemoteHold& hold, HoldTerms terms, std::chrono::milliseconds linger,
                       const ErrorContext* context);
  bool release(BlockingCall& call, RemoteHold& hold, HoldTerms terms,
               std::chrono::milliseconds linger, const ErrorContext* context);
  /// `request` may take an idle hold of this process away, which is given back before.
  void end_idle_hold_for(const Request& request) noexcept;
  /// The first connection is up: whether holds may become idle.
  void learn_of_recalls() noexcept;
  /// Returns `granted` or `gone`, and throws for any other outcome.
  Outcome::Kind kind_or_throw(const DirectRequest& answered) const;
  /// No Locks and no Lock is left: gives back what nobody holds, within `command_timeout`.
  void end_idle_holds() noexcept;
  void wait_while(bool (Coordinator::*condition)() const, Clock::time_point until, Parker& parker,
                  const std::stop_token& hurry = {});

  const std::uint64_t number_;  ///< never reused, unlike an address
  const Options options_;
  Clock& clock_;
  std::unique_ptr<Backend> backend_;
  const Capabilities capabilities_;
  const bool limits_leases_;  ///< the backend takes fewer leases than Lease does
  DueTimes due_times_;
  Reporter reporter_;
  CoordinatorSettings settings_;
  /// A tick of the clock matters: to a listener, whose events say how long each hold lasted, and
  /// to commands whose timeout is a few ticks.
  const bool exact_times_;
  const bool reports_grants_;  ///< the listener is told of attempts, grants and releases
  Closers closers_;
  ShardDriver driver_;
  LeaseTimer timer_;
  DirectRequests direct_requests_;
  LatchWaits latch_waits_;
  Lifetime lifetime_;
  std::weak_ptr<SpaceRef> reference_;
  std::atomic<bool> watches_loops_{false};
  std::atomic<KeepsIdle> keeps_idle_;
};

}  // namespace latchkey::inline v1::detail
