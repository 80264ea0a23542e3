// The base of all decisions about one event of one key.
// SPDX-License-Identifier: BSL-1.0
#include "locks/coordinator/logic/key_event.hpp"

#include <algorithm>
#include <chrono>
#include <new>
#include <optional>
#include <string>

#include <latchkey/parker.hpp>
#include <latchkey/site.hpp>

#include "core/owner_threads.hpp"
#include "locks/coordinator/wait_times.hpp"
#include "locks/event_kinds.hpp"

namespace latchkey::inline v1::detail {
namespace {

std::optional<Event::Kind> event_of(const Call& call) noexcept {
  switch (call.answer) {
    case Answer::granted: return Event::Kind::granted;
    case Answer::busy:
      if (call.origin.key_template == once_template) return Event::Kind::taken;
      return call.makes_one_attempt() ? Event::Kind::busy : Event::Kind::timeout;
    case Answer::would_deadlock: return Event::Kind::would_deadlock;
    case Answer::cancelled: return Event::Kind::cancelled;
    case Answer::closed: return Event::Kind::closed;
    case Answer::unavailable: return Event::Kind::unavailable;
    case Answer::refused: return Event::Kind::refused;
    case Answer::pending:
    case Answer::lost:
    case Answer::too_long:
    case Answer::not_owner: break;
  }
  return std::nullopt;
}

Answer answer_of_release(Outcome::Kind kind) noexcept {
  switch (kind) {
    case Outcome::Kind::granted: return Answer::granted;
    case Outcome::Kind::gone: return Answer::lost;
    case Outcome::Kind::refused: return Answer::refused;
    case Outcome::Kind::busy:
    case Outcome::Kind::unknown: break;
  }
  return Answer::unavailable;
}

/// "Bank::deposit (bank.cpp:12), owner 3 of this process (thread 4711), for 12 ms"
std::string describe(const RemoteHold& hold, Clock::time_point now) {
  std::string text;
  if (hold.origin.site != nullptr) text = hold.origin.site->where() + ", ";
  text += "owner " + std::to_string(hold.owner.number()) + " of this process";
  if (const auto thread = thread_of(hold.owner)) {
    text += " (thread " + std::to_string(*thread) + ")";
  }
  const auto held = std::chrono::floor<std::chrono::milliseconds>(now - hold.granted_at);
  return text + ", for " + std::to_string(held.count()) + " ms";
}

}  // namespace

void KeyEvent::answer_lost(Call& call, const RemoteHold& hold) {
  call.held = now() - hold.granted_at;
  call.held_too_long = hold.is_held_too_long(now());
  answer(call, Answer::lost);
}

void KeyEvent::answer_release(Call& call, const RemoteHold& hold, const Outcome& outcome) {
  const Answer result = answer_of_release(outcome.kind);
  if (result == Answer::lost) return answer_lost(call, hold);
  if (result != Answer::granted) call.reason = std::string_view(outcome.reason);
  answer(call, result);
}

void KeyEvent::answer_deadlock(Call& call, LockType held_as, const RemoteHold& hold) {
  call.held_as = held_as;
  call.holder = "";
  try {
    if (hold.origin.site != nullptr) call.holder = hold.origin.site->where();
  } catch (const std::bad_alloc&) {
    // The error then names no method.
  }
  answer(call, Answer::would_deadlock);
}

// The local hold begins now, which is later than the hold at the backend if that is re-entered,
// joined or handed over.
void KeyEvent::begin_limit_of(Call& call, RemoteHold& hold) {
  call.limit = begin_limit(call, hold, now());
  state_.holds.due_by(hold.limits.earliest());
}

// The error is thrown when this coordinator may be gone, so the call keeps the key.
void KeyEvent::explain(Call& call) {
  const Answer result = call.answer;
  const bool names_key = result == Answer::unavailable || result == Answer::refused ||
                         result == Answer::lost || result == Answer::not_owner;
  if (names_key) call.key = state_.key.view();
  if (call.kind != Call::Kind::acquire) return;
  if (call.member != nullptr) {
    call.member->ticket = call.ticket;
    return;
  }
  report_outcome(call);
}

void KeyEvent::report_outcome(const Call& call) noexcept {
  if (call.leaves_report()) return;
  const auto kind = event_of(call);
  if (kind && reports(*kind)) report(*kind, call);
}

void KeyEvent::report_attempt(Call& call) noexcept {
  if (call.member != nullptr && std::exchange(call.member->attempt, true)) return;
  if (reports(Event::Kind::attempt)) report(Event::Kind::attempt, call);
}

// A hold that was lost before it was reported has its end reported as well.
void KeyEvent::report_member(Call& call) noexcept {
  call.ticket = call.member->ticket;
  report_attempt(call);
  report_outcome(call);
  if (call.answer != Answer::granted || !std::exchange(call.hold->unreported, false)) return;
  if (call.hold->is_marked_lost() && reports(Event::Kind::lost)) {
    report(Event::Kind::lost, *call.hold, "its lease ended");
  }
}

// The holder that a call waits for: one of this process, or the one that the backend named.
std::string KeyEvent::holder_of(const Call& call) {
  const RemoteHold* const blocker = blocker_of(call.type);
  if (blocker == nullptr) return std::string(call.holder.view());
  if (blocker->stage != RemoteHold::Stage::held) return "nobody: it is kept, or being given back";
  return describe(*blocker, now());
}

void KeyEvent::name_holder(Call& call) noexcept {
  call.holder_is_local = blocker_of(call.type) != nullptr;
  try {
    call.holder = holder_of(call);
  } catch (const std::bad_alloc&) {
    call.holder = "";
  }
}

template <class Fill>
void KeyEvent::report(Event::Kind kind, LockType type, Owner owner, const Origin& origin,
                      Fill&& fill) noexcept {
  try {
    Event event;
    event.kind = kind;
    event.type = type;
    event.key = state_.key.view().substr(settings().prefix_size);
    event.owner = owner.number();
    event.origin = origin;
    fill(event);
    context_.out.effects_for_others().events.push_back(std::move(event));
  } catch (const std::bad_alloc&) {
    ++context_.out.unreported;
  }
}

// Reports how long `hold` has been held, and how its lease stands.
void KeyEvent::report(Event::Kind kind, const RemoteHold& hold, std::string_view text) noexcept {
  if (hold.unreported) return;
  report(kind, hold.type, hold.owner, hold.origin, [&](Event& event) {
    describe_hold(event, hold);
    event.held = now() - hold.granted_at;
    if (kind == Event::Kind::renewed) event.late = now() - hold.check_was_due;
    event.text = text;
    event.held_too_long = hold.held_too_long;
  });
}

// Reports how long the acquire `call` has taken, and what came of it.
void KeyEvent::report(Event::Kind kind, const Call& call) noexcept {
  report(kind, call.type, call.owner, call.origin, [&](Event& event) {
    event.ticket = call.ticket;
    const MemberReport* const member = call.member;
    const bool waits = member != nullptr ? member->waits : call.waits;
    event.waited = now() - (member != nullptr ? member->asked : call.asked);
    if (waits && kind != Event::Kind::waiting) {
      event.contended = now() - (member != nullptr ? member->waiting_since : call.waiting_since);
    }
    if (kind == Event::Kind::granted) {
      event.count = call.hold->local_holds();
      describe_hold(event, *call.hold);
    } else if (kind == Event::Kind::waiting) {
      event.holder = holder_of(call);
    } else if (call.answer == Answer::busy) {
      event.holder = call.holder;
    } else {
      event.text = kind == Event::Kind::would_deadlock ? call.holder : call.reason;
    }
  });
}

void KeyEvent::describe_hold(Event& event, const RemoteHold& hold) {
  if (hold.token != 0 && hold.fenced && !is_shared(hold.type)) event.fencing_token = hold.token;
  if (hold.type == LockType::PERMIT) event.permits = hold.permits();
  event.lease = hold.in_force;
  event.left = std::max(hold.deadline_point() - now(), Clock::duration{});
}

// A thread that is woken at once waits for the mutex before it reads the answer.
void KeyEvent::wake_now(Call& call) noexcept {
  call.waking = false;
  if (call.parker != nullptr) call.parker->unpark();
}

void KeyEvent::set_alarm_of_sleeper(Call& call) {
  if (call.answer != Answer::pending) return;
  const Clock::time_point at = alarm_of(call, settings());
  if (call.completion != nullptr) return state_.tick_unattended_by(at);
  const bool earlier = at < call.wake_at;
  call.wake_at = at;
  if (earlier) wake(call);
}

}  // namespace latchkey::inline v1::detail
