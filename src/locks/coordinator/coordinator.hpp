// The state machine of one key: every decision that latchkey makes about a lock.
// tidy: long-file because the decisions about one key are one class, whose sources are five files
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <latchkey/backend.hpp>
#include <latchkey/clock.hpp>
#include <latchkey/listener.hpp>
#include <latchkey/lock_type.hpp>
#include <latchkey/owner.hpp>

#include "core/inline_string.hpp"
#include "core/lazy_string.hpp"
#include "locks/coordinator/call.hpp"
#include "locks/coordinator/coordinator_context.hpp"
#include "locks/coordinator/event_context.hpp"
#include "locks/coordinator/hold_table.hpp"
#include "locks/coordinator/remote_hold.hpp"
#include "locks/coordinator/requests.hpp"
#include "locks/coordinator/wait_queues.hpp"
#include "locks/coordinator/wait_times.hpp"
#include "locks/coordinator/yielding.hpp"

namespace latchkey::inline v1::detail {

/// Turns the events of one (Locks, key) into actions. It has no thread, no socket, no mutex and no
/// clock of its own: two coordinators that handle the same events at the same times, with the same
/// random numbers, are equal. LockSpace drives it, and in tests the simulator.
///
/// | file          | decisions                                                                    |
/// |---------------|------------------------------------------------------------------------------|
/// | acquire.cpp   | re-entry, the local queues, the attempts at the backend, events about calls  |
/// | wait.cpp      | when a call attempts again or gives up; answers; subscriptions               |
/// | lease.cpp     | renewal, verification, downgrade and loss                                    |
/// | release.cpp   | release, retention, claims that were given up, requests to release           |
/// | share.cpp     | hand-off, READs that share a hold, permits, letting other processes go first |
/// | idle_hold.cpp | holds that nobody here has, kept until another process wants them            |
/// | immediate.hpp | an uncontended lock at a backend in the same process, in fewer steps, inline |
///
/// Invariants (docs/architecture.md):
/// * an id is requested, held and released once; after its release was sent, nothing is sent for it
///   but repetitions of the release;
/// * a deadline moves only when a reply arrives, and never back; a hold that was lost stays lost;
/// * no local call waits for a local hold longer than that hold's deadline;
/// * every hold or place in line that this process may have at the backend is in the table of
///   holds, so it is released.
class Coordinator {
 public:
  // --- the record in the table of keys ---
  InlineString key;
  std::size_t hash = 0;
  Coordinator* next = nullptr;
  // The shard's Timers use these:
  Clock::time_point due_at = Clock::never();
  std::size_t due_index = 0;
  Coordinator* due_next = nullptr;
  Coordinator** due_place = nullptr;

  /// Called before the first event, also when the record is used for another key.
  void start(CoordinatorContext& context) noexcept { shard_ = &context; }
  void reset() noexcept;

  // --- events: calls ---
  void acquire(Call& call, EventContext& event);
  /// A stop was requested for an acquire: unless it is answered, it ends as Answer::cancelled.
  void cancel(Call& call, EventContext& event);
  /// `call` is one of a batch whose request had no reply within the wait: it ends as unavailable.
  void end_wait(Call& call, EventContext& event);
  /// The thread of a release no longer waits for its outcome: the timer thread drives the backend
  /// for it.
  void leave(const Call& call, EventContext& event);
  /// Undoes one lock() of the owner in `call.type`.
  void unlock(Call& call, EventContext& event);
  /// Undoes what one Hold was granted. `watched`: its lease was `watchdog`. `retain_until`: the key
  /// stays locked until then. `call` is null if nobody waits for the outcome. `limit`: the number
  /// of its limit.
  void release(RemoteHold& hold, LockType type, bool watched, Clock::time_point retain_until,
               Call* call, EventContext& event, HoldLimits::Number limit = 0);
  /// A local hold of `hold`, one of several keys that are now granted, ends at `until` at the
  /// latest. Returns the number of its limit.
  [[nodiscard]] HoldLimits::Number limit(RemoteHold& hold, Clock::time_point until) noexcept {
    holds_.due_by(until);
    return hold.limits.add(until);
  }
  void extend(RemoteHold& hold, std::chrono::milliseconds lease, Call& call, EventContext& event);
  /// The holder of `hold` wants to know whether somebody asks for the key (RemoteHold::revoked).
  void listen_for_revocation(RemoteHold& hold, EventContext& event);
  /// Until the same number of unpins, checks renew a hold with a fixed lease, too: its acquire of
  /// several keys still waits for others.
  static void pin(RemoteHold& hold) noexcept { ++hold.at_backend().pins; }
  static void unpin(RemoteHold& hold) noexcept { --hold.at_backend().pins; }
  /// An acquire of several keys ended. `call` is about this key: its terms, its MemberReport, its
  /// answer and, granted, its hold.
  void report_member(Call& call, EventContext& event);
  /// A thread ended: what it holds by lock() expires.
  void owner_ended(Owner owner, EventContext& event);

