// The coordinator's decisions about waiting: how long to sleep, when to give up, what to answer.
#include <algorithm>
#include <new>
#include <optional>
#include <utility>

#include <latchkey/site.hpp>

#include "core/owner_threads.hpp"
#include "locks/coordinator.hpp"
#include "locks/planted.hpp"

namespace latchkey::detail {
namespace {

using std::chrono::milliseconds;

// The safety poll of a waiter that would be told of a release, and of one that would not.
constexpr std::pair<milliseconds, milliseconds> safety_poll{1'000, 5'000};
constexpr std::pair<milliseconds, milliseconds> plain_poll{10, 500};
constexpr std::pair<milliseconds, milliseconds> retry_poll{50, 1'000};

milliseconds next_pause(milliseconds last, std::pair<milliseconds, milliseconds> range) {
  return std::clamp(2 * last, range.first, range.second);
}

// +- 20 %, so that waiters of many processes do not poll in step.
Clock::duration spread(milliseconds pause, CoordinatorContext& context) {
  const auto percent = static_cast<std::int64_t>(80 + context.chance(41));
  return Clock::duration(pause) * percent / 100;
}

}  // namespace

// Busy: subscribe, attempt again, then sleep until a notification, at most until the poll.
void Coordinator::wait_for_release(RemoteHold& claim, const Outcome& outcome,
                                   EventContext& context) {
  Call& call = *claim.call;
  call.answered = true;
  call.outcome_unknown = false;
  if (context.now() >= end_of(call)) return give_up(call, Answer::busy, context);
  report_waiting(call, context);
  if (claim.retry_requested) return ask(claim, context);
  const bool pushes = context_->settings->pushes;
  Subscription& channel = call.type == LockType::FAIR ? claim.subscription : subscription_;
  if (pushes && channel.stage == Subscription::Stage::off) {
    subscribe(channel, call.type == LockType::FAIR ? &claim : nullptr, context);
  }
  claim.poll = next_pause(claim.poll, pushes ? safety_poll : plain_poll);
  Clock::duration pause = spread(claim.poll, *context_);
  if (outcome.retry_after) {
    pause = std::min<Clock::duration>(pause, std::max(*outcome.retry_after, milliseconds(1)));
  }
  claim.poll_at = later(context.now(), pause);
  set_alarm(call, context);
}

// Once for each call, whether it is the backend that says busy or somebody of this process.
void Coordinator::report_waiting(Call& call, EventContext& context) {
  if (std::exchange(call.waits, true)) return;
  call.waiting_since = context.now();
  if (reports(Event::Kind::waiting)) tell(Event::Kind::waiting, call, context);
}

// Who holds what the call waits for: somebody of this process, or whom the backend has named.
std::string Coordinator::holder_of(const Call& call, EventContext& context) const {
  const RemoteHold* const blocker = local_blocker(call.type, context);
  if (blocker == nullptr) return std::string(call.text.view());
  if (blocker->stage != RemoteHold::Stage::held) return "nobody: it is kept, or being given back";
  std::string text;
  if (blocker->origin.site != nullptr) text = blocker->origin.site->where() + ", ";
  text += "owner " + std::to_string(blocker->owner.number()) + " of this process";
  if (const auto thread = thread_of(blocker->owner)) {
    text += " (thread " + std::to_string(*thread) + ")";
  }
  const auto held = std::chrono::floor<milliseconds>(context.now() - blocker->granted_at);
  return text + ", for " + std::to_string(held.count()) + " ms";
}

void Coordinator::name_holder(Call& call, EventContext& context) const noexcept {
  call.holder_is_local = local_blocker(call.type, context) != nullptr;
  try {
    call.text = holder_of(call, context);
  } catch (const std::bad_alloc&) {
    call.text = "";
  }
}

void Coordinator::wait_for_answer(RemoteHold& claim, EventContext& context) {
  Call& call = *claim.call;
  call.outcome_unknown = true;
  if (context.now() >= end_of(call)) return give_up(call, Answer::unavailable, context);
  claim.poll = next_pause(claim.poll, retry_poll);
  claim.poll_at = later(context.now(), spread(claim.poll, *context_));
  set_alarm(call, context);
}

void Coordinator::cancel(Call& call, EventContext& context) {
  if (call.answer == Answer::pending) give_up(call, Answer::cancelled, context);
}

void Coordinator::end_wait(Call& call, EventContext& context) {
  if (call.answer != Answer::pending) return;
  call.text = "no answer";
  give_up(call, Answer::unavailable, context);
}

void Coordinator::give_up(Call& call, Answer result, EventContext& context) {
  leave_queue(call);
  RemoteHold* const claim = std::exchange(call.hold, nullptr);
  if (claim != nullptr && claim->call == &call) abandon(*claim, context);
  if (result == Answer::busy && (call.wants_holder_name || reports(Event::Kind::timeout))) {
    name_holder(call, context);
  }
  answer(call, result, context);
  dispatch_waiters(context);
  leave_channel_if_unused(context);
}

// The wait is over: was the lock busy, or does nobody know?
void Coordinator::give_up_waiting(Call& call, EventContext& context) {
  const bool asked_backend = call.hold != nullptr;
  const bool unknown = asked_backend ? call.outcome_unknown || !call.answered || call.forever
                                     : front_outcome_unknown(call, context);
  if (unknown && call.text.empty()) call.text = "no answer";
  give_up(call, unknown ? Answer::unavailable : Answer::busy, context);
}

// Nobody of this process holds what the call queues for: who is in front of it has had no answer.
bool Coordinator::front_outcome_unknown(Call& call, EventContext& context) const {
  const auto silent = [&](Clock::time_point since) {
    return later(since, call.grace) <= context.now();
  };
  if (const RemoteHold* const blocker = local_blocker(call.type, context)) {
    return blocker->stage == RemoteHold::Stage::ending && silent(blocker->end.sent);
  }
  const Call* const front = queue_.first();
  if (front == nullptr || front->hold == nullptr) return false;
  if (!front->outcome_unknown && (front->answered || !silent(front->silent_since))) return false;
  call.text = front->text.view();
  return true;
}

void Coordinator::tick_call(Call& call, EventContext& context) {
  if (context.now() >= end_of(call)) return give_up_waiting(call, context);
  RemoteHold* const claim = call.hold;
  if (claim != nullptr && claim->call == &call && !claim->asking &&
      context.now() >= claim->poll_at) {
    return ask(*claim, context);
  }
  set_alarm(call, context);
}

Clock::time_point Coordinator::end_of(const Call& call) const noexcept {
  const RemoteHold* const claim =
      call.hold != nullptr && call.hold->call == &call ? call.hold : nullptr;
  const bool renewing = call.hold != nullptr && claim == nullptr;
  const bool asking = renewing || (claim != nullptr && claim->asking);
  if (call.bundled && asking) return Clock::never();  // whoever brought it ends it
  if (call.forever) {
    return asking || call.outcome_unknown
               ? later(call.silent_since, context_->settings->unavailable_after)
               : Clock::never();
  }
  if (asking && !call.answered && !call.outcome_unknown) {
    const auto timeout = context_->settings->command_timeout;
    if (planted(Bug::wait_is_no_bound)) return later(call.silent_since, timeout);
    return std::max(call.until, later(std::min(call.silent_since, call.until), call.grace));
  }
  return call.until;
}

Clock::time_point Coordinator::alarm_of(const Call& call) const noexcept {
  const RemoteHold* const claim = call.hold;
  const Clock::time_point at = end_of(call);
  const bool polls = claim != nullptr && claim->call == &call && !claim->asking;
  return polls ? std::min(at, claim->poll_at) : at;
}

void Coordinator::set_alarm_of_sleeper(Call& call, EventContext& context) {
  if (call.answer != Answer::pending) return;
  const Clock::time_point at = alarm_of(call);
  const bool earlier = at < call.wake_at;
  call.wake_at = at;
  if (earlier) wake(call, context);
}

namespace {

std::optional<Event::Kind> event_of(Answer answer) noexcept {
  switch (answer) {
    case Answer::granted: return Event::Kind::granted;
    case Answer::busy: return Event::Kind::timeout;
    case Answer::would_deadlock: return Event::Kind::would_deadlock;
    case Answer::cancelled: return Event::Kind::cancelled;
    case Answer::closed: return Event::Kind::closed;
    case Answer::unavailable: return Event::Kind::unavailable;
    case Answer::refused: return Event::Kind::refused;
    case Answer::pending:
    case Answer::lost:
    case Answer::not_owner: break;
  }
  return std::nullopt;
}

}  // namespace

// What an answer has to be said of: to the caller, who makes an exception of it, and the listener.
void Coordinator::explain(Call& call, EventContext& context) {
  const Answer result = call.answer;
  if (result == Answer::unavailable || result == Answer::refused || result == Answer::lost ||
      result == Answer::not_owner) {
    call.key = key.view();  // for a sentence that is said when this coordinator may be gone
  }
  if (!call.acquires) return;
  const auto kind = event_of(result);
  if (kind && reports(*kind)) tell(*kind, call, context);
}

// The sentence names the method that holds.
void Coordinator::answer_deadlock(Call& call, LockType held_as, const RemoteHold& hold,
                                  EventContext& context) {
  call.held_as = held_as;
  try {
    if (hold.origin.site != nullptr) call.text = hold.origin.site->where();
  } catch (const std::bad_alloc&) {
    // Without the method, then.
  }
  answer(call, Answer::would_deadlock, context);
}

void Coordinator::answer_lost(Call& call, const RemoteHold& hold, EventContext& context) {
  call.held = context.now() - hold.granted_at;
  answer(call, Answer::lost, context);
}

}  // namespace latchkey::detail
