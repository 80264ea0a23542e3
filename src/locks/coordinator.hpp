// The state machine of one key: every decision that latchkey makes about a lock.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <utility>

#include <latchkey/backend.hpp>
#include <latchkey/clock.hpp>
#include <latchkey/lock_type.hpp>
#include <latchkey/owner.hpp>

#include "core/inline_string.hpp"
#include "locks/call.hpp"
#include "locks/coordinator_context.hpp"
#include "locks/event_context.hpp"
#include "locks/event_kinds.hpp"
#include "locks/intrusive_list.hpp"
#include "locks/owner_index.hpp"
#include "locks/remote_hold.hpp"

namespace latchkey::detail {

/// Local queue, re-entry, waiting, renewal, verification, loss, release and the unknown outcome of
/// one (Locks, key). Events in, actions out: it has no thread, no socket, no mutex and no clock of
/// its own, and two that saw the same events with the same times and chance are equal. Blocking
/// threads drive it through LockSpace, the simulator through a virtual network.
///
/// Invariants (docs/architecture.md):
/// * an id is asked for, held, and released once; nothing is sent for it but repeats of its release
///   once its release was sent;
/// * a deadline moves only when an answer arrives, and never back; a hold that was lost stays lost;
/// * no local call waits for a local hold longer than that hold's deadline;
/// * what may be at the backend because of us is in `remotes_`, so that it is given back.
class Coordinator {
 public:
  // --- the record in the table of keys ---
  InlineString key;
  std::size_t hash = 0;
  Coordinator* next = nullptr;
  // Of the shard's Timers:
  Clock::time_point due_at = Clock::never();
  std::size_t due_index = 0;
  Coordinator* due_next = nullptr;
  Coordinator** due_place = nullptr;

  /// Before the first event, and again when the record is used for another key.
  void start(CoordinatorContext& context) noexcept { context_ = &context; }
  void reset() noexcept;

  // --- events: calls ---
  void acquire(Call& call, EventContext& context);
  /// The stop token of a waiting acquire was used.
  void cancel(Call& call, EventContext& context);
  /// The answer to the one request for several keys did not come within the wait.
  void end_wait(Call& call, EventContext& context);
  /// The thread of a release waits for its outcome no longer.
  void leave(const Call& call, EventContext& context);
  /// Undoes one lock() of the owner in `call.type`.
  void unlock(Call& call, EventContext& context);
  /// Undoes what one Hold was granted. `linger_until`: keep the key until then although nobody
  /// holds it. `call` is null where nobody waits for the outcome.
  void release(RemoteHold& hold, LockType type, bool watched, Clock::time_point linger_until,
               Call* call, EventContext& context);
  void extend(RemoteHold& hold, std::chrono::milliseconds lease, Call& call, EventContext& context);
  /// From here on, and until as many times the other, the hold's lease is renewed although its
  /// holder asked for a fixed one: it is a composite's, which waits for other keys.
  static void pin(RemoteHold& hold) noexcept { ++hold.pins; }
  static void unpin(RemoteHold& hold) noexcept { --hold.pins; }
  /// A thread ended: what it held by lock() runs out.
  void owner_ended(Owner owner, EventContext& context);

  // --- events: the backend ---
  void completed(Request& request, Outcome& outcome, EventContext& context);
  void notified(const Notification& notification, EventContext& context);

  // --- events: time, and the end ---
  void tick(EventContext& context);
  void end_waits(EventContext& context);  ///< close: every waiting acquire ends with Answer::closed
  void end_holds(EventContext& context);  ///< close: every hold is released, and lost to its holder
  void inherit() noexcept;                ///< fork: nothing here is this process's
  void drop() noexcept;                   ///< the end: no backend is left that could answer

  // --- questions ---
  /// When a tick is due for the holds, or a little earlier; the calls say it themselves by
  /// `wake_at`.
  [[nodiscard]] Clock::time_point due() const noexcept {
    return remotes_.empty() ? subscription_.retry_at : due_;
  }
  /// When the thread of a pending call must bring a tick.
  [[nodiscard]] Clock::time_point alarm_of(const Call& call) const noexcept;
  /// Nothing is held, waited for or under way: the record can go.
  [[nodiscard]] bool idle() const noexcept {
    return remotes_.empty() && queue_.empty() && fair_.empty() &&
           subscription_.stage == Subscription::Stage::off &&
           subscription_.retry_at == Clock::never();
  }
  [[nodiscard]] bool held() const noexcept;  ///< some local hold is left
  /// The same, or the reply to a release, or to what goes before one, is awaited.
  [[nodiscard]] bool unfinished() const noexcept;