  // --- a backend in the same process: one attempt, or one release, without a call ---
  /// Acquires an idle key without events for a listener. Returns the claim, which the caller
  /// withdraws unless it is held; null: there is no memory for one.
  [[nodiscard]] RemoteHold* acquire_at_once(const AcquireTerms& terms, ImmediateBackend& backend,
                                            Clock::time_point now) noexcept;
  /// Makes the claim for one of several keys that one request acquires; grant_at_once then grants
  /// it with the request's token. Throws std::bad_alloc, and then changes nothing.
  [[nodiscard]] RemoteHold& claim_at_once(const AcquireTerms& terms, Clock::time_point now);
  void grant_at_once(RemoteHold& claim, const AcquireTerms& terms, std::uint64_t token,
                     Clock::time_point now) noexcept;
  void withdraw(RemoteHold& claim, EventContext& event);
  /// Ends the last local hold of `hold`, without events for a listener. False: nothing is undone,
  /// and an ordinary release has to follow.
  [[nodiscard]] bool release_at_once(RemoteHold& hold, ImmediateBackend& backend,
                                     Clock::time_point now) noexcept;
  /// The hold of `owner` if one lock() is all that it has; null otherwise.
  [[nodiscard]] RemoteHold* only_lock_of(Owner owner, LockType type) const noexcept;

  // --- events: the backend ---
  void completed(Request& request, Outcome& outcome, EventContext& event);
  void notified(const Notification& notification, EventContext& event);

  // --- events: time, and the end ---
  void tick(EventContext& event);
  void end_waits(EventContext& event);  ///< close: each waiting acquire ends as Answer::closed
  /// close: each hold is lost to its holder, and released; one with a lock_delay expires instead.
  void end_holds(EventContext& event);
  void inherit() noexcept;                  ///< fork: the holds are the parent's
  void drop() noexcept { holds_.clear(); }  ///< the end: no backend is left that could reply

  // --- questions ---
  /// When a tick is due for holds and calls that no thread waits for, or a little earlier.
  [[nodiscard]] Clock::time_point due() const noexcept {
    return std::min(holds_.empty() ? due_without_holds() : holds_.due(), unattended_due_);
  }
  /// When the thread of a pending call must bring a tick.
  [[nodiscard]] Clock::time_point alarm_of(const Call& call) const noexcept {
    return detail::alarm_of(call, settings());
  }
  /// Has the timer thread bring a tick by the alarm of a pending call that no thread waits for.
  void attend(const Call& call) noexcept { tick_unattended_by(alarm_of(call)); }
  /// Whether nothing is held, waited for, subscribed to, in flight or yielded: the record can go.
  [[nodiscard]] bool idle() const noexcept { return idle_but_for_grants() && grants_.ended(); }
  /// A call that has waited may have left the subscription to grants.
  [[nodiscard]] bool idle_but_for_grants() const noexcept {
    return holds_.empty() && waiters_.empty() && subscription_.ended() && revocations_.ended() &&
           yielding_.is_over();
  }
  /// Whether a local hold is left that the backend may still have.
  [[nodiscard]] bool held() const noexcept { return holds_.any_held(); }
  /// Whether anything is held that is to be released, or whose release awaits a reply.
  [[nodiscard]] bool unfinished() const noexcept { return holds_.any_unfinished(); }
  [[nodiscard]] bool releases() const noexcept { return holds_.any_releasing(); }

 private:
  friend class IdleHold;
  friend class RepeatedHold;

