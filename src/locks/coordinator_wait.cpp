// The coordinator's decisions about waiting: how long to sleep, when to give up, what to answer.
#include <algorithm>
#include <utility>

#include "locks/coordinator.hpp"

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
  const bool first = !std::exchange(call.waits, true);
  if (first && tells(Event::Kind::waiting)) tell(Event::Kind::waiting, call, turn);
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

void Coordinator::give_up(Call& call, Answer result, Turn& turn) {
  IntrusiveList<Call>* const list = std::exchange(call.list, nullptr);
  list->remove(call);
  RemoteHold* const claim = std::exchange(call.hold, nullptr);
  if (claim != nullptr && claim->call == &call) abandon(*claim, turn);
  if (claim == nullptr && result == Answer::busy && call.text.empty()) {
    const RemoteHold* const blocker = local_blocker(call.type, turn);
    if (blocker != nullptr) {
      call.text = "owner " + std::to_string(blocker->owner.number()) + " of this process";
    }
  }
  answer(call, result, turn);
  pump(turn);
  leave_channel_if_unused(turn);
}

// The wait is over: was the lock busy, or does nobody know?
void Coordinator::give_up_waiting(Call& call, Turn& turn) {
  const bool asked_backend = call.hold != nullptr;
  const bool unknown = asked_backend && (call.ignorant || !call.answered || call.forever);
  if (unknown && call.text.empty()) call.text = "no answer within the wait";
  give_up(call, unknown ? Answer::unavailable : Answer::busy, turn);
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
  if (call.forever) {
    return asking || call.ignorant ? later(call.silent_since, context_->settings->unavailable_after)
                                   : Clock::never();
  }
  // The one attempt that even a wait of zero makes may take as long as a command may.
  if (asking && !call.answered && !call.ignorant) {
    return std::max(call.until, later(call.silent_since, context_->settings->command_timeout));
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

// What an answer has to be said of: to the caller, who makes an exception of it, and the listener.
void Coordinator::explain(Call& call, Turn& turn) {
  const Answer result = call.answer;
  if (result == Answer::unavailable || result == Answer::refused || result == Answer::not_owner) {
    call.key = std::string(key);  // for a sentence that is said when this coordinator may be gone
  }
  if (!call.acquires) return;
  const auto kind = result == Answer::granted ? Event::Kind::granted : Event::Kind::timeout;
  if ((result == Answer::granted || result == Answer::busy) && tells(kind)) tell(kind, call, turn);
}

}  // namespace latchkey::detail
