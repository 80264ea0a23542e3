// The state machine of one key: every decision that latchkey makes about a lock.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>

#include <latchkey/backend.hpp>
#include <latchkey/clock.hpp>
#include <latchkey/lock_type.hpp>
#include <latchkey/owner.hpp>

#include "core/key_text.hpp"
#include "locks/call.hpp"
#include "locks/coordinator_context.hpp"
#include "locks/event_kinds.hpp"
#include "locks/intrusive_list.hpp"
#include "locks/remote_hold.hpp"
#include "locks/turn.hpp"

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
  KeyText key;
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
  void acquire(Call& call, Turn& turn);
  /// The stop token of a waiting acquire was used.
  void cancel(Call& call, Turn& turn);
  /// The answer to the one request for several keys did not come within the wait.
  void end_wait(Call& call, Turn& turn);
  /// The thread of a release waits for its outcome no longer.
  void leave(const Call& call, Turn& turn);
  /// Undoes one lock() of the owner in `call.type`.
  void unlock(Call& call, Turn& turn);
  /// Undoes what one Hold was granted. `linger_until`: keep the key until then although nobody
  /// holds it. `call` is null where nobody waits for the outcome.
  void release(RemoteHold& hold, LockType type, bool watched, Clock::time_point linger_until,
               Call* call, Turn& turn);
  void extend(RemoteHold& hold, std::chrono::milliseconds lease, Call& call, Turn& turn);
  /// From here on, and until as many times the other, the hold's lease is renewed although its
  /// holder asked for a fixed one: it is a composite's, which waits for other keys.
  static void keep(RemoteHold& hold) noexcept { ++hold.kept; }
  static void keep_no_longer(RemoteHold& hold) noexcept { --hold.kept; }
  /// A thread ended: what it held by lock() runs out.
  void owner_ended(Owner owner, Turn& turn);

  // --- events: the backend ---
  void completed(Request& request, Outcome& outcome, Turn& turn);
  void notified(const Notification& notification, Turn& turn);

  // --- events: time, and the end ---
  void tick(Turn& turn);
  void end_waits(Turn& turn);  ///< close: every waiting acquire ends with Answer::closed
  void end_holds(Turn& turn);  ///< close: every hold is released, and lost to its holder
  void inherit() noexcept;     ///< fork: nothing here is this process's
  void drop() noexcept;        ///< the end: no backend is left that could answer

  // --- questions ---
  /// When a tick is due for the holds; the calls say it themselves by `wake_at`.
  [[nodiscard]] Clock::time_point due() const noexcept;
  /// When the thread of a pending call must bring a tick.
  [[nodiscard]] Clock::time_point alarm_of(const Call& call) const noexcept;
  /// Nothing is held, waited for or under way: the record can go.
  [[nodiscard]] bool idle() const noexcept {
    return remotes_.empty() && queue_.empty() && fair_.empty() &&
           subscription_.stage == Subscription::Stage::off;
  }
  [[nodiscard]] bool held() const noexcept;  ///< some local hold is left

 private:
  // acquiring and waiting (coordinator_acquire.cpp, coordinator_wait.cpp)
  void reenter(Call& call, RemoteHold& hold, Turn& turn);
  void enqueue(Call& call, Turn& turn);
  /// Out of the queue that it waits in.
  void leave_queue(Call& call) noexcept {
    if (&call == unasked_) unasked_ = call.next;
    std::exchange(call.list, nullptr)->remove(call);
  }
  /// The hold is no claim any more: from here on local calls may have to wait for it.
  void past_claim(const RemoteHold& hold) noexcept { ++in_the_way_[is_shared(hold.type) ? 1 : 0]; }
  /// Lets the front of the queue talk to the backend, and with a READ the READs next to it.
  void pump(Turn& turn) {
    if (unasked_ != nullptr) pump_front(turn);
  }
  void pump_front(Turn& turn);
  inline void talk(Call& call, Turn& turn);
  void make_claim(Call& call, Turn& turn);
  void announce(RemoteHold& claim);
  void ask(RemoteHold& claim, Turn& turn);
  void asked(RemoteHold& claim, Outcome& outcome, Turn& turn);
  inline void establish(RemoteHold& claim, Outcome& outcome, Turn& turn);
  void wait_for_release(RemoteHold& claim, const Outcome& outcome, Turn& turn);
  void wait_for_answer(RemoteHold& claim, Turn& turn);
  [[nodiscard]] std::string holder_of(const Call& call, Turn& turn) const;
  void name_holder(Call& call, Turn& turn) const noexcept;
  void tell_waiting(Call& call, Turn& turn);
  void join_same_owner(RemoteHold& hold, IntrusiveList<Call>& list, Turn& turn);
  void give_up(Call& call, Answer answer, Turn& turn);
  void give_up_waiting(Call& call, Turn& turn);
  [[nodiscard]] bool front_is_ignorant(Call& call, Turn& turn) const;
  void answer(Call& call, Answer answer, Turn& turn) {
    call.answer = answer;
    wake(call, turn);
    if (answer != Answer::granted || tells(Event::Kind::granted)) explain(call, turn);
  }
  void explain(Call& call, Turn& turn);
  void answer_deadlock(Call& call, LockType held_as, const RemoteHold& hold, Turn& turn);
  void answer_lost(Call& call, const RemoteHold& hold, Turn& turn);
  void count(Call& call, RemoteHold& hold);
  [[nodiscard]] inline RemoteHold* live_hold_of(Owner owner, Turn& turn);
  [[nodiscard]] const RemoteHold* local_blocker(LockType type, Turn& turn) const;
  [[nodiscard]] Clock::time_point end_of(const Call& call) const noexcept;
  /// The caller's thread is woken where its alarm is earlier than it knows. Nothing for the call
  /// whose own turn this is.
  void set_alarm(Call& call, Turn& turn) {
    if (&call != turn.caller) set_alarm_of_sleeper(call, turn);
  }
  void set_alarm_of_sleeper(Call& call, Turn& turn);
  void wake(Call& call, Turn& turn) {
    if (&call == turn.caller || std::exchange(call.waking, true)) return;
    if (turn.out.wakes.make_room()) {
      turn.out.wakes.push_back(&call);
    } else {
      wake_now(call);
    }
  }
  static void wake_now(Call& call) noexcept;
  void tick_call(Call& call, Turn& turn);

  // holding (coordinator_hold.cpp)
  void check(RemoteHold& hold, Turn& turn);
  void wait_for_renewal(Call& call, RemoteHold& hold, Turn& turn);
  void renew(RemoteHold& hold, std::chrono::milliseconds lease, Turn& turn);
  void submit_check(RemoteHold& hold, Verb verb, std::chrono::milliseconds lease, Turn& turn);
  void checked(RemoteHold& hold, Outcome& outcome, Turn& turn);
  void downgraded(RemoteHold& hold, const Outcome& outcome, Turn& turn);
  void become_read(RemoteHold& hold) noexcept;
  void downgraded_too_late(RemoteHold& hold, const Outcome& outcome, Turn& turn);
  void move_deadline(RemoteHold& hold, Clock::time_point sent, std::chrono::milliseconds lease);
  void answer_renewals(RemoteHold& hold, const Outcome& outcome, Turn& turn);
  void fail_renewals(RemoteHold& hold, Turn& turn);
  void request_stop(RemoteHold& hold, Turn& turn) noexcept;
  void declare_lost(RemoteHold& hold, std::string_view why, Turn& turn);
  void downgrade(RemoteHold& hold, Turn& turn);
  void tick_hold(RemoteHold& hold, Turn& turn);
  [[nodiscard]] std::chrono::milliseconds rhythm(const RemoteHold& hold) const noexcept;

  // ending (coordinator_end.cpp)
  void ungrip(RemoteHold& hold, Clock::time_point linger_until, Call* call, Turn& turn);
  void end(RemoteHold& hold, Call* call, Turn& turn);
  void submit_end(RemoteHold& hold, Turn& turn);
  void ended(RemoteHold& hold, Outcome& outcome, Turn& turn);
  void answer_release(Call& call, const RemoteHold& hold, const Outcome& outcome, Turn& turn);
  void tell_end(RemoteHold& hold, const Outcome& outcome, Turn& turn);
  void abandon(RemoteHold& claim, Turn& turn);
  void drop_if_done(RemoteHold& hold, Turn& turn);

  // notifications (coordinator_subscription.cpp)
  void subscribe(Subscription& subscription, RemoteHold* claim, Turn& turn);
  void unsubscribe(Subscription& subscription, Turn& turn);
  void subscription_changed(RemoteHold* claim, const Outcome& outcome, Turn& turn);
  void nudge(RemoteHold& claim, Turn& turn);
  void nudge_queue(Turn& turn);
  void leave_channel_if_unused(Turn& turn) {
    const bool talking = queue_.first() != nullptr && queue_.first()->hold != nullptr;
    if (subscription_.stage == Subscription::Stage::on && !talking)
      unsubscribe(subscription_, turn);
  }

  [[nodiscard]] bool tells(Event::Kind kind) const noexcept {
    using Events = CoordinatorSettings::Events;
    const Events wanted = context_->settings->events;
    return wanted == Events::everything || (wanted == Events::losses && !is_routine(kind));
  }
  /// What no memory is left for is counted.
  void tell(Event::Kind kind, const RemoteHold& hold, Turn& turn,
            std::string_view text = {}) noexcept;
  void tell(Event::Kind kind, const Call& call, Turn& turn) noexcept;
  /// Only where can_submit: what is not sent for lack of memory is sent at a later tick.
  static void submit(Request& request, Turn& turn) { turn.out.submits.push_back(&request); }
  [[nodiscard]] static bool can_submit(Turn& turn) noexcept { return turn.out.submits.make_room(); }
  void prepare(OwnedRequest& request, Verb verb, RemoteHold& hold, Turn& turn) {
    request.verb = verb;
    request.type = hold.type;
    request.key = key;
    request.hash = hash;
    request.id = hold.id;
    request.sent = turn.now();
    request.context = this;
    request.hold = &hold;
  }

  CoordinatorContext* context_ = nullptr;
  IntrusiveList<Call> queue_;  ///< all types but FAIR: the front talks to the backend
  Call* unasked_ = nullptr;    ///< the first of `queue_` that has no claim; all before it have one
  IntrusiveList<Call> fair_;   ///< FAIR: each talks for itself
  IntrusiveList<RemoteHold> remotes_;
  std::uint32_t in_the_way_[2] = {0, 0};  ///< of `remotes_`, all but claims: exclusive, shared
  Subscription subscription_;
};

}  // namespace latchkey::detail