  // --- for all decisions: immediate.hpp ---
  [[nodiscard]] const CoordinatorSettings& settings() const noexcept { return *shard_->settings; }
  [[nodiscard]] Clock::time_point now() noexcept { return event_->now(); }
  /// False: there is no memory for one more request, which the caller sends at a later tick.
  [[nodiscard]] bool can_submit() noexcept { return event_->out.submits.make_room(); }
  /// Only after can_submit has returned true.
  void submit(Request& request) { event_->out.submits.push_back(&request); }
  /// A hold of this process that a call of `type` must wait for.
  [[nodiscard]] const RemoteHold* blocker_of(LockType type) {
    return holds_.blocker_of(type, settings().in_order, *event_);
  }
  [[nodiscard]] std::chrono::milliseconds length_of(const Lease& lease) const noexcept;
  [[nodiscard]] std::chrono::milliseconds delay_of(const Lease& lease) const noexcept;
  [[nodiscard]] bool two_thirds_remain(const RemoteHold& hold, std::chrono::milliseconds wanted);
  [[nodiscard]] bool enough_remains(const RemoteHold& hold, std::chrono::milliseconds wanted);
  [[nodiscard]] bool copy_may_run(const RemoteHold& hold) const noexcept;
  [[nodiscard]] bool may_be_write_again(const RemoteHold& hold) const noexcept;
  [[nodiscard]] Clock::duration check_interval(const RemoteHold& hold) const noexcept;
  [[nodiscard]] Clock::time_point common_time(Clock::time_point at,
                                              Clock::duration interval) const noexcept;
  [[nodiscard]] Clock::time_point next_check(const RemoteHold& hold,
                                             Clock::time_point sent) const noexcept;
  [[nodiscard]] bool can_be_watched(const RemoteHold& hold) const noexcept;
  void prepare(OwnedRequest& request, Verb verb, RemoteHold& hold, Clock::time_point now);
  [[nodiscard]] RemoteHold& make_claim(const AcquireTerms& terms);
  void grant(RemoteHold& claim, const AcquireTerms& terms, std::uint64_t token,
             Clock::time_point deadline, Clock::time_point now);
  void count_local_hold(const AcquireTerms& terms, RemoteHold& hold);
  void bring_check_forward(RemoteHold& hold);
  [[nodiscard]] RemoteHold* try_at_once(const AcquireTerms& terms, ImmediateBackend& backend,
                                        Clock::time_point now, Outcome& outcome) noexcept;
  void grant_in_full(RemoteHold& claim, const AcquireTerms& terms, std::uint64_t token,
                     Clock::time_point now) noexcept;
  [[nodiscard]] bool end_at_once(RemoteHold& hold, ImmediateBackend& backend, Clock::time_point now,
                                 Outcome& outcome) noexcept;
  void fire_grant_probes(const AcquireTerms& terms) const noexcept;

  // --- acquire.cpp ---
  /// Makes one attempt at a backend in this process. False: nothing was done, and the call waits in
  /// the queue as usual.
  [[nodiscard]] bool start_at_once(Call& call);
  void reenter(Call& call, RemoteHold& hold);
  /// Two threads share an Owner: after the grant to one, the waiting calls of the others re-enter.
  void reenter_same_owner(RemoteHold& hold);
  /// The call waits in the queue of its type.
  void enqueue(Call& call);
  /// Starts attempts for the front of the queue and, if that is a READ, for the READs behind it.
  void dispatch_waiters() {
    while (waiters_.next_to_start() != nullptr && dispatch_front()) {
    }
  }
  /// True: the call that was to be started has ended, and the next one may be started.
  bool dispatch_front();
  void start_attempt(Call& call);
  /// A new claim of `call`, which waits. Throws std::bad_alloc before anything is changed.
  void make_claim_of(Call& call);
  /// Sends one more attempt under the id of `claim`. That of a bundled call is only prepared: its
  /// batch sends it.
  void send_acquire(RemoteHold& claim);
  /// Fills in the request of one more attempt under the id of `claim`, which is sent now.
  void prepare_acquire(RemoteHold& claim);
  /// Whether an attempt that finds the key busy takes a place in line (Request::queues).
  [[nodiscard]] bool takes_place(const RemoteHold& claim);
  [[nodiscard]] std::chrono::milliseconds queue_wait_of(const Call& call);
  void note_reply(const Request& request, const Outcome& outcome) noexcept;
  void on_acquire_reply(RemoteHold& claim, Outcome& outcome);
  void on_late_acquire_reply(RemoteHold& claim, const Outcome& outcome);
  /// A release has granted the lock to `claim`, which waits in a queue of the backend.
  void on_grant(RemoteHold& claim, std::uint64_t token);
  void establish(RemoteHold& claim, std::uint64_t token, Clock::time_point deadline);
  void restart_after_late_grant(RemoteHold& claim);
  void announce(RemoteHold& claim) const;
  /// Begins the time that held_at_most allows one local hold. Returns the number of its limit. That
  /// of a member of several keys begins when all of them are granted.
  static HoldLimits::Number begin_limit(const AcquireTerms& terms, RemoteHold& hold,
                                        Clock::time_point now) noexcept;
  void begin_limit_of(Call& call, RemoteHold& hold);
  void enter(Call& call, RemoteHold& hold) {
    if (call.lease.held_at_most().count() != 0) [[unlikely]]
      begin_limit_of(call, hold);
    count_local_hold(call, hold);
  }

