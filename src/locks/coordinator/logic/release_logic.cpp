// The decisions about releasing a lock.
// SPDX-License-Identifier: BSL-1.0
#include "locks/coordinator/logic/release_logic.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "locks/coordinator/logic/acquire_logic.hpp"
#include "locks/coordinator/logic/downgrade_logic.hpp"
#include "locks/coordinator/logic/hand_off_logic.hpp"
#include "locks/coordinator/logic/immediate_logic.hpp"
#include "locks/coordinator/logic/join_logic.hpp"
#include "locks/coordinator/logic/lease_logic.hpp"
#include "locks/coordinator/logic/subscription_logic.hpp"
#include "locks/coordinator/logic/yield_logic.hpp"

namespace latchkey::inline v1::detail {

using std::chrono::milliseconds;
using Expiry = RemoteHold::Expiry;
using Presence = RemoteHold::Presence;
using Stage = RemoteHold::Stage;

void ReleaseLogic::unlock(Call& call) {
  call.kind = Call::Kind::release;
  const int mode = is_shared(call.type) ? 1 : 0;
  RemoteHold* newest = nullptr;  // an owner that lost a hold may hold anew: that is unlocked first
  for (RemoteHold* hold = state_.holds.held_by(call.owner); hold != nullptr;
       hold = HoldTable::next_of_owner(*hold)) {
    if (hold->locks[mode] > 0) newest = hold;
  }
  if (newest == nullptr) return answer(call, Answer::not_owner);
  --newest->locks[mode];
  drop_watchdogs(*newest, 1);  // the watchdog renews every lock()
  drop_local_hold(*newest, Clock::time_point::min(), &call);
}

void ReleaseLogic::release(RemoteHold& hold, LockType type, bool watched,
                           Clock::time_point retain_until, Call* call, HoldLimits::Number limit) {
  if (call != nullptr) call->kind = Call::Kind::release;
  const bool shortened = limit != 0 && end_limit(hold, limit);
  --hold.holds[is_shared(type) ? 1 : 0];
  --shard().hold_objects;
  if (watched) drop_watchdogs(hold, 1);
  const bool goes_on = hold.local_holds() > 0 || hold.joiners > 0;
  if (shortened && goes_on && hold.watchdogs > 0) {
    LeaseLogic(*this).renew_soon(hold, settings().watchdog);
  }
  drop_local_hold(hold, retain_until, call);
}

// The limit is over, but what it has done stays known. Returns whether it may have made the lease
// at the backend shorter.
bool ReleaseLogic::end_limit(RemoteHold& hold, HoldLimits::Number limit) {
  const bool lost = hold.is_lost(now());
  if (lost && hold.is_held_too_long(now())) LeaseLogic::note_held_too_long(hold);
  const bool shortened = hold.ends_at_limit() || hold.check_request.in_flight;
  hold.limits.remove(limit);
  return shortened && !lost && hold.joined == nullptr;
}

// The hold at the backend ends with the last local hold.
void ReleaseLogic::drop_local_hold(RemoteHold& hold, Clock::time_point retain_until, Call* call) {
  probes::released(state_.key.view(), hold);
  retain_until = std::max(retain_until, hold.keep_until);
  const bool lingers = retain_until > now();
  if (call != nullptr && !lingers && release_at_once(hold, *call)) return;
  const bool lost = hold.is_lost(now());
  if (hold.local_holds() > 0) return drop_one_of_several(hold, lost, call);
  if (!lost && !lingers && HandOffLogic(*this).hand_over(hold, call)) return;
  if (!hold.is_shared_by_owners()) return end_local_holds(hold, retain_until, call);
  RemoteHold* const last = JoinLogic(*this).leave(hold, retain_until, call);
  if (last != nullptr) end_local_holds(*last, last->keep_until, call);
}

void ReleaseLogic::drop_watchdogs(RemoteHold& hold, std::uint32_t count) noexcept {
  hold.watchdogs -= count;
  const bool renewed_for_it = hold.joined != nullptr && !hold.held_too_long;
  if (renewed_for_it) hold.joined->watchdogs -= count;
}

// Nobody of this process holds it any more.
void ReleaseLogic::end_local_holds(RemoteHold& hold, Clock::time_point retain_until, Call* call) {
  const bool lost = hold.is_lost(now());
  const bool lingers = retain_until > now();
  // A renewal that fails becomes an acquire, which must not join it.
  state_.holds.end_joining(hold);
  if (lost) {
    LeaseLogic(*this).declare_lost(hold, "its lease ended");
    if (call != nullptr) answer_lost(*std::exchange(call, nullptr), hold);
  }
  if (hold.downgrade_waiter != nullptr && !hold.downgrade_in_flight()) {
    // The downgrade for the READs is not needed: they have ended as well.
    answer(*std::exchange(hold.downgrade_waiter, nullptr), Answer::granted);
  }
  if (!hold.renewals.empty()) LeaseLogic(*this).fail_renewals(hold);
  if (!lost && lingers) return retain(hold, retain_until, call);
  YieldLogic(*this).before_release(hold);
  end(hold, call);
  AcquireLogic(*this).dispatch_waiters();
  SubscriptionLogic(*this).unsubscribe_if_unused();
}

bool ReleaseLogic::release_at_once(RemoteHold& hold, Call& call) {
  if (context_.immediate == nullptr || hold.local_holds() > 0) return false;
  Outcome outcome;
  if (!ImmediateLogic(home_, *context_.immediate, now()).release(hold, outcome)) return false;
  if (outcome.kind == Outcome::Kind::granted) {
    if (reports(Event::Kind::released)) report(Event::Kind::released, hold);
    answer(call, Answer::granted);
    state_.holds.erase_held(hold);
  } else {
    state_.holds.set_releasing(hold);
    hold.release_waiter = &call;
    hold.check_at = Clock::never();
    on_release_reply(hold, outcome);
  }
  return true;
}

void ReleaseLogic::drop_one_of_several(RemoteHold& hold, bool lost, Call* call) {
  const bool write_ended = hold.exclusive_holds() == 0 && hold.type == LockType::WRITE;
  if (write_ended && !lost && !hold.awaits_downgrade()) {
    hold.downgrade = RemoteHold::Downgrade::wanted;
    hold.downgrade_waiter = call;
    return DowngradeLogic(*this).send(hold);
  }
  if (call == nullptr) return;
  lost ? answer_lost(*call, hold) : answer(*call, Answer::granted);
}

// The key stays locked although nobody holds it. The hold is released at `until`, and the backend
// lets it end by itself in case this process is gone by then.
void ReleaseLogic::retain(RemoteHold& hold, Clock::time_point until, Call* call) {
  state_.holds.set_retained(hold);
  hold.retain_until = std::min(until, hold.deadline_point());
  state_.holds.due_by(hold.retain_until);
  send_expire(hold);
  hold.release_waiter = call;
  const bool waits = hold.check_request.in_flight && settings().expires;
  if (!waits) answer_retained(hold, Answer::granted);
}

// The caller waits until the backend knows when the hold ends, because its process may end then.
void ReleaseLogic::answer_retained(RemoteHold& hold, Answer result) {
  Call* const call = std::exchange(hold.release_waiter, nullptr);
  if (call == nullptr) return;
  result == Answer::lost ? answer_lost(*call, hold) : answer(*call, result);
}

// A check in flight is answered first. A hold that may be a WRITE or a READ keeps its lease.
void ReleaseLogic::send_expire(RemoteHold& hold) {
  if (!settings().expires || hold.check_request.in_flight || hold.type_is_unsure()) return;
  const auto left = std::chrono::ceil<milliseconds>(hold.retain_until - now());
  if (left.count() <= 0) return;
  LeaseLogic(*this).send_check(hold, Verb::expire, left);
  hold.expiry = hold.check_request.in_flight ? Expiry::requested : Expiry::unset;
}

void ReleaseLogic::on_expire_reply(RemoteHold& hold, const Outcome& outcome) {
  if (hold.expiry == Expiry::unset) send_expire(hold);  // the reply was to a renewal
  if (hold.check_request.in_flight) return;
  if (hold.expiry == Expiry::requested && outcome.kind == Outcome::Kind::granted) {
    hold.expiry = Expiry::confirmed;
  }
  if (outcome.kind != Outcome::Kind::gone) return answer_retained(hold, Answer::granted);
  hold.presence = Presence::gone;
  LeaseLogic(*this).declare_lost(hold, "the backend no longer had it when it was released");
  answer_retained(hold, Answer::lost);
  end(hold, nullptr);
  AcquireLogic(*this).dispatch_waiters();
}

void ReleaseLogic::end(RemoteHold& hold, Call* call) {
  state_.holds.set_releasing(hold);
  hold.release_waiter = call;
  hold.check_at = Clock::never();
  if (hold.presence != Presence::possible) return erase_if_done(hold);
  send_release(hold);
}

void ReleaseLogic::send_release(RemoteHold& hold) {
  if (hold.release_request.in_flight) return;
  if (!can_submit()) {
    hold.repeat_at = later(now(), repeat_pause);
    return state_.holds.due_by(hold.repeat_at);
  }
  hold.release_request.queues =
      hold.acquire_request.queues && is_raced_for(hold.type) && !hold.was_held();
  const bool in_line = hold.place != 0 && hold.type != LockType::PERMIT;
  const bool queued =
      (hold.type == LockType::FAIR || hold.release_request.queues || in_line) && !hold.was_held();
  const bool unsure = hold.type_is_unsure() || may_be_write_again(hold);
  prepare(hold.release_request, queued || unsure ? Verb::leave : Verb::release, hold);
  if (unsure) hold.release_request.type = LockType::WRITE;
  hold.release_request.in_flight = true;
  // If no call waits for the outcome, the timer thread drives the backend for it, as long as
  // something is due.
  hold.repeat_at = hold.release_waiter != nullptr ? Clock::never() : later(now(), repeat_pause);
  state_.holds.due_by(hold.repeat_at);
  submit(hold.release_request);
}

void ReleaseLogic::on_release_reply(RemoteHold& hold, Outcome& outcome) {
  hold.release_request.in_flight = false;
  hold.repeat_at = Clock::never();
  const bool confirmed =
      outcome.kind == Outcome::Kind::granted || outcome.kind == Outcome::Kind::gone;
  if (confirmed) hold.presence = Presence::released;
  YieldLogic(*this).on_release_reply(hold, outcome);
  if (hold.stage == Stage::held) return;  // the Locks were closed while it was held
  if (hold.was_held()) report_end(hold, outcome);
  if (hold.downgrade_waiter != nullptr && !hold.downgrade_in_flight()) {
    answer_release(*std::exchange(hold.downgrade_waiter, nullptr), hold, outcome);
  }
  if (Call* const call = std::exchange(hold.release_waiter, nullptr)) {
    answer_release(*call, hold, outcome);
  }
  if (std::exchange(hold.release_again, false)) return send_release(hold);
  repeat_or_erase(hold, confirmed, outcome);
  AcquireLogic(*this).dispatch_waiters();
}

// A copy of an unanswered attempt may run after this release, unless the backend keeps the order.
void ReleaseLogic::repeat_or_erase(RemoteHold& hold, bool confirmed, const Outcome& outcome) {
  const bool repeats = (!confirmed && !hold.never_ran()) || copy_may_run(hold);
  if (repeats && now() < hold.expires_at) {
    const milliseconds pause = hold.next_repeat_pause(outcome.never_ran && settings().pushes);
    hold.repeat_at = std::min(later(now(), pause), hold.expires_at);
    state_.holds.due_by(hold.repeat_at);
  }
  erase_if_done(hold);
}

// Reports exactly one end of each hold: lost, released, or release unconfirmed. The release of an
// expired hold only wakes waiters, so nothing is wrong if it has no reply.
void ReleaseLogic::report_end(RemoteHold& hold, const Outcome& outcome) {
  if (hold.end_reported || hold.is_marked_lost()) return;
  const bool gone = outcome.kind == Outcome::Kind::gone;
  if (gone && hold.release_waiter != nullptr) {
    return LeaseLogic(*this).declare_lost(hold,
                                          "the backend no longer had it when it was released");
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

void ReleaseLogic::abandon(RemoteHold& claim) {
  claim.call = nullptr;
  state_.holds.set_releasing(claim);
  claim.poll_at = Clock::never();
  claim.may_be_at_backend() ? send_release(claim) : erase_if_done(claim);
}

void ReleaseLogic::tick(RemoteHold& hold) {
  if (hold.stage == Stage::retained) {
    if (now() < hold.retain_until && !hold.is_lost(now())) return;
    answer_retained(hold, Answer::granted);
    end(hold, nullptr);
    return AcquireLogic(*this).dispatch_waiters();
  }
  if (now() < hold.repeat_at) return;
  if (!hold.release_request.in_flight) return send_release(hold);
  hold.repeat_at = later(now(), repeat_pause);
}

void ReleaseLogic::leave(const Call& call) {
  state_.holds.for_each([&](RemoteHold& hold) {
    if (hold.downgrade_waiter == &call) hold.downgrade_waiter = nullptr;
    if (hold.release_waiter != &call) return;
    hold.release_waiter = nullptr;
    if (hold.release_request.in_flight) hold.repeat_at = later(now(), repeat_pause);
    state_.holds.due_by(hold.due());
  });
}

// A release may be repeated for longer than anybody waits for a notification, so the subscription
// ends before the repetitions do.
void ReleaseLogic::erase_if_done(RemoteHold& hold) {
  if (hold.stage != Stage::releasing || hold.local_holds() > 0) return;
  if (hold.has_request_in_flight()) return;
  if (hold.subscription.stage == Subscription::Stage::on) {
    return SubscriptionLogic(*this).unsubscribe(hold.subscription);
  }
  if (hold.repeat_at == Clock::never() && hold.subscription.ended()) state_.holds.erase(hold);
}

// Nobody knows in which state the thread left what the lock guards. The key therefore stays locked
// until the lease ends, as if the whole process had ended.
void ReleaseLogic::owner_ended(Owner owner) {
  state_.holds.for_each([&](RemoteHold& hold) {
    const std::uint32_t locks = hold.locks[0] + hold.locks[1];
    if (hold.stage != Stage::held || hold.owner != owner || locks == 0) return;
    if (reports(Event::Kind::abandoned)) {
      report(Event::Kind::abandoned, hold, "its thread ended while it held by lock()");
    }
    drop_watchdogs(hold, locks);
    hold.locks[0] = hold.locks[1] = 0;
    if (hold.local_holds() == 0) drop_local_hold(hold, hold.deadline_point(), nullptr);
  });
}

// A retained key whose end the backend knows stays locked for as long as was requested. The holder
// of a hold with a lock_delay may still be working, and releases it when it ends.
void ReleaseLogic::close(RemoteHold& hold) {
  if (hold.stage == Stage::retained) {
    answer_retained(hold, Answer::granted);
    if (hold.expiry != Expiry::unset) hold.presence = Presence::gone;
    return end(hold, nullptr);
  }
  if (hold.stage != Stage::held || hold.presence != Presence::possible) return;
  if (hold.joined != nullptr) return;  // the hold that it has joined is closed, too
  LeaseLogic(*this).declare_lost(hold, "its Locks were closed");
  if (!hold.is_left_to_expire()) send_release(hold);
}

}  // namespace latchkey::inline v1::detail
// tidy: long-file because the end of a hold is decided in one place
