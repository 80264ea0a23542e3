// The state machine of one key: every decision that latchkey makes about a lock.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include <latchkey/backend.hpp>
#include <latchkey/clock.hpp>
#include <latchkey/lock_type.hpp>
#include <latchkey/owner.hpp>

#include "core/inline_string.hpp"
#include "core/lazy_string.hpp"
#include "locks/coordinator/call.hpp"
#include "locks/coordinator/coordinator_context.hpp"
#include "locks/coordinator/event_context.hpp"
#include "locks/coordinator/hold_table.hpp"
#include "locks/coordinator/remote_hold.hpp"
#include "locks/coordinator/subscription.hpp"
#include "locks/coordinator/wait_queues.hpp"
#include "locks/coordinator/wait_times.hpp"
#include "locks/coordinator/yielding.hpp"

namespace latchkey::inline v1::detail {

/// The state of one key in one process. The decisions read and change it.
struct KeyState {
  InlineString key;
  std::size_t hash = 0;
  CoordinatorContext* shard = nullptr;  ///< shared by all keys of the shard
  WaitQueues waiters;
  HoldTable holds;
  Subscription subscription;  ///< to the key's channel
  Subscription grants;        ///< to what the backend grants this process
  Subscription revocations;   ///< to requests to release the key, while a hold listens
  /// When the subscription `grants`, which no call uses, ends; never: no end is planned.
  Clock::time_point grants_unused_until = Clock::never();
  /// Until then waiters listen to the key's channel, because the backend refused `grants`.
  Clock::time_point grants_refused_until{};
  Yielding yielding;  ///< to other processes
  /// PERMIT: until then an attempt would be in vain, because the last permit was granted a moment
  /// ago and no release was notified since.
  Clock::time_point no_permits_until{};
  /// When the first acquire or release was sent that ended without a reply, if none had one since.
  Clock::time_point silent_since = Clock::never();
  LazyString silence_reason;    ///< the reason that the last of these requests gave
  Clock::time_point busy_at{};  ///< when the last busy reply came; zero: none, or silence since
  /// When a tick is due for the calls that no thread waits for; it may be too early.
  Clock::time_point unattended_due = Clock::never();

  /// Whether nothing is held, waited for, subscribed to or in flight, and `yielding` is off.
  [[nodiscard]] bool idle() const noexcept {
    return holds.empty() && waiters.empty() && subscription.ended() && grants.ended() &&
           revocations.ended() && yielding.stage == Yielding::Stage::off;
  }
  [[nodiscard]] Clock::time_point due_without_holds() const noexcept {
    return std::min({subscription.retry_at, grants.retry_at, revocations.retry_at,
                     grants_unused_until, yielding.kept_until()});
  }
  void end_silence() noexcept {
    silent_since = Clock::never();
    if (!silence_reason.empty()) silence_reason = std::string_view();
  }
  void note_reply(const Request& request, const Outcome& outcome, EventContext& context) noexcept;
  void tick_unattended_by(Clock::time_point at) noexcept {
    unattended_due = std::min(unattended_due, at);
  }
  /// Sets `holds.due()` to the first time at which a hold, a subscription or `yielding` needs a
  /// tick.
  void find_due() noexcept {
    holds.find_due();
    holds.due_by(due_without_holds());
  }
};

/// Turns the events of one (Locks, key) into actions. It has no thread, no socket, no mutex and no
/// clock of its own: two coordinators that handle the same events at the same times, with the same
/// random numbers, are equal. Blocking threads drive it through LockSpace, the simulator through a
/// virtual network.
///
/// Eleven classes make the decisions; an object of them lives for one event. They are AcquireLogic,
/// WaitLogic, LeaseLogic, ReleaseLogic, DowngradeLogic and SubscriptionLogic; ImmediateLogic for a
/// backend in the same process, HandOffLogic for the next call of this process, JoinLogic for READs
/// that share a hold, PermitLogic for semaphores, YieldLogic for other processes. KeyLogic is their
/// base, and KeyEvent the base of all that handle an event.
///
/// Invariants (docs/architecture.md):
/// * an id is requested, held and released once; after its release was sent, nothing is sent for it
///   but repetitions of the release;
/// * a deadline moves only when a reply arrives, and never back; a hold that was lost stays lost;
/// * no local call waits for a local hold longer than that hold's deadline;
/// * every hold or place in line that this process may have at the backend is in the table of
///   holds, so it is released.
class Coordinator : private KeyState {
 public:
  // --- the record in the table of keys ---
  using KeyState::hash;
  using KeyState::key;
  Coordinator* next = nullptr;
  // The shard's Timers use these:
  Clock::time_point due_at = Clock::never();
  std::size_t due_index = 0;
  Coordinator* due_next = nullptr;
  Coordinator** due_place = nullptr;

  /// Called before the first event, also when the record is used for another key.
  void start(CoordinatorContext& context) noexcept { shard = &context; }
  void reset() noexcept;