  // --- acquire.cpp: events for the listener, the calls' threads ---
  [[nodiscard]] bool reports(Event::Kind kind) const noexcept;
  void report(Event::Kind kind, const RemoteHold& hold, std::string_view text = {}) noexcept;
  void report(Event::Kind kind, const Call& call) noexcept;
  /// `fill` sets what is particular to the event. Without memory the event is counted.
  template <class CallOrHold, class Fill>
  void publish(Event::Kind kind, const CallOrHold& about, Fill&& fill) noexcept;
  /// Reports the attempt; for one of several keys only once, whatever calls the acquire makes.
  void report_attempt(Call& call) noexcept;
  void report_outcome(const Call& call) noexcept;
  void wake(Call& call);
  /// Wakes the thread of a waiting call if its alarm is earlier than it knows. The call whose
  /// thread brings this event asks for its alarm itself.
  void set_alarm(Call& call);
  void tick_unattended_by(Clock::time_point at) noexcept {
    unattended_due_ = std::min(unattended_due_, at);
  }

  // --- wait.cpp: waiting calls ---
  [[nodiscard]] Clock::time_point due_without_holds() const noexcept {
    return std::min({subscription_.retry_at, grants_.retry_at, revocations_.retry_at,
                     grants_unused_until_, yielding_.kept_until()});
  }
  /// Sets `holds_.due()` to the first time at which anything but a call needs a tick.
  void find_due() noexcept {
    holds_.find_due();
    holds_.due_by(due_without_holds());
  }
  void tick_call(Call& call);
  void wait_for_release(RemoteHold& claim, const Outcome& outcome, bool again);
  void wait_for_answer(RemoteHold& claim);
  void report_waiting(Call& call);
  void note_holder(Call& call) noexcept;
  void fill_in_report(const Call& call) noexcept;
  void give_up(Call& call, Answer answer);
  void give_up_waiting(Call& call);
  [[nodiscard]] bool nobody_knows_holder(Call& call);
  [[nodiscard]] Clock::time_point silent_since() noexcept;
  void end_silence() noexcept {
    silent_since_ = Clock::never();
    if (!silence_reason_.empty()) silence_reason_ = std::string_view();
  }
  /// `call`, which has sent no request, would wait for a hold of this process that makes the key a
  /// semaphore for a lock, or the reverse: it is refused, as by the backend. False: nothing is
  /// done.
  [[nodiscard]] bool refuse_other_kind(Call& call);
  /// The key may have been freed: attempts again, now or when the attempt in flight is answered.
  void retry_now(RemoteHold& claim);
  template <class Which>
  void retry_queue(Which which);
  /// Retries the claims that have made an attempt; the others are still to make their first.
  void retry_busy_claims();
  /// The key was released. `first_in_line`: the notification went to the first claim in line, not
  /// to the key's channel.
  void on_key_released(bool first_in_line);
  void listen(RemoteHold& claim, const Outcome& outcome);