 private:
  // acquiring and waiting (coordinator_acquire.cpp, coordinator_wait.cpp)
  void reenter(Call& call, RemoteHold& hold, EventContext& context);
  void enqueue(Call& call, EventContext& context);
  /// Out of the queue that it waits in.
  void leave_queue(Call& call) noexcept {
    if (&call == unasked_) unasked_ = call.next;
    IntrusiveList<Call>* const list = std::exchange(call.list, nullptr);
    list->remove(call);
    if (list == &queue_ || list == &fair_) waiting_.erase(call);
  }
  /// The hold is no claim any more: from here on local calls may have to wait for it.
  void past_claim(const RemoteHold& hold) noexcept { ++in_the_way_[is_shared(hold.type) ? 1 : 0]; }
  /// Lets the front of the queue talk to the backend, and with a READ the READs next to it.
  void dispatch_waiters(EventContext& context) {
    if (unasked_ != nullptr) dispatch_front(context);
  }
  void dispatch_front(EventContext& context);
  inline void start_attempt(Call& call, EventContext& context);
  void make_claim(Call& call, EventContext& context);
  void announce(RemoteHold& claim);
  void ask(RemoteHold& claim, EventContext& context);
  void asked(RemoteHold& claim, Outcome& outcome, EventContext& context);
  inline void establish(RemoteHold& claim, Outcome& outcome, EventContext& context);
  void wait_for_release(RemoteHold& claim, const Outcome& outcome, EventContext& context);
  void wait_for_answer(RemoteHold& claim, EventContext& context);
  [[nodiscard]] std::string holder_of(const Call& call, EventContext& context) const;
  void name_holder(Call& call, EventContext& context) const noexcept;
  void report_waiting(Call& call, EventContext& context);
  void join_same_owner(RemoteHold& hold, EventContext& context);
  void give_up(Call& call, Answer answer, EventContext& context);
  void give_up_waiting(Call& call, EventContext& context);
  [[nodiscard]] bool front_outcome_unknown(Call& call, EventContext& context) const;
  void answer(Call& call, Answer answer, EventContext& context) {
    call.answer = answer;
    wake(call, context);
    if (answer != Answer::granted || reports(Event::Kind::granted)) explain(call, context);
  }
  void explain(Call& call, EventContext& context);
  void answer_deadlock(Call& call, LockType held_as, const RemoteHold& hold, EventContext& context);
  void answer_lost(Call& call, const RemoteHold& hold, EventContext& context);
  void count(Call& call, RemoteHold& hold);
  [[nodiscard]] RemoteHold* anyones_hold(EventContext& context) const;
  [[nodiscard]] inline RemoteHold* live_hold_of(Owner owner, EventContext& context);
  [[nodiscard]] const RemoteHold* local_blocker(LockType type, EventContext& context) const;
  [[nodiscard]] Clock::time_point end_of(const Call& call) const noexcept;
  /// The caller's thread is woken where its alarm is earlier than it knows. Nothing for the call
  /// whose own turn this is.
  void set_alarm(Call& call, EventContext& context) {
    if (&call != context.caller) set_alarm_of_sleeper(call, context);
  }
  void set_alarm_of_sleeper(Call& call, EventContext& context);
  void wake(Call& call, EventContext& context) {
    if (&call == context.caller || std::exchange(call.waking, true)) return;
    if (context.out.wakes.make_room()) {
      context.out.wakes.push_back(&call);
    } else {
      wake_now(call);
    }
  }
  static void wake_now(Call& call) noexcept;
  void tick_call(Call& call, EventContext& context);

  // holding (coordinator_hold.cpp)
  void check(RemoteHold& hold, EventContext& context);
  void wait_for_renewal(Call& call, RemoteHold& hold, EventContext& context);
  void renew(RemoteHold& hold, std::chrono::milliseconds lease, EventContext& context);
  void submit_check(RemoteHold& hold, Verb verb, std::chrono::milliseconds lease,
                    EventContext& context);
  void checked(RemoteHold& hold, Outcome& outcome, EventContext& context);
  void downgraded(RemoteHold& hold, const Outcome& outcome, EventContext& context);
  void become_read(RemoteHold& hold) noexcept;
  void downgraded_too_late(RemoteHold& hold, const Outcome& outcome, EventContext& context);
  void move_deadline(RemoteHold& hold, Clock::time_point sent, std::chrono::milliseconds lease);
  void answer_renewals(RemoteHold& hold, const Outcome& outcome, EventContext& context);
  void fail_renewals(RemoteHold& hold, EventContext& context);
  void request_stop(RemoteHold& hold, EventContext& context) noexcept;
  void declare_lost(RemoteHold& hold, std::string_view why, EventContext& context);
  void downgrade(RemoteHold& hold, EventContext& context);
  void tick_hold(RemoteHold& hold, EventContext& context);
  [[nodiscard]] std::chrono::milliseconds renewal_interval(const RemoteHold& hold) const noexcept;

