// The decisions about the lease of a hold.
// SPDX-License-Identifier: BSL-1.0
#include "locks/coordinator/logic/lease_logic.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "locks/coordinator/logic/acquire_logic.hpp"
#include "locks/coordinator/logic/downgrade_logic.hpp"
#include "locks/coordinator/logic/join_logic.hpp"
#include "locks/coordinator/logic/release_logic.hpp"
#include "locks/coordinator/logic/subscription_logic.hpp"

namespace latchkey::inline v1::detail {

using std::chrono::milliseconds;
using Presence = RemoteHold::Presence;
using Stage = RemoteHold::Stage;
using Watch = RemoteHold::Watch;

void LeaseLogic::extend(RemoteHold& hold, milliseconds lease, Call& call) {
  call.kind = Call::Kind::extend;
  if (hold.stage != Stage::held || hold.is_lost(now())) return answer(call, Answer::lost);
  const bool is_beyond = later(now(), lease) > hold.limits.earliest();
  if (is_beyond && !call.up_to_limit) return answer(call, Answer::too_long);
  call.want = lease;
  wait_for_renewal(call, hold);
}

void LeaseLogic::wait_for_renewal(Call& call, RemoteHold& hold) {
  RemoteHold& renewed = hold.at_backend();
  call.hold = &hold;
  call.list = &renewed.renewals;
  call.silent_since = now();
  renewed.renewals.push_back(call);
  renew(renewed, call.want);
  set_alarm(call);
  wake(call);  // from here on its thread drives
}

// A renewal that brings a longer lock_delay is for no shorter a lease than is left.
bool LeaseLogic::suffices_for(Call& call, RemoteHold& hold) {
  call.want = length_of(call.lease);
  const milliseconds wanted = delay_of(call.lease);
  RemoteHold& renewed = hold.at_backend();
  if (wanted <= renewed.delay_in_force) {
    return hold.watchdogs > 0 || two_thirds_remain(hold, call.want);
  }
  renewed.delay = std::max(renewed.delay, wanted);
  const milliseconds left = lease_until(renewed.deadline_point(), now());
  call.want = std::max(call.want, settings().offered_lease(left));
  return false;
}

// A hold has at most one check in flight: a renewal that is wanted meanwhile is sent after its
// reply. It takes the place of the watchdog's next renewal, so it requests no less. A hold that is
// being downgraded is renewed when it is surely a READ: until then the backend may have no hold of
// the type that a renewal names.
void LeaseLogic::renew(RemoteHold& hold, milliseconds lease) {
  if (hold.watchdogs > 0) lease = std::max(lease, settings().watchdog);
  if (!hold.check_request.in_flight && !hold.awaits_downgrade()) {
    return send_check(hold, Verb::renew, lease);
  }
  hold.wanted = std::max(hold.wanted, lease);
  if (!hold.check_request.in_flight) DowngradeLogic(*this).send(hold);
}

void LeaseLogic::renew_soon(RemoteHold& hold, milliseconds lease) {
  constexpr Clock::duration most = milliseconds(50);
  const Clock::duration pause = std::min(most, (hold.deadline_point() - now()) / 4);
  hold.wanted = std::max(hold.wanted, lease);
  hold.check_at = std::min(hold.check_at, later(now(), pause));
  state_.holds.due_by(hold.check_at);
}

void LeaseLogic::renew_soon_for(const Call& call, RemoteHold& hold) {
  const milliseconds wanted = length_of(call.lease);
  if (!two_thirds_remain(hold, wanted)) renew_soon(hold, wanted);
}

void LeaseLogic::check(RemoteHold& hold) {
  if (hold.awaits_downgrade()) return DowngradeLogic(*this).send(hold);
  const bool watched = hold.watchdogs > 0;
  const milliseconds period = hold.period(settings().watchdog);
  if (hold.wanted.count() > 0) {
    const milliseconds lease = std::exchange(hold.wanted, milliseconds(0));
    return send_check(hold, Verb::renew, watched ? std::max(lease, period) : lease);
  }
  if (watched || hold.pins > 0) return send_check(hold, Verb::renew, period);
  send_check(hold, Verb::verify, milliseconds(0));
}

void LeaseLogic::send_check(RemoteHold& hold, Verb verb, milliseconds lease) {
  if (!can_submit()) {
    if (verb == Verb::renew) hold.wanted = std::max(hold.wanted, lease);
    hold.check_at = later(now(), repeat_pause);
    return state_.holds.due_by(hold.check_at);
  }
  if (hold.has_limit()) keep_to_limit(hold, verb, lease);
  prepare(hold.check_request, verb, hold);
  const bool leases = verb == Verb::renew || verb == Verb::downgrade;
  hold.check_request.lock_delay = leases ? hold.delay : milliseconds(0);
  hold.check_request.lease = lease + hold.check_request.lock_delay;
  hold.check_request.in_flight = true;
  ask_to_watch(hold);
  hold.check_was_due = std::min(hold.check_at, hold.check_request.sent);
  hold.expires_at =
      std::max(hold.expires_at, later(hold.check_request.sent, hold.check_request.lease));
  hold.check_at = Clock::never();
  if (state_.holds.due() <= now()) state_.find_due();  // the due time was this check's
  submit(hold.check_request);
}

void LeaseLogic::ask_to_watch(RemoteHold& hold) {
  const bool follows_change = hold.watch == Watch::changed;
  hold.check_request.watch = can_be_watched(hold) && hold.stage == Stage::held && !follows_change &&
                             is_old_enough_to_watch(hold, now());
  hold.watch = hold.check_request.watch ? Watch::on : Watch::off;
}

// The last renewal brings the deadline to the limit. From then on the hold is only verified. One
// that brings a longer lock_delay to the backend is for no less than the deadline, after which the
// lock_delay begins.
void LeaseLogic::keep_to_limit(const RemoteHold& hold, Verb& verb, milliseconds& lease) {
  if (verb == Verb::renew && hold.ends_at_limit() && hold.has_whole_delay()) {
    verb = Verb::verify;
    lease = milliseconds(0);
  } else if (verb == Verb::renew || verb == Verb::downgrade) {
    Clock::time_point end = std::max(hold.limits.earliest(), now());
    if (!hold.has_whole_delay()) end = std::max(end, hold.deadline_point());
    lease = std::min(lease, settings().offered_lease(lease_until(end, now())));
  }
}

void LeaseLogic::on_check_reply(RemoteHold& hold, Outcome& outcome) {
  hold.check_request.in_flight = false;
  if (hold.check_request.verb == Verb::downgrade)
    return DowngradeLogic(*this).on_reply(hold, outcome);
  if (hold.stage == Stage::retained) return ReleaseLogic(*this).on_expire_reply(hold, outcome);
  if (hold.stage != Stage::held) return ReleaseLogic(*this).erase_if_done(hold);
  if (hold.is_marked_lost()) return;
  if (outcome.kind == Outcome::Kind::gone) {
    if (!may_be_write_again(hold)) hold.presence = Presence::gone;
    return declare_lost(hold, "the backend no longer had it");
  }
  const bool granted = outcome.kind == Outcome::Kind::granted;
  // A reply after the deadline changes nothing: `lost()` may have returned true already.
  if (granted && (now() >= hold.deadline_point() || !on_renewed(hold))) {
    return declare_lost(hold, lost_before_renewal);
  }
  if (!granted) retry_check(hold);
  state_.holds.due_by(hold.check_at);
  answer_renewals(hold, outcome);
  DowngradeLogic(*this).cancel_if_reentered(hold);
  if (granted) check_if_asked_again(hold);
}

void LeaseLogic::check_if_asked_again(RemoteHold& hold) {
  const bool changed = hold.watch == Watch::changed;
  if (changed || hold.wanted.count() > 0 || hold.awaits_downgrade()) check(hold);
}

// Moves the deadline. False: a thread has seen it pass since the time of this event was read.
bool LeaseLogic::on_renewed(RemoteHold& hold) {
  if (hold.check_request.verb == Verb::renew) {
    if (!hold.move_deadline_by_check()) return false;
    if (hold.joiners > 0) JoinLogic(*this).on_renewed(hold);
    if (reports(Event::Kind::renewed)) report(Event::Kind::renewed, hold);
  }
  hold.check_at = next_check(hold, hold.check_request.sent);
  return true;
}

// A failed renewal that no call waits for stays wanted: otherwise the hold would end with the
// shorter lease that it was granted for.
void LeaseLogic::retry_check(RemoteHold& hold) {
  constexpr Clock::duration least = milliseconds(10);
  constexpr Clock::duration most = std::chrono::seconds(1);
  if (hold.check_request.verb == Verb::renew && hold.renewals.empty()) {
    hold.wanted = std::max(hold.wanted, hold.check_request.lease_of_holder());
  }
  hold.check_at = later(now(), std::clamp(check_interval(hold) / 10, least, most));
}

void LeaseLogic::answer_renewals(RemoteHold& hold, const Outcome& outcome) {
  for (Call* call = hold.renewals.first(); call != nullptr;) {
    Call& waiting = *std::exchange(call, call->next);
    if (!answer_renewal(waiting, hold, outcome)) set_alarm(waiting);
  }
}

// A call is answered by a renewal that requested enough, and the whole lock_delay. False: the call
// waits for the next one.
bool LeaseLogic::answer_renewal(Call& call, RemoteHold& hold, const Outcome& outcome) {
  using LastReply = Call::LastReply;
  const bool acquires = call.kind == Call::Kind::acquire;
  const bool granted = outcome.kind == Outcome::Kind::granted;
  const bool renewed = granted && hold.check_request.verb == Verb::renew;
  const bool long_enough = (renewed && hold.check_request.lease_of_holder() >= call.want) ||
                           (granted && hold.ends_at_limit());
  const bool reached = long_enough && hold.has_whole_delay();
  if (!reached && (granted || acquires)) {
    hold.wanted = std::max(hold.wanted, call.want);
    if (!granted) call.last_reply = LastReply::unknown;
    if (granted && call.last_reply == LastReply::unknown) call.last_reply = LastReply::none;
    return false;
  }
  hold.renewals.remove(call);
  call.list = nullptr;
  if (reached) {
    if (acquires) count(call, *call.hold);
    answer(call, Answer::granted);
  } else {
    call.reason = std::string_view(outcome.reason);
    const bool refused = outcome.kind == Outcome::Kind::refused;
    answer(call, refused ? Answer::refused : Answer::unavailable);
  }
  return true;
}

void LeaseLogic::fail_renewals(RemoteHold& hold) {
  IntrusiveList<Call>& renewals = hold.at_backend().renewals;
  const auto first = [&] {
    Call* call = renewals.first();
    while (call != nullptr && call->hold != &hold) call = call->next;
    return call;
  };
  while (Call* const call = first()) {
    renewals.remove(*call);
    call->list = nullptr;
    call->hold = nullptr;
    if (call->kind != Call::Kind::acquire) {
      answer(*call, Answer::lost);
    } else if (shard().closed) {
      answer(*call, Answer::closed);
    } else {
      AcquireLogic(*this).enqueue(*call);
    }
  }
}

void LeaseLogic::declare_lost(RemoteHold& hold, std::string_view reason) {
  if (!mark_lost(hold, reason)) return;
  if (hold.joiners > 0) JoinLogic(*this).on_lost(hold, reason);
  if (Call* const call = std::exchange(hold.downgrade_waiter, nullptr)) answer_lost(*call, hold);
  fail_renewals(hold);
  AcquireLogic(*this).dispatch_waiters();
}

bool LeaseLogic::mark_lost(RemoteHold& hold, std::string_view reason) {
  if (hold.lost.exchange(true, std::memory_order_acq_rel)) return false;
  probes::lost(state_.key.view(), hold);
  if (hold.has_reached_limit(now())) note_held_too_long(hold);
  if (hold.held_too_long) reason = lost_by_limit;
  hold.check_at = Clock::never();
  hold.wanted = milliseconds(0);
  if (hold.end_reported) return true;
  if (hold.stop.stop_possible()) request_stop(hold);
  if (reports(Event::Kind::lost)) report(Event::Kind::lost, hold, reason);
  return true;
}

void LeaseLogic::note_held_too_long(RemoteHold& hold) noexcept {
  if (std::exchange(hold.held_too_long, true)) return;
  if (hold.joined != nullptr) hold.joined->watchdogs -= hold.watchdogs;
}

void LeaseLogic::request_stop(RemoteHold& hold) noexcept {
  hold.stop_pending = false;
  try {
    context_.out.effects_for_others().stops.push_back(hold.stop);
  } catch (const std::bad_alloc&) {
    hold.stop_pending = true;
    hold.check_at = later(now(), milliseconds(100));
    state_.holds.due_by(hold.check_at);
  }
}

void LeaseLogic::on_notification(RemoteHold& hold, Notification::Kind kind) {
  if (hold.joined != nullptr) return;  // the hold that it has joined is notified, too
  if (kind == Notification::Kind::gone) {
    hold.presence = Presence::gone;
    declare_lost(hold, "the backend took it away");
  } else if (kind == Notification::Kind::link_up && !hold.check_request.in_flight &&
             !hold.is_lost(now())) {
    check(hold);
  }
}

void LeaseLogic::on_change(RemoteHold& hold, bool of_one_key) {
  constexpr Clock::duration pause = std::chrono::seconds(1);
  if (hold.joined != nullptr || hold.is_lost(now())) return;
  const bool in_flight = hold.check_request.in_flight;
  if (hold.watch == Watch::on || (in_flight && !of_one_key)) {
    hold.watch = Watch::changed;
    if (!in_flight) check(hold);
  } else if (!of_one_key) {
    const Clock::time_point at = later(hold.check_request.sent, pause);
    hold.check_at = std::min(hold.check_at, std::max(now(), at));
    state_.holds.due_by(hold.check_at);
  }
}

void LeaseLogic::tick(RemoteHold& hold) {
  if (now() >= hold.subscription.retry_at) {
    SubscriptionLogic(*this).unsubscribe(hold.subscription);
  }
  switch (hold.stage) {
    case Stage::claim: return;
    case Stage::held:
      if (hold.is_marked_lost()) {
        if (hold.stop_pending && now() >= hold.check_at) request_stop(hold);
        return;
      }
      if (now() >= hold.deadline_point() || hold.has_reached_limit(now())) {
        return declare_lost(hold, "its lease ended");
      }
      if (!hold.check_request.in_flight && now() >= hold.check_at) check(hold);
      return;
    case Stage::retained:
    case Stage::releasing: return ReleaseLogic(*this).tick(hold);
  }
}

}  // namespace latchkey::inline v1::detail
// tidy: long-file because the life of one lease is one subject