  // --- wait.cpp: answers to calls ---
  /// The call ends. Its thread is woken, unless it is the one that brings this event.
  void answer(Call& call, Answer answer);
  void answer_lost(Call& call, const RemoteHold& hold);
  /// The owner holds as `held_as`. The error names the method that holds.
  void answer_deadlock(Call& call, LockType held_as, const RemoteHold& hold);
  void explain(Call& call);
  [[nodiscard]] std::string holder_of(const Call& call);
  /// Fills in the holder, whom the error and the event of a timeout name.
  void name_holder(Call& call) noexcept;

  // --- wait.cpp: subscriptions and notifications ---
  /// Subscribes to the channel of `claim`, which is FAIR; null: to that of the key.
  void subscribe(Subscription& subscription, RemoteHold* claim);
  /// Subscribes to the notifications of locks that the backend grants this process.
  void subscribe_to_grants();
  void send_subscribe(Subscription& subscription, RemoteHold* claim, LockType type,
                      const HoldId& id);
  void unsubscribe(Subscription& subscription);
  void retry_unsubscribe(Subscription& subscription);
  /// Leaves the key's channels if no call talks to the backend: that of grants a while later, as
  /// the next call of a hot key comes soon.
  void unsubscribe_if_unused();
  void unsubscribe_from_grants_later();
  void tick_subscriptions();
  /// The reply to a subscribe or an unsubscribe; `request.hold` is null if it was about the key.
  void on_subscription_reply(const OwnedRequest& request, const Outcome& outcome);
  void on_subscription_reply_of(RemoteHold& claim, bool subscribed);
  void on_grant_notified(const Notification& notification);

  // --- lease.cpp ---
  void tick_hold(RemoteHold& hold);
  /// The link is back, or the backend took the hold away.
  void on_hold_notified(RemoteHold& hold, Notification::Kind kind);
  /// The backend told of a change of the key or, not `of_one_key`, perhaps of all keys. A hold that
  /// is watched is checked at once, any other one if its last check is a second old.
  void on_change(RemoteHold& hold, bool of_one_key);
  /// Whether `call` re-enters `hold` without a renewal. False: it asks for more of the lease, or
  /// for a longer lock_delay, which the next renewal brings; `call.want` is what that has to reach.
  [[nodiscard]] bool suffices_for(Call& call, RemoteHold& hold);
  /// The call is answered when a renewal has reached `call.want`.
  void wait_for_renewal(Call& call, RemoteHold& hold);
  void renew(RemoteHold& hold, std::chrono::milliseconds lease);
  /// The hold is renewed to `lease` in 50 ms, or when a quarter of what is left has passed, if it
  /// is still held then: most holds of a hot key are not.
  void renew_soon(RemoteHold& hold, std::chrono::milliseconds lease);
  /// Calls renew_soon with the lease that `call` asked for, unless two thirds of that remain.
  /// `call` takes over or joins the hold.
  void renew_soon_for(const Call& call, RemoteHold& hold);
  /// Sends the check that is due: a downgrade, a renewal that is wanted or kept up, or a verify.
  void check(RemoteHold& hold);
  /// Checks `hold` once more if somebody wanted that while the last check was under way.
  void check_again_if_wanted(RemoteHold& hold);
  void send_check(RemoteHold& hold, Verb verb, std::chrono::milliseconds lease);
  void ask_to_watch(RemoteHold& hold);
  void keep_to_limit(const RemoteHold& hold, Verb& verb, std::chrono::milliseconds& lease);
  /// The reply to a renewal, a verification, a downgrade or an expire.
  void on_check_reply(RemoteHold& hold, Outcome& outcome);
  [[nodiscard]] bool on_renewed(RemoteHold& hold);
  void retry_check(RemoteHold& hold);
  /// Answers the calls that wait for a renewal by `outcome`, or keeps them waiting for the next
  /// one.
  void answer_renewals(RemoteHold& hold, const Outcome& outcome);
  bool answer_renewal(Call& call, RemoteHold& hold, const Outcome& outcome);
  /// The hold is no longer there to be renewed: extends end, re-entries become acquires.
  void fail_renewals(RemoteHold& hold);
  /// Marks the hold as lost, and reports that. False: it was marked already.
  bool mark_lost(RemoteHold& hold, std::string_view reason);
  /// Marks the hold as lost with those that have joined it, and ends what waits for it.
  void declare_lost(RemoteHold& hold, std::string_view reason);
  void request_stop(RemoteHold& hold) noexcept;
  /// Sends the downgrade, or waits until the check in flight is answered.
  void send_downgrade(RemoteHold& hold);
  /// A WRITE was entered before the downgrade was sent: it is not needed.
  void cancel_downgrade_if_reentered(RemoteHold& hold);
  void on_downgrade_reply(RemoteHold& hold, const Outcome& outcome);
  void on_late_downgrade_reply(RemoteHold& hold, const Outcome& outcome);
  void become_read(RemoteHold& hold) noexcept;