  // ending (coordinator_end.cpp)
  void drop_local_hold(RemoteHold& hold, Clock::time_point linger_until, Call* call,
                       EventContext& context);
  void linger(RemoteHold& hold, Clock::time_point until, Call* call, EventContext& context);
  void answer_lingering(RemoteHold& hold, Answer result, EventContext& context);
  void on_expire_reply(RemoteHold& hold, const Outcome& outcome, EventContext& context);
  void submit_expire(RemoteHold& hold, EventContext& context);
  void end(RemoteHold& hold, Call* call, EventContext& context);
  void submit_end(RemoteHold& hold, EventContext& context);
  void ended(RemoteHold& hold, Outcome& outcome, EventContext& context);
  void answer_release(Call& call, const RemoteHold& hold, const Outcome& outcome,
                      EventContext& context);
  void report_end(RemoteHold& hold, const Outcome& outcome, EventContext& context);
  void abandon(RemoteHold& claim, EventContext& context);
  void drop_if_done(RemoteHold& hold, EventContext& context);

  // notifications (coordinator_subscription.cpp)
  void subscribe(Subscription& subscription, RemoteHold* claim, EventContext& context);
  void unsubscribe(Subscription& subscription, EventContext& context);
  void retry_unsubscribe(Subscription& subscription, EventContext& context);
  void subscription_changed(RemoteHold* claim, const Outcome& outcome, EventContext& context);
  void retry_now(RemoteHold& claim, EventContext& context);
  void retry_queue_now(EventContext& context);
  void leave_channel_if_unused(EventContext& context) {
    const bool talking = queue_.first() != nullptr && queue_.first()->hold != nullptr;
    if (subscription_.stage == Subscription::Stage::on && !talking)
      unsubscribe(subscription_, context);
  }

  [[nodiscard]] bool reports(Event::Kind kind) const noexcept {
    using Events = CoordinatorSettings::Events;
    const Events wanted = context_->settings->events;
    return wanted == Events::everything || (wanted == Events::losses && !is_routine(kind));
  }
  /// What no memory is left for is counted.
  void tell(Event::Kind kind, const RemoteHold& hold, EventContext& context,
            std::string_view text = {}) noexcept;
  void tell(Event::Kind kind, const Call& call, EventContext& context) noexcept;
  /// A tick is due at that time, or earlier.
  void due_by(Clock::time_point at) noexcept { due_ = std::min(due_, at); }
  static Clock::time_point due_of(const RemoteHold& hold) noexcept;
  void find_due() noexcept;
  /// Only where can_submit: what is not sent for lack of memory is sent at a later tick.
  static void submit(Request& request, EventContext& context) {
    context.out.submits.push_back(&request);
  }
  [[nodiscard]] static bool can_submit(EventContext& context) noexcept {
    return context.out.submits.make_room();
  }
  void prepare(OwnedRequest& request, Verb verb, RemoteHold& hold, EventContext& context) {
    request.verb = verb;
    request.type = hold.type;
    request.key = key;
    request.hash = hash;
    request.id = hold.id;
    request.sent = context.now();
    request.context = this;
    request.hold = &hold;
  }

  CoordinatorContext* context_ = nullptr;
  IntrusiveList<Call> queue_;  ///< all types but FAIR: the front talks to the backend
  Call* unasked_ = nullptr;    ///< the first of `queue_` that has no claim; all before it have one
  IntrusiveList<Call> fair_;   ///< FAIR: each talks for itself
  OwnerIndex<Call> waiting_;   ///< both of these, by owner
  IntrusiveList<RemoteHold> remotes_;
  OwnerIndex<RemoteHold> held_;  ///< those of them that are held, by owner
  /// No hold needs a tick before this. What becomes due later than it was leaves it as it is: a
  /// tick that finds nothing to do finds the time of the next.
  Clock::time_point due_ = Clock::never();
  std::uint32_t in_the_way_[2] = {0, 0};  ///< of `remotes_`, all but claims: exclusive, shared
  Subscription subscription_;
};

}  // namespace latchkey::detail