  // --- events: calls ---
  void acquire(Call& call, EventContext& context);
  /// A stop was requested for an acquire: unless it is answered, it ends as Answer::cancelled.
  void cancel(Call& call, EventContext& context);
  /// `call` is one of a batch whose request had no reply within the wait: it ends as unavailable.
  void end_wait(Call& call, EventContext& context);
  /// The thread of a release no longer waits for its outcome.
  void leave(const Call& call, EventContext& context);
  /// Undoes one lock() of the owner in `call.type`.
  void unlock(Call& call, EventContext& context);
  /// Undoes what one Hold was granted. `watched`: its lease was `watchdog`. `retain_until`: the key
  /// stays locked until then. `call` is null if nobody waits for the outcome. `limit`: the number
  /// of its limit.
  void release(RemoteHold& hold, LockType type, bool watched, Clock::time_point retain_until,
               Call* call, EventContext& context, HoldLimits::Number limit = 0);
  /// A local hold of `hold`, one of several keys that are now granted, ends at `until` at the
  /// latest. Returns the number of its limit.
  [[nodiscard]] HoldLimits::Number limit(RemoteHold& hold, Clock::time_point until) noexcept;
  void extend(RemoteHold& hold, std::chrono::milliseconds lease, Call& call, EventContext& context);
  /// The holder of `hold` wants to know whether somebody asks for the key (RemoteHold::revoked).
  void listen_for_revocation(RemoteHold& hold, EventContext& context);
  /// Until the same number of unpins, checks renew a hold with a fixed lease, too: its acquire of
  /// several keys still waits for others.
  static void pin(RemoteHold& hold) noexcept { ++hold.at_backend().pins; }
  static void unpin(RemoteHold& hold) noexcept { --hold.at_backend().pins; }
  /// An acquire of several keys ended. `call` is about this key: its terms, its MemberReport, its
  /// answer and, granted, its hold.
  void report_member(Call& call, EventContext& context);
  /// A thread ended: what it holds by lock() expires.
  void owner_ended(Owner owner, EventContext& context);

  // --- a backend in the same process: one attempt, or one release, without a call ---
  /// Acquires an idle key without events for a listener. Returns the claim, which the caller
  /// withdraws unless it is held; null: there is no memory for one.
  [[nodiscard]] RemoteHold* acquire_at_once(const AcquireTerms& terms, ImmediateBackend& backend,
                                            Clock::time_point now) noexcept;
  /// Makes the claim for one of several keys that one request acquires; grant_at_once then grants
  /// it with the request's token. Throws std::bad_alloc, and then changes nothing.
  [[nodiscard]] RemoteHold& claim_at_once(const AcquireTerms& terms, Clock::time_point now);
  void grant_at_once(RemoteHold& claim, const AcquireTerms& terms, std::uint64_t token,
                     Clock::time_point now);
  void withdraw(RemoteHold& claim, EventContext& context);
  /// Undoes what one Hold was granted, without events for a listener, if that is the last local
  /// hold of `hold`. False: nothing is undone, and an ordinary release has to follow.
  [[nodiscard]] bool release_at_once(RemoteHold& hold, ImmediateBackend& backend,
                                     Clock::time_point now) noexcept;

  // --- events: the backend ---
  void completed(Request& request, Outcome& outcome, EventContext& context);
  void notified(const Notification& notification, EventContext& context);

  // --- events: time, and the end ---
  void tick(EventContext& context);
  void end_waits(EventContext& context);  ///< close: each waiting acquire ends as Answer::closed
  /// close: each hold is lost to its holder, and released; one with a lock_delay expires instead.
  void end_holds(EventContext& context);
  void inherit() noexcept;  ///< fork: the holds are the parent's
  void drop() noexcept;     ///< the end: no backend is left that could reply

  // --- questions ---
  /// When a tick is due for the holds and the calls that no thread waits for, or a little earlier;
  /// each other call has its own alarm.
  [[nodiscard]] Clock::time_point due() const noexcept {
    return std::min(holds.empty() ? due_without_holds() : holds.due(), unattended_due);
  }
  /// When the thread of a pending call must bring a tick.
  [[nodiscard]] Clock::time_point alarm_of(const Call& call) const noexcept {
    return detail::alarm_of(call, *shard->settings);
  }
  /// Has the timer thread bring a tick by the alarm of `call`, a pending call that no thread waits
  /// for.
  void attend(const Call& call) noexcept { tick_unattended_by(alarm_of(call)); }
  using KeyState::idle;  ///< the record can go
  /// Whether a local hold is left that the backend may still have.
  [[nodiscard]] bool held() const noexcept { return holds.any_held(); }
  /// Whether anything is held that the backend is to release, or a hold that is being released
  /// awaits a reply.
  [[nodiscard]] bool unfinished() const noexcept { return holds.any_unfinished(); }

 private:
  friend class KeyLogic;
  void fire_grant_probes(const AcquireTerms& terms) const noexcept;
};

}  // namespace latchkey::inline v1::detail