  // --- release.cpp ---
  void tick_release(RemoteHold& hold);
  void close(RemoteHold& hold);
  void drop_local_hold(RemoteHold& hold, Clock::time_point retain_until, Call* call);
  /// Releases at a backend in this process. False: nothing was done, and it is released as usual.
  [[nodiscard]] bool answer_at_once(RemoteHold& hold, Call& call);
  [[nodiscard]] bool end_limit(RemoteHold& hold, HoldLimits::Number limit);
  void drop_one_of_several(RemoteHold& hold, bool lost, Call* call);
  void end_local_holds(RemoteHold& hold, Clock::time_point retain_until, Call* call);
  void retain(RemoteHold& hold, Clock::time_point until, Call* call);
  /// Tells the backend when a retained hold ends.
  void send_expire(RemoteHold& hold);
  void on_expire_reply(RemoteHold& hold, const Outcome& outcome);
  /// Answers the call that waits until the backend knows when the hold ends.
  void answer_retained(RemoteHold& hold, Answer result);
  /// Releases `hold`. `call` waits for the outcome since `asked`, or from now on; null: nobody.
  void start_release(RemoteHold& hold, Call* call, Clock::time_point asked = {});
  /// Releases what came or will come of `claim`, which its call gave up.
  void abandon(RemoteHold& claim);
  void send_release(RemoteHold& hold, Clock::time_point asked = {});
  void on_release_reply(RemoteHold& hold, Outcome& outcome);
  void repeat_or_erase(RemoteHold& hold, bool confirmed, const Outcome& outcome);
  void report_end(RemoteHold& hold, const Outcome& outcome);
  void erase_if_done(RemoteHold& hold);
  /// Answers a release, or the unlock of a WRITE that becomes a READ, by `outcome`.
  void answer_release(Call& call, const RemoteHold& hold, const Outcome& outcome);
  [[nodiscard]] bool is_listened_to();
  void subscribe_to_revocations();
  /// Ends the subscription to revocations if no holder listens any more.
  void end_revocations_if_unused() {
    const bool on = revocations_.stage == Subscription::Stage::on;
    if (on && !is_listened_to()) unsubscribe(revocations_);
  }
  void on_revocations_reply(bool subscribing, const Outcome& outcome);
  void on_revoked();

