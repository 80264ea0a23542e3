// The base of all decisions about one event of one key.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include <latchkey/backend.hpp>
#include <latchkey/clock.hpp>
#include <latchkey/listener.hpp>

#include "locks/coordinator/coordinator.hpp"
#include "locks/coordinator/event_context.hpp"
#include "locks/coordinator/logic/key_logic.hpp"
#include "locks/event_kinds.hpp"
#include "locks/probes.hpp"

namespace latchkey::inline v1::detail {

/// One event that a coordinator handles: the state of its key, the time, and the actions that the
/// decisions bring. The logic classes derive from it; each is made for one event, on the stack.
class KeyEvent : public KeyLogic {
 public:
  KeyEvent(Coordinator& home, EventContext& context) noexcept : KeyLogic(home), context_(context) {}
  /// Made from two references instead of copied as a block: a block that is read right after its
  /// parts were written waits until they have reached the cache.
  KeyEvent(const KeyEvent& event) noexcept : KeyEvent(event.home_, event.context_) {}
  KeyEvent& operator=(const KeyEvent&) = delete;
  ~KeyEvent() = default;

  // --- answers to calls ---
  /// The call ends. Its thread is woken, unless it is the one that brings this event.
  void answer(Call& call, Answer answer) {
    call.answer = answer;
    wake(call);
    if (answer == Answer::granted && call.kind == Call::Kind::acquire) {
      probes::granted(state_.key.view(), call);
    }
    if (answer != Answer::granted || reports(Event::Kind::granted)) explain(call);
  }
  void answer_lost(Call& call, const RemoteHold& hold);
  /// Answers a release, or the unlock of a WRITE that becomes a READ, by the outcome of its
  /// request.
  void answer_release(Call& call, const RemoteHold& hold, const Outcome& outcome);
  /// The owner holds as `held_as`. The error names the method that holds.
  void answer_deadlock(Call& call, LockType held_as, const RemoteHold& hold);
  /// Fills in the holder, whom the error and the event of a timeout name.
  void name_holder(Call& call) noexcept;

  // --- events for the listener ---
  [[nodiscard]] bool reports(Event::Kind kind) const noexcept {
    using Events = CoordinatorSettings::Events;
    const Events wanted = settings().events;
    return wanted == Events::everything || (wanted == Events::losses && !is_routine(kind));
  }
  void report(Event::Kind kind, const RemoteHold& hold, std::string_view text = {}) noexcept;
  void report(Event::Kind kind, const Call& call) noexcept;
  /// Reports the attempt; for one of several keys only once, whatever calls the acquire makes.
  void report_attempt(Call& call) noexcept;
  /// Reports how an acquire of several keys, for which `call` stands, ended about this key.
  void report_member(Call& call) noexcept;

 protected:
  [[nodiscard]] Clock::time_point now() noexcept { return context_.now(); }
  /// A hold of this process that a call of `type` must wait for.
  [[nodiscard]] const RemoteHold* blocker_of(LockType type) {
    return state_.holds.blocker_of(type, settings().in_order, context_);
  }

  /// Whether processes race for a lock of `type`: it has one holder at a time and is not FAIR.
  [[nodiscard]] static bool is_raced_for(LockType type) noexcept {
    return type != LockType::FAIR && !is_shared(type);
  }
  /// Whether two thirds of `wanted` remain: a call that asked for it shares or takes over the hold
  /// without a renewal.
  [[nodiscard]] bool two_thirds_remain(const RemoteHold& hold, std::chrono::milliseconds wanted) {
    return (hold.deadline_point() - now()) * 3 >= Clock::duration(wanted) * 2;
  }
  /// Whether enough is left until `deadline` for a renewal to be answered: a call that asked for
  /// `wanted` may then begin with the hold.
  [[nodiscard]] bool enough_remains(Clock::time_point deadline, std::chrono::milliseconds wanted) {
    return deadline - now() >= std::min<Clock::duration>(wanted / 2, std::chrono::seconds(1));
  }
  /// The end of the cohort that begins with the grant of `hold`.
  [[nodiscard]] Clock::time_point end_of_cohort(const RemoteHold& hold) const noexcept {
    return later(hold.granted_at, std::min<Clock::duration>(settings().cohort, hold.lease / 10));
  }
  /// Whether a copy of an unanswered acquire may run after the release, because the backend does
  /// not keep the order.
  [[nodiscard]] bool copy_may_run(const RemoteHold& hold) const noexcept {
    return hold.attempts == RemoteHold::Attempts::unanswered && !settings().in_order;
  }
  /// Whether a late copy of the original WRITE acquire may still run after the downgrade: the
  /// backend may then have a READ and a WRITE in turn.
  [[nodiscard]] bool may_be_write_again(const RemoteHold& hold) const noexcept {
    return hold.type == LockType::READ && hold.acquire_request.type == LockType::WRITE &&
           !settings().in_order;
  }

  // --- requests ---
  /// Makes room for one more request. False: there is no memory, and the caller sends it at a later
  /// tick.
  [[nodiscard]] bool can_submit() noexcept { return context_.out.submits.make_room(); }
  /// Only after can_submit has returned true.
  void submit(Request& request) { context_.out.submits.push_back(&request); }
  /// Adds the local hold of a call.
  void count(Call& call, RemoteHold& hold) {
    if (call.lease.held_at_most().count() != 0) [[unlikely]]
      begin_limit_of(call, hold);
    KeyLogic::count(call, hold);
  }
  /// Fills in what all requests about a hold have in common.
  void prepare(OwnedRequest& request, Verb verb, RemoteHold& hold) {
    KeyLogic::prepare(request, verb, hold, now());
  }

  // --- the calls' threads ---
  void wake(Call& call) {
    if (&call == context_.caller || call.completion != nullptr) return complete(call);
    if (std::exchange(call.waking, true)) return;
    if (context_.out.wakes.make_room()) {
      context_.out.wakes.push_back(&call);
    } else {
      wake_now(call);
    }
  }
  /// Wakes the thread of a waiting call if its alarm is earlier than it knows. The call whose
  /// thread brings this event asks for its alarm itself.
  void set_alarm(Call& call) {
    if (&call != context_.caller) set_alarm_of_sleeper(call);
  }

  EventContext& context_;

 private:
  void begin_limit_of(Call& call, RemoteHold& hold);
  void explain(Call& call);
  void report_outcome(const Call& call) noexcept;
  /// Asynchronous calls are notified only when they have an answer.
  void complete(Call& call) noexcept {
    const bool is_news = &call != context_.caller && call.answer != Answer::pending;
    if (is_news && !std::exchange(call.waking, true)) context_.out.completed.push_back(call);
  }
  /// `fill` sets what is particular to the event. Without memory the event is counted.
  template <class Fill>
  void report(Event::Kind kind, LockType type, Owner owner, const Origin& origin,
              Fill&& fill) noexcept;
  void describe_hold(Event& event, const RemoteHold& hold);
  static void wake_now(Call& call) noexcept;
  void set_alarm_of_sleeper(Call& call);
  [[nodiscard]] std::string holder_of(const Call& call);
};

}  // namespace latchkey::inline v1::detail
