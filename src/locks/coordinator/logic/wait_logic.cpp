// The decisions about waiting for a lock.
// SPDX-License-Identifier: BSL-1.0
#include "locks/coordinator/logic/wait_logic.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "backend/refusals.hpp"
#include "locks/coordinator/logic/acquire_logic.hpp"
#include "locks/coordinator/logic/permit_logic.hpp"
#include "locks/coordinator/logic/release_logic.hpp"
#include "locks/coordinator/logic/subscription_logic.hpp"
#include "locks/coordinator/logic/yield_logic.hpp"
#include "locks/coordinator/wait_times.hpp"

namespace latchkey::inline v1::detail {

using std::chrono::milliseconds;
using LastReply = Call::LastReply;

// A busy claim subscribes, attempts once more, then waits for a notification, at most until the
// poll.
void WaitLogic::wait_for_release(RemoteHold& claim, const Outcome& outcome) {
  Call& call = *claim.call;
  call.last_reply = LastReply::busy;
  if (outcome.holder_is_foreign) YieldLogic(*this).on_foreign_holder();
  claim.behind_foreign = outcome.holder_is_foreign;
  if (outcome.place != 0) claim.place_sent = claim.acquire_request.sent;
  claim.place = outcome.place;
  note_front(claim, outcome);
  if (now() >= end_of_wait(call, settings())) return give_up(call, Answer::busy);
  report_waiting(call);
  if (claim.retry_requested) return AcquireLogic(*this).send_acquire(claim);
  listen(claim, outcome);
  claim.poll_pause = (settings().pushes ? safety_poll : plain_poll).next(claim.poll_pause);
  Clock::duration pause = spread(claim.poll_pause, shard());
  const bool precedes = claim.acquire_request.queue_wait == writer_precedence;
  if (call.type == LockType::WRITE && precedes) {
    pause = std::min<Clock::duration>(pause, writer_precedence / 2);
  }
  const bool fair = claim.type == LockType::FAIR;  // the reply says when to poll
  if (claim.place != 0 && !fair) pause = std::min<Clock::duration>(pause, queued_poll_of(claim));
  if (now() < listens_from(claim)) pause = std::min(pause, listens_from(claim) - now());
  if (outcome.retry_after) {
    constexpr milliseconds most = std::chrono::hours(1);  // ns have no room for all ms
    pause =
        std::min<Clock::duration>(pause, std::clamp(*outcome.retry_after, milliseconds(1), most));
  }
  claim.poll_at = later(now(), pause);
  set_alarm(call);
}

void WaitLogic::note_front(RemoteHold& claim, const Outcome& outcome) {
  if (!outcome.near_front) {
    claim.near_front_since = Clock::never();
  } else if (claim.near_front_since == Clock::never()) {
    claim.near_front_since = now();
  }
}

// The turns of a hot key are shorter than 20 ms, and cost no subscription each.
Clock::time_point WaitLogic::listens_from(const RemoteHold& claim) noexcept {
  return later(claim.near_front_since, milliseconds(20));
}

// The backend notifies a claim in the process queue of all that concerns it, except that a client
// of another library has released or deleted the lock: for that the claims near the front listen,
// and all that wait for such a client.
void WaitLogic::listen(RemoteHold& claim, const Outcome& outcome) {
  if (!settings().pushes) return;
  using Stage = Subscription::Stage;
  SubscriptionLogic subscriptions(*this);
  const bool fair = claim.type == LockType::FAIR;
  // Whether a release grants the lock to its place.
  const bool is_granted = claim.place != 0 && is_raced_for(claim.type);
  const bool in_line = is_granted && now() >= state_.grants_refused_until;
  if (in_line) {
    state_.grants_unused_until = Clock::never();
    if (state_.grants.stage == Stage::off) subscriptions.subscribe_to_grants();
    if (!outcome.holder_is_foreign && now() < listens_from(claim)) return;
  }
  Subscription& channel = fair ? claim.subscription : state_.subscription;
  if (channel.stage == Stage::off) {
    channel.request.in_line = in_line;
    subscriptions.subscribe(channel, fair ? &claim : nullptr);
  } else if (channel.stage == Stage::on && channel.request.in_line != in_line) {
    subscriptions.unsubscribe(channel);  // the retry after its reply subscribes anew
  }
}

void WaitLogic::wait_for_answer(RemoteHold& claim) {
  Call& call = *claim.call;
  call.last_reply = LastReply::unknown;
  if (now() >= end_of_wait(call, settings())) return give_up(call, Answer::unavailable);
  claim.poll_pause = retry_poll.next(claim.poll_pause);
  claim.poll_at = later(now(), spread(claim.poll_pause, shard()));
  set_alarm(call);
}

// Reports once per call, whether the backend is busy or another call of this process is in front.
void WaitLogic::report_waiting(Call& call) {
  if (std::exchange(call.waits, true)) return;
  probes::waiting(state_.key.view(), call);
  call.waiting_since = now();
  if (MemberReport* const member = call.member; member != nullptr) {
    if (std::exchange(member->waits, true)) return;
    member->waiting_since = now();
    report_attempt(call);
  }
  if (reports(Event::Kind::waiting)) report(Event::Kind::waiting, call);
}

void WaitLogic::retry_now(RemoteHold& claim) {
  if (claim.call == nullptr) return;
  if (claim.acquire_request.in_flight) {
    claim.retry_requested = true;
  } else {
    AcquireLogic(*this).send_acquire(claim);
  }
}

template <class Which>
void WaitLogic::retry_queue(Which which) {
  for (Call* call = state_.waiters.front(); call != nullptr && call->hold != nullptr;
       call = call->next) {
    if (which(*call->hold)) retry_now(*call->hold);
  }
}

void WaitLogic::on_released(bool first_in_line) {
  retry_queue([&](RemoteHold& claim) {
    return !YieldLogic(*this).lets_others_first(claim, first_in_line);
  });
}

void WaitLogic::retry_what_was_busy() {
  retry_queue([](const RemoteHold& claim) {
    return claim.attempts != RemoteHold::Attempts::none || claim.acquire_request.in_flight;
  });
}

void WaitLogic::cancel(Call& call) {
  if (call.answer == Answer::pending) give_up(call, Answer::cancelled);
}

void WaitLogic::end_wait(Call& call) {
  if (call.answer != Answer::pending) return;
  call.reason = "no answer";
  give_up(call, Answer::unavailable);
}

void WaitLogic::give_up(Call& call, Answer result) {
  state_.waiters.remove(call);
  if (result == Answer::busy && (call.wants_holder_name || reports(Event::Kind::timeout))) {
    name_holder(call);  // before the release of its own claim looks like a holder
  }
  RemoteHold* const claim = claim_of(call);
  call.hold = nullptr;
  if (claim != nullptr) PermitLogic(*this).give_up(*claim);
  answer(call, result);
  AcquireLogic(*this).dispatch_waiters();
  SubscriptionLogic(*this).unsubscribe_if_unused();
}

// The wait is over. Busy is answered only if the backend, or this process, said so.
void WaitLogic::give_up_waiting(Call& call) {
  const bool has_requested = call.hold != nullptr;
  // A call that has just come to the front counts as busy if a call before it had that reply
  // meanwhile. A renewal does not: its owner holds the key.
  const bool was_busy = call.last_reply == LastReply::busy ||
                        (call.last_reply == LastReply::none && claim_of(call) != nullptr &&
                         state_.busy_at >= call.asked);
  const bool unknown = has_requested ? !was_busy || call.forever : nobody_knows_holder(call);
  // Such a call has no reason of its own, and gives that of the calls before it.
  if (unknown && call.reason.empty()) call.reason = state_.silence_reason.view();
  if (unknown && call.reason.empty()) call.reason = "no answer";
  give_up(call, unknown ? Answer::unavailable : Answer::busy);
}

// Whether neither a hold of this process nor a reply says that the key is busy for `call`, which
// has sent no request. The call in front may have started a moment ago, after others had no reply.
bool WaitLogic::nobody_knows_holder(Call& call) {
  if (state_.busy_at >= call.asked) return false;
  const bool silent = shard().link_is_down || later(silent_since(), call.grace) <= now();
  if (const RemoteHold* const blocker = blocker_of(call.type)) {
    return blocker->stage == RemoteHold::Stage::releasing && silent;
  }
  if (!state_.waiters.front_has_started()) return silent;
  const Call& front = *state_.waiters.front();
  if (front.last_reply == LastReply::busy) return false;
  if (front.last_reply == LastReply::none && !silent) return false;
  call.reason = front.reason.view();
  return true;
}

// The time since which the backend has not answered what was asked about the key: the earliest of
// the requests that ended without a reply and of those that are still in flight.
Clock::time_point WaitLogic::silent_since() noexcept {
  Clock::time_point since = state_.silent_since;
  state_.holds.for_each([&](const RemoteHold& hold) {
    if (hold.acquire_request.in_flight) since = std::min(since, hold.acquire_request.sent);
    if (hold.release_request.in_flight) since = std::min(since, hold.release_request.sent);
  });
  return since;
}

bool WaitLogic::refuse_other_kind(Call& call) {
  const RemoteHold* const blocker = blocker_of(call.type);
  if (blocker == nullptr || blocker->stage == RemoteHold::Stage::releasing) return false;
  const bool of_semaphore = call.type == LockType::PERMIT;
  if ((blocker->type == LockType::PERMIT) == of_semaphore) return false;
  state_.waiters.remove(call);
  call.reason = of_semaphore ? key_is_a_lock : key_is_a_semaphore;
  answer(call, Answer::refused);
  return true;
}

void WaitLogic::tick(Call& call) {
  if (now() >= end_of_wait(call, settings())) return give_up_waiting(call);
  RemoteHold* const claim = claim_of(call);
  const bool polls = claim != nullptr && !claim->acquire_request.in_flight;
  if (polls && now() >= claim->poll_at) return AcquireLogic(*this).send_acquire(*claim);
  set_alarm(call);
}

}  // namespace latchkey::inline v1::detail