  // --- share.cpp: hand-off, shared READs, permits, other processes ---
  /// Hands over `hold`, which has no local hold left and is not lost. `releaser`: the call that has
  /// released it; null: nobody waits for the outcome. False: nothing was done.
  [[nodiscard]] bool hand_over(RemoteHold& hold, Call* releaser);
  [[nodiscard]] bool may_hand_over(const RemoteHold& hold, const Call& heir);
  /// Whether the terms of `heir` allow that it takes `hold` over from another call.
  [[nodiscard]] bool suits(const RemoteHold& hold, const Call& heir);
  /// `heir` holds from now on, by `hold`, which another call had.
  void give_to(RemoteHold& hold, Call& heir);
  [[nodiscard]] bool cohort_has_ended(RemoteHold& hold);
  /// `hold` was granted by the backend: from now on other READs may join it.
  void offer_to_reads(RemoteHold& hold) noexcept;
  /// `call` waits for the READ in front of it to be granted.
  [[nodiscard]] bool will_join_front(const Call& call);
  /// A waiting READ joins the hold that is offered. False: it cannot, and nothing was done.
  [[nodiscard]] bool join(Call& call);
  /// The new hold of `call`; null: there is no memory for it.
  [[nodiscard]] RemoteHold* join(Call& call, RemoteHold& hold);
  [[nodiscard]] bool may_join(const RemoteHold& hold, const Call& call);
  [[nodiscard]] RemoteHold& make_joiner(const Call& call, RemoteHold& hold);
  [[nodiscard]] RemoteHold* other_hold_of(Owner owner);
  /// The local holds of `hold`, which shares its lease with others, have ended; `call`, unless it
  /// is null, waits for the outcome, and is set to null once it is answered. Returns the hold that
  /// is to be given back, or null: others are left.
  [[nodiscard]] RemoteHold* leave_shared(RemoteHold& hold, Clock::time_point retain_until,
                                         Call*& call);
  void take_place_of(RemoteHold& hold, const RemoteHold& last);
  /// The lease of `hold` was renewed: so is that of the holds that have joined it.
  void renew_joiners(RemoteHold& hold);
  /// `hold` was lost: so are the holds that have joined it.
  void lose_joiners(RemoteHold& hold, std::string_view reason);
  /// Notes whether permits are left, by `grant`, the reply that grants `claim`.
  void note_permits_left(const RemoteHold& claim, const Outcome& grant, bool again);
  /// The first attempt of `call` would be in vain: the last permit was granted a moment ago.
  [[nodiscard]] bool no_permits_left(const Call& call);
  void postpone_for_permits(RemoteHold& claim);
  /// `heir` wants as many permits as `hold` has, and an attempt in flight for it can be passed on.
  [[nodiscard]] bool may_take_permits_over(const RemoteHold& hold, const Call& heir);
  /// The claim can become that of `heir`.
  [[nodiscard]] bool may_inherit(const RemoteHold& claim, const Call& heir) const;
  /// The call of `claim` took over permits: the next call waits with the claim, or it is abandoned.
  void pass_on(RemoteHold& claim);
  /// `hold` is about to be released: decides whether attempts wait for the reply, which says
  /// whether other processes wait (Yielding::Stage::asking).
  void ask_for_others(const RemoteHold& hold);
  /// The reply to that release: decides whether this process lets others go first.
  void note_others(const RemoteHold& hold, const Outcome& outcome);
  /// A release has notified others, which have no place in the process queue.
  void note_others_notified() noexcept;
  void note_foreign_holder() noexcept;  ///< an attempt found one
  /// Whether `call` must let others go first.
  [[nodiscard]] bool yields(const Call& call) noexcept;
  /// The first attempt of `claim` is sent at the end of the yield.
  void postpone_for_others(RemoteHold& claim);
  /// The key was released. Whether `claim`, which waits in line, lets clients of other libraries
  /// try first: they take longer, and would never be first. It does so once for each place, and not
  /// if one of them had the key. `first_in_line` as in on_key_released: a release that only the
  /// key's channel notified is left to the claims near the front of the line.
  [[nodiscard]] bool yields_in_line(RemoteHold& claim, bool first_in_line);

  CoordinatorContext* shard_ = nullptr;  ///< shared by all keys of the shard
  EventContext* event_ = nullptr;        ///< the event that is handled; immediate.hpp needs none
  WaitQueues waiters_;
  HoldTable holds_;
  /// When a tick is due for the calls that no thread waits for; it may be too early.
  Clock::time_point unattended_due_ = Clock::never();
  Subscription subscription_;  ///< to the key's channel
  Subscription grants_;        ///< to what the backend grants this process
  Subscription revocations_;   ///< to requests to release the key, while a hold listens
  /// When the subscription `grants_`, which no call uses, ends; never: no end is planned.
  Clock::time_point grants_unused_until_ = Clock::never();
  /// Until then waiters listen to the key's channel, because the backend refused `grants_`.
  Clock::time_point grants_refused_until_{};
  Yielding yielding_;  ///< to other processes
  /// PERMIT: until then an attempt would be in vain, because the last permit was granted a moment
  /// ago and no release was notified since.
  Clock::time_point no_permits_until_{};
  /// When the first acquire or release was sent that ended without a reply, if none had one since.
  Clock::time_point silent_since_ = Clock::never();
  LazyString silence_reason_;    ///< the reason that the last of these requests gave
  Clock::time_point busy_at_{};  ///< when the last busy reply came; zero: none, or silence since
};

}  // namespace latchkey::inline v1::detail
