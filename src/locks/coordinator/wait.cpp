// Waits: how long a call sleeps, when it attempts again, with which answer it ends, and the
// subscriptions by which it learns of a release.
// tidy: long-file because a wait is read from its subscription to its answer
// SPDX-License-Identifier: BSL-1.0
#include <algorithm>
#include <chrono>
#include <new>
#include <string>
#include <utility>

#include <latchkey/call_observer.hpp>
#include <latchkey/site.hpp>

#include "backend/refusals.hpp"
#include "locks/coordinator/hold_events.hpp"
#include "locks/coordinator/idle_hold.hpp"
#include "locks/coordinator/immediate.hpp"
#include "locks/coordinator/wait_times.hpp"

namespace latchkey::inline v1::detail {

using std::chrono::milliseconds;
using LastReply = Call::LastReply;
using Stage = RemoteHold::Stage;
using Trace = AcquireProgress::Trace;

namespace {

/// When a claim near the front of the line subscribes to the key's releases; never: it is not near
/// the front. The turns of a hot key are shorter than 20 ms, and cost no subscription each.
Clock::time_point listens_from(const RemoteHold& claim) noexcept {
  return later(claim.place.near_front_since, milliseconds(20));
}

/// The time between two attempts of a claim that waits in line at the backend: at most 1 s. For a
/// lock at most a quarter of its lease, because its place and a grant may last no longer than that
/// lease from the last attempt on.
Clock::duration queued_poll_of(const RemoteHold& claim, CoordinatorContext& shard) noexcept {
  constexpr milliseconds most{1'000};
  const bool permit = claim.type == LockType::PERMIT;  // its place has a time of its own
  return spread(permit ? most : std::min(most, claim.lease / 4), shard);
}

/// False for a grant that is older than the last reply: by that reply the claim was still, or
/// again, in line.
bool is_awaited(const RemoteHold& claim, const Notification& grant) noexcept {
  if (claim.place.number == 0) return false;
  return claim.type == LockType::FAIR ? grant.place >= claim.place.number
                                      : grant.place == claim.place.number;
}

}  // namespace

// A busy claim subscribes, attempts once more, then waits for a notification or the poll.
void Coordinator::wait_for_release(RemoteHold& claim, const Outcome& outcome, bool again) {
  Call& call = *claim.call;
  call.last_reply = LastReply::busy;
  IdleHold::note_others(*this, claim);
  if (outcome.holder_is_foreign) note_foreign_holder();
  claim.place.note(outcome, claim.acquire.request.sent, now());
  if (now() >= end_of_wait(call, settings())) return give_up(call, Answer::busy);
  report_waiting(call);
  if (again) return send_acquire(claim);
  listen(claim, outcome);
  claim.acquire.poll_pause =
      (settings().pushes ? safety_poll : plain_poll).next(claim.acquire.poll_pause);
  Clock::duration pause = spread(claim.acquire.poll_pause, *shard_);
  const bool precedes = claim.acquire.request.queue_wait == writer_precedence;
  if (call.type == LockType::WRITE && precedes) {
    pause = std::min<Clock::duration>(pause, writer_precedence / 2);
  }
  const bool fair = claim.type == LockType::FAIR;  // the reply says when to poll
  if (claim.place.number != 0 && !fair) pause = std::min(pause, queued_poll_of(claim, *shard_));
  if (now() < listens_from(claim)) pause = std::min(pause, listens_from(claim) - now());
  if (outcome.retry_after) {
    constexpr milliseconds most = std::chrono::hours(1);  // ns have no room for all ms
    pause =
        std::min<Clock::duration>(pause, std::clamp(*outcome.retry_after, milliseconds(1), most));
  }
  claim.acquire.poll_at = later(now(), pause);
  set_alarm(call);
}

// The backend notifies a claim in the process queue of all that concerns it, except that a client
// of another library has released or deleted the lock: for that the claims near the front listen,
// and all that wait for such a client.
void Coordinator::listen(RemoteHold& claim, const Outcome& outcome) {
  if (!settings().pushes) return;
  const bool fair = claim.type == LockType::FAIR;
  // Whether a release grants the lock to its place.
  const bool is_granted = claim.place.number != 0 && is_raced_for(claim.type);
  const bool in_line = is_granted && now() >= grants_refused_until_;
  if (in_line) {
    grants_unused_until_ = Clock::never();
    if (grants_.stage == Subscription::Stage::off) subscribe_to_grants();
    if (!outcome.holder_is_foreign && now() < listens_from(claim)) return;
  }
  Subscription& channel = fair ? claim.subscription : subscription_;
  if (channel.stage == Subscription::Stage::off) {
    channel.request.in_line = in_line;
    subscribe(channel, fair ? &claim : nullptr);
  } else if (channel.stage == Subscription::Stage::on && channel.request.in_line != in_line) {
    unsubscribe(channel);  // the retry after its reply subscribes anew
  }
}

void Coordinator::wait_for_answer(RemoteHold& claim) {
  Call& call = *claim.call;
  call.last_reply = LastReply::unknown;
  if (now() >= end_of_wait(call, settings())) return give_up(call, Answer::unavailable);
  claim.acquire.poll_pause = retry_poll.next(claim.acquire.poll_pause);
  claim.acquire.poll_at = later(now(), spread(claim.acquire.poll_pause, *shard_));
  set_alarm(call);
}

// Reports once per call, whether the backend is busy or another call of this process is in front.
void Coordinator::report_waiting(Call& call) {
  if (std::exchange(call.waits, true)) return;
  probes::waiting(key.view(), call);
  call.waiting_since = now();
  if (MemberReport* const member = call.member; member != nullptr) {
    if (std::exchange(member->waits, true)) return;
    member->waiting_since = now();
    report_attempt(call);
  }
  if (reports(Event::Kind::waiting)) report(Event::Kind::waiting, call);
  if (call.report != nullptr && call.member == nullptr) note_holder(call);
}

void Coordinator::note_holder(Call& call) noexcept {
  try {
    call.report->holder = holder_of(call);
  } catch (const std::bad_alloc&) {
    return;  // the report then names nobody
  }
}

// The caller of several keys fills in the report itself.
void Coordinator::fill_in_report(const Call& call) noexcept {
  if (call.report == nullptr || call.member != nullptr) return;
  call.report->attempts = call.attempts;
  if (call.waits) call.report->contended = now() - call.waiting_since;
}

void Coordinator::retry_now(RemoteHold& claim) {
  if (claim.call == nullptr) return;
  if (claim.acquire.in_flight()) {
    claim.acquire.want_another();
  } else {
    send_acquire(claim);
  }
}

template <class Which>
void Coordinator::retry_queue(Which which) {
  for (Call* call = waiters_.front(); call != nullptr && call->hold != nullptr; call = call->next) {
    if (which(*call->hold)) retry_now(*call->hold);
  }
}

void Coordinator::on_key_released(bool first_in_line) {
  retry_queue([&](RemoteHold& claim) { return !yields_in_line(claim, first_in_line); });
}

void Coordinator::retry_busy_claims() {
  retry_queue([](const RemoteHold& claim) {
    return claim.acquire.trace != Trace::none || claim.acquire.in_flight();
  });
}

void Coordinator::cancel(Call& call, EventContext& event) {
  event_ = &event;
  if (call.answer == Answer::pending) give_up(call, Answer::cancelled);
}

void Coordinator::end_wait(Call& call, EventContext& event) {
  event_ = &event;
  if (call.answer != Answer::pending) return;
  call.reason = "no answer";
  give_up(call, Answer::unavailable);
}

void Coordinator::give_up(Call& call, Answer result) {
  waiters_.remove(call);
  if (result == Answer::busy && (call.wants_holder_name || reports(Event::Kind::timeout))) {
    name_holder(call);  // before the release of its own claim looks like a holder
  }
  RemoteHold* const claim = claim_of(call);
  call.hold = nullptr;
  // The place of a process in the queue for permits does not end with the call that took it.
  if (claim != nullptr) claim->type == LockType::PERMIT ? pass_on(*claim) : abandon(*claim);
  answer(call, result);
  dispatch_waiters();
  unsubscribe_if_unused();
}

void Coordinator::give_up_waiting(Call& call) {
  const bool has_requested = call.hold != nullptr;
  // A call that has just come to the front counts as busy if a call before it had that reply
  // meanwhile. A renewal does not: its owner holds the key.
  const bool was_busy =
      call.last_reply == LastReply::busy ||
      (call.last_reply == LastReply::none && claim_of(call) != nullptr && busy_at_ >= call.asked);
  const bool unknown = has_requested ? !was_busy || call.forever : nobody_knows_holder(call);
  // Such a call has no reason of its own, and gives that of the calls before it.
  if (unknown && call.reason.empty()) call.reason = silence_reason_.view();
  if (unknown && call.reason.empty()) call.reason = "no answer";
  give_up(call, unknown ? Answer::unavailable : Answer::busy);
}

// Whether neither a hold of this process nor a reply says that the key is busy for `call`, which
// has sent no request. The call in front may have started a moment ago, after others had no reply.
bool Coordinator::nobody_knows_holder(Call& call) {
  if (busy_at_ >= call.asked) return false;
  const bool silent = shard_->link_is_down || later(silent_since(), call.grace) <= now();
  if (const RemoteHold* const blocker = blocker_of(call.type)) {
    return blocker->stage != Stage::held && silent;
  }
  if (!waiters_.front_has_started()) return silent;
  const Call& front = *waiters_.front();
  if (front.last_reply == LastReply::busy) return false;
  if (front.last_reply == LastReply::none && !silent) return false;
  call.reason = front.reason.view();
  return true;
}

// The time since which the backend has not answered what was asked about the key: the earliest of
// the requests that ended without a reply and of those that are still in flight.
Clock::time_point Coordinator::silent_since() noexcept {
  Clock::time_point since = silent_since_;
  holds_.for_each([&](const RemoteHold& hold) {
    if (hold.acquire.in_flight()) since = std::min(since, hold.acquire.request.sent);
    if (hold.release.in_flight()) since = std::min(since, hold.release.request.sent);
    if (hold.check.in_flight(Verb::expire)) since = std::min(since, hold.check.request.sent);
  });
  return since;
}

bool Coordinator::refuse_other_kind(Call& call) {
  const RemoteHold* const blocker = blocker_of(call.type);
  if (blocker == nullptr || blocker->stage == Stage::releasing) return false;
  const bool of_semaphore = call.type == LockType::PERMIT;
  if ((blocker->type == LockType::PERMIT) == of_semaphore) return false;
  waiters_.remove(call);
  call.reason = of_semaphore ? key_is_a_lock : key_is_a_semaphore;
  answer(call, Answer::refused);
  return true;
}

// --- time, and the end ---

void Coordinator::tick(EventContext& event) {
  event_ = &event;
  holds_.reset_due();
  unattended_due_ = Clock::never();
  holds_.for_each([&](RemoteHold& hold) {
    for (Call* call = hold.renewals.first(); call != nullptr;) {
      tick_call(*std::exchange(call, call->next));
    }
    tick_hold(hold);
  });
  waiters_.for_each([&](Call& call) { tick_call(call); });
  yielding_.forget(now());
  tick_subscriptions();
  find_due();
}

void Coordinator::tick_call(Call& call) {
  if (now() >= end_of_wait(call, settings())) return give_up_waiting(call);
  RemoteHold* const claim = claim_of(call);
  const bool polls = claim != nullptr && !claim->acquire.in_flight();
  if (polls && now() >= claim->acquire.poll_at) return send_acquire(*claim);
  set_alarm(call);
}

void Coordinator::end_waits(EventContext& event) {
  event_ = &event;
  IdleHold::end(*this);
  holds_.for_each([&](RemoteHold& hold) {
    while (Call* const call = hold.renewals.first()) give_up(*call, Answer::closed);
  });
  while (Call* const call = waiters_.any()) give_up(*call, Answer::closed);
}

// --- answers to calls ---

void Coordinator::answer(Call& call, Answer answer) {
  call.answer = answer;
  if (call.kind == Call::Kind::acquire) fill_in_report(call);
  wake(call);
  if (answer == Answer::granted && call.kind == Call::Kind::acquire) {
    probes::granted(key.view(), call);
  }
  if (answer != Answer::granted || reports(Event::Kind::granted)) explain(call);
}

void Coordinator::answer_lost(Call& call, const RemoteHold& hold) {
  call.held = now() - hold.granted_at;
  call.held_too_long = hold.is_held_too_long(now());
  answer(call, Answer::lost);
}

void Coordinator::answer_deadlock(Call& call, LockType held_as, const RemoteHold& hold) {
  call.held_as = held_as;
  call.holder = "";
  try {
    if (hold.origin.site != nullptr) call.holder = hold.origin.site->where();
  } catch (const std::bad_alloc&) {
    // The error then names no method.
  }
  answer(call, Answer::would_deadlock);
}

// The error is thrown when this coordinator may be gone, so the call keeps the key.
void Coordinator::explain(Call& call) {
  const Answer result = call.answer;
  const bool names_key = result == Answer::unavailable || result == Answer::refused ||
                         result == Answer::lost || result == Answer::not_owner;
  if (names_key) call.key = key.view();
  if (call.kind != Call::Kind::acquire) return;
  if (call.member != nullptr) {
    call.member->ticket = call.ticket;
    return;
  }
  report_outcome(call);
}

// The holder that a call waits for: one of this process, or the one that the backend named.
std::string Coordinator::holder_of(const Call& call) {
  const RemoteHold* const blocker = blocker_of(call.type);
  if (blocker == nullptr) return std::string(call.holder.view());
  if (blocker->stage != Stage::held) return "nobody: it is kept, or being given back";
  return describe_holder(*blocker, now());
}

void Coordinator::name_holder(Call& call) noexcept {
  call.holder_is_local = blocker_of(call.type) != nullptr;
  try {
    call.holder = holder_of(call);
  } catch (const std::bad_alloc&) {
    call.holder = "";
  }
}

// --- subscriptions and notifications ---

// Without memory for the request each poll subscribes again.
void Coordinator::subscribe(Subscription& subscription, RemoteHold* claim) {
  const Call* const front = waiters_.front();
  const bool permit = front != nullptr && front->type == LockType::PERMIT;
  const LockType of_key = permit ? LockType::PERMIT : LockType::REENTRANT;
  const LockType type = claim != nullptr ? claim->type : of_key;
  send_subscribe(subscription, claim, type,
                 claim != nullptr ? claim->id : HoldId{settings().space, 0});
}

void Coordinator::subscribe_to_grants() {
  grants_.request.queues = true;
  send_subscribe(grants_, nullptr, LockType::REENTRANT, HoldId{settings().space, 0});
}

void Coordinator::send_subscribe(Subscription& subscription, RemoteHold* claim, LockType type,
                                 const HoldId& id) {
  if (!can_submit()) return;
  subscription.stage = Subscription::Stage::subscribing;
  subscription.retry_at = Clock::never();
  OwnedRequest& request = subscription.request;
  request.verb = Verb::subscribe;
  request.key = key;
  request.context = this;
  request.sent = now();
  request.type = type;
  request.id = id;
  request.hold = claim;
  submit(request);
}

void Coordinator::unsubscribe(Subscription& subscription) {
  if (!can_submit()) return retry_unsubscribe(subscription);
  subscription.stage = Subscription::Stage::unsubscribing;
  subscription.retry_at = Clock::never();
  subscription.request.verb = Verb::unsubscribe;
  subscription.request.sent = now();
  submit(subscription.request);
}

// No unsubscribe was sent, so the backend may still deliver.
void Coordinator::retry_unsubscribe(Subscription& subscription) {
  subscription.stage = Subscription::Stage::off;
  subscription.retry_at = later(now(), repeat_pause);
  holds_.due_by(subscription.retry_at);
}

void Coordinator::on_subscription_reply(const OwnedRequest& request, const Outcome& outcome) {
  RemoteHold* const claim = request.hold;
  if (request.revocations) {
    return on_revocations_reply(revocations_.stage == Subscription::Stage::subscribing, outcome);
  }
  Subscription& own = request.queues ? grants_ : subscription_;
  Subscription& subscription = claim != nullptr ? claim->subscription : own;
  const bool subscribing = subscription.stage == Subscription::Stage::subscribing;
  if (subscribing && outcome.kind == Outcome::Kind::unknown) {
    return unsubscribe(subscription);  // the server may have subscribed
  }
  if (!subscribing && outcome.never_ran) {
    retry_unsubscribe(subscription);
    if (claim == nullptr) retry_busy_claims();
    return;
  }
  const bool subscribed = subscribing && outcome.kind == Outcome::Kind::granted;
  subscription.stage = subscribed ? Subscription::Stage::on : Subscription::Stage::off;
  if (claim != nullptr) return on_subscription_reply_of(*claim, subscribed);
  if (&subscription == &grants_ && outcome.kind == Outcome::Kind::refused) {
    grants_refused_until_ = later(now(), std::chrono::seconds(5));
    retry_busy_claims();
  }
  // No release between the busy reply and this one was notified: the claims attempt once more.
  if (subscribed || !subscribing) retry_busy_claims();
  unsubscribe_if_unused();
}

void Coordinator::on_subscription_reply_of(RemoteHold& claim, bool subscribed) {
  const bool waits = claim.stage == Stage::claim && claim.call != nullptr;
  if (waits && subscribed) return retry_now(claim);
  if (!waits && subscribed) return unsubscribe(claim.subscription);
  erase_if_done(claim);
}

void Coordinator::unsubscribe_if_unused() {
  if (waiters_.front_has_started()) return;
  if (subscription_.stage == Subscription::Stage::on) unsubscribe(subscription_);
  if (grants_.stage == Subscription::Stage::on) unsubscribe_from_grants_later();
}

// The subscription may be used again before, and then stays.
void Coordinator::unsubscribe_from_grants_later() {
  if (grants_unused_until_ != Clock::never()) return;
  grants_unused_until_ = later(now(), std::chrono::seconds(1));
  holds_.due_by(grants_unused_until_);
}

void Coordinator::tick_subscriptions() {
  if (now() >= subscription_.retry_at) unsubscribe(subscription_);
  if (now() >= grants_.retry_at) unsubscribe(grants_);
  if (now() >= revocations_.retry_at) unsubscribe(revocations_);
  if (now() < grants_unused_until_) return;
  grants_unused_until_ = Clock::never();
  const bool on = grants_.stage == Subscription::Stage::on;
  if (on && !waiters_.front_has_started()) unsubscribe(grants_);
}

// A reply on its way may say more than the grant.
void Coordinator::on_grant_notified(const Notification& notification) {
  holds_.for_each([&](RemoteHold& hold) {
    if (hold.id != notification.id || hold.call == nullptr) return;
    if (hold.stage != Stage::claim) return;
    // The reply may be older than the grant, and the first to name the place: an attempt follows
    // it.
    if (hold.acquire.in_flight()) return retry_now(hold);
    if (!is_awaited(hold, notification)) return;
    on_grant(hold, notification.token);
  });
}

void Coordinator::notified(const Notification& notification, EventContext& event) {
  event_ = &event;
  using Kind = Notification::Kind;
  if (notification.kind == Kind::granted) return on_grant_notified(notification);
  if (notification.kind == Kind::revoked) return on_revoked();
  if (notification.kind == Kind::wanted) return IdleHold::on_wanted(*this);
  if (notification.kind == Kind::link_down) return IdleHold::on_link_down(*this);
  if (notification.kind == Kind::link_up && is_listened_to()) subscribe_to_revocations();
  if (notification.kind == Kind::warning) return;
  if (notification.kind == Kind::changed) {
    const bool of_one_key = !notification.key.empty();
    IdleHold::on_change(*this, of_one_key);
    return holds_.for_each([&](RemoteHold& hold) {
      if (hold.stage == Stage::held) on_change(hold, of_one_key);
    });
  }
  const bool about_one = notification.id.number != 0;
  no_permits_until_ = {};
  if (notification.kind != Kind::link_up && !about_one) {
    // The first in line is told of a release on its process's channel if others were told as well.
    const bool first_in_line = notification.id == HoldId{settings().space, 0};
    if (first_in_line) note_others_notified();
    return on_key_released(first_in_line);
  }
  holds_.for_each([&](RemoteHold& hold) {
    if (about_one && hold.id != notification.id) return;
    if (hold.stage == Stage::claim) {
      retry_now(hold);
    } else if (hold.stage == Stage::held) {
      on_hold_notified(hold, notification.kind);
    } else if (!about_one && hold.release.repeat_at != Clock::never()) {
      send_release(hold);  // its next repetition may be seconds away
    }
  });
}

}  // namespace latchkey::inline v1::detail
