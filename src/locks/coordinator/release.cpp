// Releases: retention after them, claims that were given up, unknown outcomes, and requests to
// release.
// tidy: long-file because the end of a hold is decided in one place
// SPDX-License-Identifier: BSL-1.0
#include <algorithm>
#include <chrono>
#include <new>
#include <string_view>
#include <utility>

#include "locks/coordinator/idle_hold.hpp"
#include "locks/coordinator/immediate.hpp"

namespace latchkey::inline v1::detail {

using std::chrono::milliseconds;
using Expiry = RemoteHold::Retention::Expiry;
using Presence = RemoteHold::Presence;
using Stage = RemoteHold::Stage;

namespace {

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

}  // namespace

void Coordinator::unlock(Call& call, EventContext& event) {
  event_ = &event;
  call.kind = Call::Kind::release;
  RemoteHold* newest = nullptr;  // an owner that lost a hold may hold anew: that is unlocked first
  for (RemoteHold* hold = holds_.held_by(call.owner); hold != nullptr;
       hold = HoldTable::next_of_owner(*hold)) {
    if (hold->locks.of(call.type) > 0) newest = hold;
  }
  if (newest == nullptr) {
    answer(call, Answer::not_owner);
  } else {
    --newest->locks.of(call.type);
    newest->drop_watchdogs(1);  // the watchdog renews every lock()
    drop_local_hold(*newest, Clock::time_point::min(), &call);
  }
  end_revocations_if_unused();
}

void Coordinator::release(RemoteHold& hold, LockType type, bool watched,
                          Clock::time_point retain_until, Call* call, EventContext& event,
                          HoldLimits::Number limit) {
  event_ = &event;
  if (call != nullptr) call->kind = Call::Kind::release;
  const bool shortened = limit != 0 && end_limit(hold, limit);
  --hold.holds.of(type);
  --shard_->hold_objects;
  if (watched) hold.drop_watchdogs(1);
  const bool goes_on = hold.local_holds() > 0 || hold.joiners > 0;
  if (shortened && goes_on && hold.watchdogs > 0) renew_soon(hold, settings().watchdog);
  drop_local_hold(hold, retain_until, call);
  end_revocations_if_unused();
}

// The limit is over, but what it has done stays known. Returns whether it may have made the lease
// at the backend shorter.
bool Coordinator::end_limit(RemoteHold& hold, HoldLimits::Number limit) {
  const bool lost = hold.is_lost(now());
  if (lost && hold.is_held_too_long(now())) hold.note_held_too_long();
  const bool shortened = hold.ends_at_limit() || hold.check.in_flight();
  hold.limits.remove(limit);
  if (lost) return false;
  if (hold.joined == nullptr) return shortened;
  // If a thread has seen the limit pass, its hold is lost.
  static_cast<void>(
      hold.deadline.move(std::min(hold.joined->deadline_point(), hold.limits.earliest())));
  return false;
}

// The hold at the backend ends with the last local hold.
void Coordinator::drop_local_hold(RemoteHold& hold, Clock::time_point retain_until, Call* call) {
  probes::released(key.view(), hold);
  retain_until = std::max(retain_until, hold.retention.asked_until);
  const bool lingers = retain_until > now();
  if (call != nullptr && !lingers && answer_at_once(hold, *call)) return;
  const bool lost = hold.is_lost(now());
  if (hold.local_holds() > 0) return drop_one_of_several(hold, lost, call);
  if (!lost && !lingers && hand_over(hold, call)) return;
  if (lost) retain_until = hold.retention.asked_until;  // by another owner, who had not lost it
  if (!hold.is_shared_by_owners()) {
    if (!lingers && IdleHold::keep(*this, hold, call)) return;
    return end_local_holds(hold, retain_until, call);
  }
  RemoteHold* const last = leave_shared(hold, retain_until, call);
  if (last == nullptr) return dispatch_waiters();  // those that are left may all be lost
  if (IdleHold::keep(*this, *last, call)) return;
  end_local_holds(*last, last->retention.asked_until, call);
}

// Nobody of this process holds it any more.
void Coordinator::end_local_holds(RemoteHold& hold, Clock::time_point retain_until, Call* call) {
  const bool lost = hold.is_lost(now());
  const bool lingers = retain_until > now();
  // A renewal that fails becomes an acquire, which must not join it.
  holds_.end_joining(hold);
  if (lost) {
    declare_lost(hold, "its lease ended");
    if (call != nullptr) answer_lost(*std::exchange(call, nullptr), hold);
  }
  if (hold.downgrade_waiter != nullptr && !hold.check.in_flight(Verb::downgrade)) {
    // The downgrade for the READs is not needed: they have ended as well.
    answer(*std::exchange(hold.downgrade_waiter, nullptr), Answer::granted);
  }
  if (!hold.renewals.empty()) fail_renewals(hold);
  if (lingers && (!lost || hold.held_too_long)) {
    retain(hold, retain_until, call);
  } else {
    ask_for_others(hold);
    start_release(hold, call);
    dispatch_waiters();
  }
  unsubscribe_if_unused();
}

bool Coordinator::answer_at_once(RemoteHold& hold, Call& call) {
  if (event_->immediate == nullptr || hold.local_holds() > 0) return false;
  Outcome outcome;
  if (!end_at_once(hold, *event_->immediate, now(), outcome)) return false;
  if (outcome.kind == Outcome::Kind::granted) {
    if (reports(Event::Kind::released)) report(Event::Kind::released, hold);
    answer(call, Answer::granted);
    holds_.erase_held(hold);
  } else {
    holds_.set_releasing(hold);
    hold.release_waiter = &call;
    hold.check.due_at = Clock::never();
    on_release_reply(hold, outcome);
  }
  return true;
}

void Coordinator::drop_one_of_several(RemoteHold& hold, bool lost, Call* call) {
  const bool write_ended = hold.exclusive_holds() == 0 && hold.type == LockType::WRITE;
  if (write_ended && !lost && !hold.awaits_downgrade()) {
    hold.downgrade = RemoteHold::Downgrade::wanted;
    hold.downgrade_waiter = call;
    return send_downgrade(hold);
  }
  if (!lost && hold.at_backend().watchdogs == 0) bring_check_forward(hold.at_backend());
  if (call == nullptr) return;
  lost ? answer_lost(*call, hold) : answer(*call, Answer::granted);
}

// The key stays locked although nobody holds it. The hold is released at `until`, and the backend
// lets it end by itself in case this process is gone by then. One that was held too long is kept by
// the backend for longer than its deadline says, which is its limit.
void Coordinator::retain(RemoteHold& hold, Clock::time_point until, Call* call) {
  holds_.set_retained(hold);
  hold.retention.asked_until = until;
  hold.retention.until = hold.held_too_long ? until : std::min(until, hold.deadline_point());
  holds_.due_by(hold.retention.until);
  send_expire(hold);
  hold.release_waiter = call;
  const bool waits = hold.check.in_flight() && settings().expires;
  if (!waits) answer_retained(hold, Answer::granted);
}

// The caller waits until the backend knows when the hold ends, because its process may end then.
void Coordinator::answer_retained(RemoteHold& hold, Answer result) {
  Call* const call = std::exchange(hold.release_waiter, nullptr);
  if (call == nullptr) return;
  result == Answer::lost ? answer_lost(*call, hold) : answer(*call, result);
}

// A check in flight is answered first. A hold that may be a WRITE or a READ keeps its lease. One
// that was taken over with a shorter lease than its call asked for is renewed first.
void Coordinator::send_expire(RemoteHold& hold) {
  if (hold.check.in_flight() || hold.type_is_unsure()) return;
  const Clock::time_point asked_until = hold.retention.asked_until;
  if (hold.check.wanted.count() > 0 && asked_until > hold.deadline_point()) {
    const milliseconds wanted = std::exchange(hold.check.wanted, milliseconds(0));
    return send_check(hold, Verb::renew, std::min(wanted, lease_until(asked_until, now())));
  }
  if (!settings().expires) return;
  const auto left = std::chrono::ceil<milliseconds>(hold.retention.until - now());
  if (left.count() <= 0) return;
  send_check(hold, Verb::expire, left);
  hold.retention.expiry = hold.check.in_flight() ? Expiry::requested : Expiry::unset;
}

void Coordinator::on_expire_reply(RemoteHold& hold, const Outcome& outcome) {
  const bool granted = outcome.kind == Outcome::Kind::granted;
  if (hold.retention.expiry == Expiry::unset) {  // the reply was to another check
    const bool renewed = granted && hold.check.request.verb == Verb::renew;
    if (renewed && hold.move_deadline_by_check()) {
      const auto until = std::min(hold.retention.asked_until, hold.deadline_point());
      hold.retention.until = std::max(hold.retention.until, until);
    }
    send_expire(hold);
  }
  if (hold.check.in_flight()) return;
  if (hold.retention.expiry == Expiry::requested && granted) {
    hold.retention.expiry = Expiry::confirmed;
  }
  if (outcome.kind != Outcome::Kind::gone) return answer_retained(hold, Answer::granted);
  hold.presence = Presence::gone;
  declare_lost(hold, "the backend no longer had it when it was released");
  answer_retained(hold, Answer::lost);
  start_release(hold, nullptr);
  dispatch_waiters();
}

void Coordinator::start_release(RemoteHold& hold, Call* call, Clock::time_point asked) {
  holds_.set_releasing(hold);
  hold.release_waiter = call;
  hold.check.due_at = Clock::never();
  if (hold.presence != Presence::possible) return erase_if_done(hold);
  send_release(hold, asked);
}

void Coordinator::send_release(RemoteHold& hold, Clock::time_point asked) {
  if (hold.release.in_flight()) return;
  if (!can_submit()) {
    hold.release.repeat_at = later(now(), repeat_pause);
    return holds_.due_by(hold.release.repeat_at);
  }
  hold.release.request.queues =
      hold.acquire.request.queues && is_raced_for(hold.type) && !hold.was_held();
  const bool in_line = hold.place.number != 0 && hold.type != LockType::PERMIT;
  const bool queued =
      (hold.type == LockType::FAIR || hold.release.request.queues || in_line) && !hold.was_held();
  const bool unsure = hold.type_is_unsure() || may_be_write_again(hold);
  prepare(hold.release.request, queued || unsure ? Verb::leave : Verb::release, hold, now());
  if (unsure) hold.release.request.type = LockType::WRITE;
  if (asked != Clock::time_point{}) hold.release.request.sent = asked;
  // If no call waits for the outcome, the timer thread drives the backend for it, as long as
  // something is due.
  hold.release.start(hold.release_waiter != nullptr ? Clock::never() : later(now(), repeat_pause));
  holds_.due_by(hold.release.repeat_at);
  submit(hold.release.request);
}

void Coordinator::on_release_reply(RemoteHold& hold, Outcome& outcome) {
  const bool again = hold.release.end();
  const bool confirmed =
      outcome.kind == Outcome::Kind::granted || outcome.kind == Outcome::Kind::gone;
  if (confirmed) hold.presence = Presence::released;
  if (confirmed && hold.has_expired(now())) outcome.kind = Outcome::Kind::granted;
  note_others(hold, outcome);
  if (hold.stage == Stage::held) return;  // the Locks were closed while it was held
  if (hold.was_held()) report_end(hold, outcome);
  if (hold.downgrade_waiter != nullptr && !hold.check.in_flight(Verb::downgrade)) {
    answer_release(*std::exchange(hold.downgrade_waiter, nullptr), hold, outcome);
  }
  if (Call* const call = std::exchange(hold.release_waiter, nullptr)) {
    answer_release(*call, hold, outcome);
  }
  if (again) return send_release(hold);
  repeat_or_erase(hold, confirmed, outcome);
  dispatch_waiters();
}

// A copy of an unanswered attempt may run after this release, unless the backend keeps the order.
void Coordinator::repeat_or_erase(RemoteHold& hold, bool confirmed, const Outcome& outcome) {
  const bool repeats = (!confirmed && !hold.never_ran()) || copy_may_run(hold);
  if (repeats && now() < hold.expires_at) {
    const milliseconds pause = hold.release.next_pause(outcome.never_ran && settings().pushes);
    hold.release.repeat_at = std::min(later(now(), pause), hold.expires_at);
    holds_.due_by(hold.release.repeat_at);
  }
  erase_if_done(hold);
}

void Coordinator::answer_release(Call& call, const RemoteHold& hold, const Outcome& outcome) {
  const Answer result = answer_of_release(outcome.kind);
  if (result == Answer::lost) return answer_lost(call, hold);
  if (result != Answer::granted) call.reason = std::string_view(outcome.reason);
  answer(call, result);
}

// Reports exactly one end of each hold: lost, released, or release unconfirmed. The release of an
// expired hold only wakes waiters, so nothing is wrong if it has no reply.
void Coordinator::report_end(RemoteHold& hold, const Outcome& outcome) {
  if (hold.end_reported || hold.is_marked_lost()) return;
  const bool gone = outcome.kind == Outcome::Kind::gone;
  if (gone && hold.release_waiter != nullptr) {
    return declare_lost(hold, "the backend no longer had it when it was released");
  }
  if (gone || outcome.kind == Outcome::Kind::granted || hold.has_expired(now())) {
    hold.end_reported = true;
    if (reports(Event::Kind::released)) report(Event::Kind::released, hold);
    return;
  }
  hold.end_reported = true;
  if (!reports(Event::Kind::release_unconfirmed) || hold.unreported) return;
  report(Event::Kind::release_unconfirmed, hold, outcome.reason);
  for (Call* const call : {hold.release_waiter, hold.downgrade_waiter}) {
    if (call != nullptr) call->failure_reported = true;
  }
}

void Coordinator::abandon(RemoteHold& claim) {
  claim.call = nullptr;
  holds_.set_releasing(claim);
  claim.acquire.poll_at = Clock::never();
  claim.may_be_at_backend() ? send_release(claim) : erase_if_done(claim);
}

void Coordinator::tick_release(RemoteHold& hold) {
  if (hold.stage == Stage::retained) {
    if (now() < hold.retention.until && (!hold.is_lost(now()) || hold.held_too_long)) return;
    answer_retained(hold, Answer::granted);
    start_release(hold, nullptr);
    return dispatch_waiters();
  }
  if (now() < hold.release.repeat_at) return;
  if (!hold.release.in_flight()) return send_release(hold);
  hold.release.repeat_at = later(now(), repeat_pause);
}

void Coordinator::leave(const Call& call, EventContext& event) {
  event_ = &event;
  holds_.for_each([&](RemoteHold& hold) {
    if (hold.downgrade_waiter == &call) hold.downgrade_waiter = nullptr;
    if (hold.release_waiter != &call) return;
    hold.release_waiter = nullptr;
    if (hold.release.in_flight()) hold.release.repeat_at = later(now(), repeat_pause);
    holds_.due_by(hold.due());
  });
}

// A release may be repeated for longer than anybody waits for a notification, so the subscription
// ends before the repetitions do.
void Coordinator::erase_if_done(RemoteHold& hold) {
  if (hold.stage != Stage::releasing || hold.local_holds() > 0) return;
  if (hold.has_request_in_flight()) return;
  if (hold.subscription.stage == Subscription::Stage::on) {
    return unsubscribe(hold.subscription);
  }
  if (hold.release.repeat_at == Clock::never() && hold.subscription.ended()) holds_.erase(hold);
}

// Nobody knows in which state the thread left what the lock guards. The key therefore stays locked
// until the lease ends, as if the whole process had ended.
void Coordinator::owner_ended(Owner owner, EventContext& event) {
  event_ = &event;
  holds_.for_each([&](RemoteHold& hold) {
    const std::uint32_t locks = hold.locks.total();
    if (hold.stage != Stage::held || hold.owner != owner || locks == 0) return;
    if (reports(Event::Kind::abandoned)) {
      report(Event::Kind::abandoned, hold, "its thread ended while it held by lock()");
    }
    hold.drop_watchdogs(locks);
    hold.locks = {};
    if (hold.local_holds() == 0) drop_local_hold(hold, hold.deadline_point(), nullptr);
  });
  end_revocations_if_unused();
}

void Coordinator::withdraw(RemoteHold& claim, EventContext& event) {
  event_ = &event;
  abandon(claim);
}

// --- the end ---

void Coordinator::end_holds(EventContext& event) {
  event_ = &event;
  holds_.for_each([&](RemoteHold& hold) { close(hold); });
  end_revocations_if_unused();
}

// A retained key whose end the backend knows stays locked for as long as was requested. The holder
// of a hold with a lock_delay may still be working, and releases it when it ends.
void Coordinator::close(RemoteHold& hold) {
  if (hold.stage == Stage::idle) return IdleHold::end(*this);
  if (hold.stage == Stage::retained) {
    answer_retained(hold, Answer::granted);
    if (hold.retention.expiry != Expiry::unset) hold.presence = Presence::gone;
    return start_release(hold, nullptr);
  }
  if (hold.stage != Stage::held || hold.presence != Presence::possible) return;
  if (hold.joined != nullptr) return;  // the hold that it has joined is closed, too
  declare_lost(hold, "its Locks were closed");
  if (!hold.is_left_to_expire()) send_release(hold);
}

void Coordinator::inherit() noexcept {
  holds_.for_each([](RemoteHold& hold) {
    hold.inherited.store(true, std::memory_order_relaxed);
    hold.lost.store(true, std::memory_order_relaxed);
  });
}

void Coordinator::reset() noexcept {
  due_at = Clock::never();
  holds_.end_plain();
  holds_.reset_due();
  end_silence();
  unattended_due_ = Clock::never();
  busy_at_ = {};
  yielding_ = {};
  grants_unused_until_ = Clock::never();
  grants_refused_until_ = {};
  no_permits_until_ = {};
}

// --- requests to release ---

void Coordinator::subscribe_to_revocations() {
  if (revocations_.stage != Subscription::Stage::off) return;
  revocations_.request.revocations = true;
  send_subscribe(revocations_, nullptr, LockType::REENTRANT, HoldId{settings().space, 0});
}

void Coordinator::listen_for_revocation(RemoteHold& hold, EventContext& event) {
  event_ = &event;
  if (hold.stage != Stage::held || hold.listens.load(std::memory_order_relaxed)) return;
  subscribe_to_revocations();
  // Without memory for the request the next question tries again.
  const bool sent = revocations_.stage != Subscription::Stage::off;
  hold.listens.store(sent, std::memory_order_release);
}

bool Coordinator::is_listened_to() {
  bool any = false;
  holds_.for_each([&](const RemoteHold& hold) {
    any = any || (hold.stage == Stage::held && hold.local_holds() > 0 &&
                  hold.listens.load(std::memory_order_relaxed));
  });
  return any;
}

// A subscribe without a reply may have run, and the backend subscribes anew with each connection:
// it counts as a subscription. One that was refused leaves the holder without revocations.
void Coordinator::on_revocations_reply(bool subscribing, const Outcome& outcome) {
  Subscription& subscription = revocations_;
  if (!subscribing && outcome.never_ran) return retry_unsubscribe(subscription);
  const bool refused = outcome.never_ran || outcome.kind == Outcome::Kind::refused;
  subscription.stage = subscribing && !refused ? Subscription::Stage::on : Subscription::Stage::off;
  if (subscribing) return end_revocations_if_unused();
  if (is_listened_to()) subscribe_to_revocations();
}

// A request to release is for those who hold now. Later holders, to whom the lock is not handed on
// within the process, know nothing of it.
void Coordinator::on_revoked() {
  holds_.for_each([&](RemoteHold& hold) {
    if (hold.stage != Stage::held || hold.is_lost(now())) return;
    if (hold.revoked.load(std::memory_order_relaxed)) return;
    if (hold.revocation.stop_possible()) {
      try {
        event_->out.effects_for_others().stops.push_back(hold.revocation);
      } catch (const std::bad_alloc&) {
        return;  // the request is not heard
      }
    }
    hold.revoked.store(true, std::memory_order_release);
    const bool is_held = hold.local_holds() > 0;
    if (is_held && reports(Event::Kind::revoked)) report(Event::Kind::revoked, hold);
  });
}

}  // namespace latchkey::inline v1::detail
