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
void Coordinator::wait_for_release(RemoteHold& claim, const Outcome& outcome, Turn& turn) {
  Call& call = *claim.call;
  call.answered = true;
  call.ignorant = false;
  if (turn.now() >= end_of(call)) return give_up(call, Answer::busy, turn);
  tell_waiting(call, turn);
  if (claim.nudged) return ask(claim, turn);
  const bool pushes = context_->settings->pushes;
  Subscription& channel = call.type == LockType::FAIR ? claim.subscription : subscription_;
  if (pushes && channel.stage == Subscription::Stage::off) {
    subscribe(channel, call.type == LockType::FAIR ? &claim : nullptr, turn);
  }
  claim.poll = next_pause(claim.poll, pushes ? safety_poll : plain_poll);
  Clock::duration pause = spread(claim.poll, *context_);
  if (outcome.retry_after) {
    pause = std::min<Clock::duration>(pause, std::max(*outcome.retry_after, milliseconds(1)));
  }
  claim.poll_at = later(turn.now(), pause);
  set_alarm(call, turn);
}

// Once for each call, whether it is the backend that says busy or somebody of this process.
void Coordinator::tell_waiting(Call& call, Turn& turn) {
  if (std::exchange(call.waits, true)) return;
  call.waiting_since = turn.now();
  if (tells(Event::Kind::waiting)) tell(Event::Kind::waiting, call, turn);
}

// Who holds what the call waits for: somebody of this process, or whom the backend has named.
std::string Coordinator::holder_of(const Call& call, Turn& turn) const {
  const RemoteHold* const blocker = local_blocker(call.type, turn);
  if (blocker == nullptr) return std::string(call.text.view());
  if (blocker->stage != RemoteHold::Stage::held) return "nobody: it is kept, or being given back";
  std::string text;
  if (blocker->origin.site != nullptr) text = blocker->origin.site->where() + ", ";
  text += "owner " + std::to_string(blocker->owner.number()) + " of this process";
  if (const auto thread = thread_of(blocker->owner)) {
    text += " (thread " + std::to_string(*thread) + ")";
  }
  const auto held = std::chrono::floor<milliseconds>(turn.now() - blocker->granted_at);
  return text + ", for " + std::to_string(held.count()) + " ms";
}

void Coordinator::name_holder(Call& call, Turn& turn) const noexcept {
  try {
    call.text = holder_of(call, turn);
  } catch (const std::bad_alloc&) {
    call.text = "";
  }
}

void Coordinator::wait_for_answer(RemoteHold& claim, Turn& turn) {
  Call& call = *claim.call;
  call.ignorant = true;
  if (turn.now() >= end_of(call)) return give_up(call, Answer::unavailable, turn);
  claim.poll = next_pause(claim.poll, retry_poll);
  claim.poll_at = later(turn.now(), spread(claim.poll, *context_));
  set_alarm(call, turn);
}

void Coordinator::cancel(Call& call, Turn& turn) {
  if (call.answer == Answer::pending) give_up(call, Answer::cancelled, turn);
}

void Coordinator::end_wait(Call& call, Turn& turn) {
  if (call.answer != Answer::pending) return;
  call.text = "no answer";
  give_up(call, Answer::unavailable, turn);
}

void Coordinator::give_up(Call& call, Answer result, Turn& turn) {
  leave_queue(call);
  RemoteHold* const claim = std::exchange(call.hold, nullptr);
  if (claim != nullptr && claim->call == &call) abandon(*claim, turn);
  if (result == Answer::busy && (call.asks_who || tells(Event::Kind::timeout))) {
    name_holder(call, turn);
  }
  answer(call, result, turn);
  pump(turn);
  leave_channel_if_unused(turn);
}

// The wait is over: was the lock busy, or does nobody know?
void Coordinator::give_up_waiting(Call& call, Turn& turn) {
  const bool asked_backend = call.hold != nullptr;
  const bool unknown = asked_backend ? call.ignorant || !call.answered || call.forever
                                     : front_is_ignorant(call, turn);
  if (unknown && call.text.empty()) call.text = "no answer";
  give_up(call, unknown ? Answer::unavailable : Answer::busy, turn);
}

// Nobody of this process holds what the call queues for: who is in front of it has had no answer.
bool Coordinator::front_is_ignorant(Call& call, Turn& turn) const {
  const auto silent = [&](Clock::time_point since) {
    return later(since, call.grace) <= turn.now();
  };
  if (const RemoteHold* const blocker = local_blocker(call.type, turn)) {
    return blocker->stage == RemoteHold::Stage::ending && silent(blocker->end.sent);
  }
  const Call* const front = queue_.first();
  if (front == nullptr || front->hold == nullptr) return false;
  if (!front->ignorant && (front->answered || !silent(front->silent_since))) return false;
  call.text = front->text.view();
  return true;
}

void Coordinator::tick_call(Call& call, Turn& turn) {
  if (turn.now() >= end_of(call)) return give_up_waiting(call, turn);
  RemoteHold* const claim = call.hold;
  if (claim != nullptr && claim->call == &call && !claim->asking && turn.now() >= claim->poll_at) {
    return ask(*claim, turn);
  }
  set_alarm(call, turn);
}

Clock::time_point Coordinator::end_of(const Call& call) const noexcept {
  const RemoteHold* const claim =
      call.hold != nullptr && call.hold->call == &call ? call.hold : nullptr;
  const bool renewing = call.hold != nullptr && claim == nullptr;
  const bool asking = renewing || (claim != nullptr && claim->asking);
  if (call.bundled && asking) return Clock::never();  // whoever brought it ends it
  if (call.forever) {
    return asking || call.ignorant ? later(call.silent_since, context_->settings->unavailable_after)
                                   : Clock::never();
  }
  if (asking && !call.answered && !call.ignorant) {
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

void Coordinator::set_alarm_of_sleeper(Call& call, Turn& turn) {
  if (call.answer != Answer::pending) return;
  const Clock::time_point at = alarm_of(call);
  const bool earlier = at < call.wake_at;
  call.wake_at = at;
  if (earlier) wake(call, turn);
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
void Coordinator::explain(Call& call, Turn& turn) {
  const Answer result = call.answer;
  if (result == Answer::unavailable || result == Answer::refused || result == Answer::lost ||
      result == Answer::not_owner) {
    call.key = key.view();  // for a sentence that is said when this coordinator may be gone
  }
  if (!call.acquires) return;
  const auto kind = event_of(result);
  if (kind && tells(*kind)) tell(*kind, call, turn);
}

// The sentence names the method that holds.
void Coordinator::answer_deadlock(Call& call, LockType held_as, const RemoteHold& hold,
                                  Turn& turn) {
  call.held_as = held_as;
  try {
    if (hold.origin.site != nullptr) call.text = hold.origin.site->where();
  } catch (const std::bad_alloc&) {
    // Without the method, then.
  }
  answer(call, Answer::would_deadlock, turn);
}

void Coordinator::answer_lost(Call& call, const RemoteHold& hold, Turn& turn) {
  call.held = turn.now() - hold.granted_at;
  answer(call, Answer::lost, turn);
}

}  // namespace latchkey::detail
