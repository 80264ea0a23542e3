// The lease of a hold: renewal, verification, downgrade and loss.
// tidy: long-file because the life of one lease is one subject
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
using Downgrade = RemoteHold::Downgrade;
using Presence = RemoteHold::Presence;
using Stage = RemoteHold::Stage;
using Watch = CheckProgress::Watch;

namespace {

constexpr std::string_view lost_by_limit = "it was held for as long as held_at_most allows";

}  // namespace

void Coordinator::extend(RemoteHold& hold, milliseconds lease, Call& call, EventContext& event) {
  event_ = &event;
  call.kind = Call::Kind::extend;
  if (hold.stage != Stage::held || hold.is_lost(now())) return answer(call, Answer::lost);
  const bool is_beyond = later(now(), lease) > hold.limits.earliest();
  if (is_beyond && !call.up_to_limit) return answer(call, Answer::too_long);
  call.want = lease;
  wait_for_renewal(call, hold);
}

void Coordinator::wait_for_renewal(Call& call, RemoteHold& hold) {
  RemoteHold& renewed = hold.at_backend();
  call.hold = &hold;
  call.list = &renewed.renewals;
  call.silent_since = now();
  renewed.renewals.push_back(call);
  renew(renewed, call.want);
  set_alarm(call);
  wake(call);  // from here on its thread drives
}

bool Coordinator::suffices_for(Call& call, RemoteHold& hold) {
  call.want = length_of(call.lease);
  const milliseconds wanted = delay_of(call.lease);
  RemoteHold& renewed = hold.at_backend();
  if (wanted <= renewed.delay_in_force) {
    return hold.watchdogs > 0 || two_thirds_remain(hold, call.want);
  }
  renewed.delay = std::max(renewed.delay, wanted);
  return false;
}

// A hold has at most one check in flight: a renewal that is wanted meanwhile is sent after its
// reply. It takes the place of the watchdog's next renewal, so it requests no less. A hold that is
// being downgraded is renewed when it is surely a READ: until then the backend may have no hold of
// the type that a renewal names.
void Coordinator::renew(RemoteHold& hold, milliseconds lease) {
  if (hold.watchdogs > 0) lease = std::max(lease, settings().watchdog);
  if (!hold.check.in_flight() && !hold.awaits_downgrade()) {
    return send_check(hold, Verb::renew, lease);
  }
  hold.check.want(lease);
  if (!hold.check.in_flight()) send_downgrade(hold);
}

void Coordinator::renew_soon(RemoteHold& hold, milliseconds lease) {
  constexpr Clock::duration most = milliseconds(50);
  const Clock::duration pause = std::min(most, (hold.deadline_point() - now()) / 4);
  hold.check.want(lease);
  hold.check.due_at = std::min(hold.check.due_at, later(now(), pause));
  holds_.due_by(hold.check.due_at);
}

void Coordinator::renew_soon_for(const Call& call, RemoteHold& hold) {
  const milliseconds wanted = length_of(call.lease);
  if (!two_thirds_remain(hold, wanted)) renew_soon(hold, wanted);
}

void Coordinator::check(RemoteHold& hold) {
  if (hold.awaits_downgrade()) return send_downgrade(hold);
  const bool watched = hold.watchdogs > 0;
  const milliseconds period = hold.period(settings().watchdog);
  if (hold.check.wanted.count() > 0) {
    const milliseconds lease = std::exchange(hold.check.wanted, milliseconds(0));
    return send_check(hold, Verb::renew, watched ? std::max(lease, period) : lease);
  }
  if (watched || hold.pins > 0) return send_check(hold, Verb::renew, period);
  send_check(hold, Verb::verify, milliseconds(0));
}

void Coordinator::send_check(RemoteHold& hold, Verb verb, milliseconds lease) {
  if (!can_submit()) {
    if (verb == Verb::renew) hold.check.want(lease);
    hold.check.due_at = later(now(), repeat_pause);
    return holds_.due_by(hold.check.due_at);
  }
  if (verb == Verb::renew && !hold.has_whole_delay()) {
    // A renewal that brings a longer lock_delay, which begins at the deadline, is for no shorter a
    // lease than is left.
    const milliseconds left = lease_until(hold.deadline_point(), now());
    lease = std::max(lease, settings().offered_lease(left));
  }
  if (hold.has_limit()) keep_to_limit(hold, verb, lease);
  prepare(hold.check.request, verb, hold, now());
  const bool leases = verb == Verb::renew || verb == Verb::downgrade;
  hold.check.request.lock_delay = leases ? hold.delay : milliseconds(0);
  hold.check.request.lease = lease + hold.check.request.lock_delay;
  hold.check.request.recall = hold.stage == Stage::idle;
  // The backend tells of changes until the next one, and of none that this process has made.
  if (leases && hold.recall == RemoteHold::Recall::asked) hold.recall = RemoteHold::Recall::unasked;
  hold.check.start();
  ask_to_watch(hold);
  hold.check.was_due = std::min(hold.check.due_at, hold.check.request.sent);
  hold.expires_at =
      std::max(hold.expires_at, later(hold.check.request.sent, hold.check.request.lease));
  hold.check.due_at = Clock::never();
  if (holds_.due() <= now()) find_due();  // the due time was this check's
  submit(hold.check.request);
}

void Coordinator::ask_to_watch(RemoteHold& hold) {
  const bool follows_change = hold.check.watch == Watch::changed;
  hold.check.request.watch = can_be_watched(hold) && hold.stage == Stage::held && !follows_change &&
                             hold.is_old_enough_to_watch(now());
  hold.check.watch = hold.check.request.watch ? Watch::on : Watch::off;
}

// The last renewal brings the deadline to the limit. From then on the hold is only verified. One
// that brings a longer lock_delay to the backend is for no less than the deadline, after which the
// lock_delay begins.
void Coordinator::keep_to_limit(const RemoteHold& hold, Verb& verb, milliseconds& lease) {
  if (verb == Verb::renew && hold.ends_at_limit() && hold.has_whole_delay()) {
    verb = Verb::verify;
    lease = milliseconds(0);
  } else if (verb == Verb::renew || verb == Verb::downgrade) {
    Clock::time_point end = std::max(hold.limits.earliest(), now());
    if (!hold.has_whole_delay()) end = std::max(end, hold.deadline_point());
    lease = std::min(lease, settings().offered_lease(lease_until(end, now())));
  }
}

void Coordinator::on_check_reply(RemoteHold& hold, Outcome& outcome) {
  hold.check.end();
  if (hold.check.request.verb == Verb::downgrade) return on_downgrade_reply(hold, outcome);
  if (hold.stage == Stage::retained) return on_expire_reply(hold, outcome);
  const bool idle = hold.stage == Stage::idle;
  if (hold.check.request.recall) IdleHold::on_reply(*this, hold, outcome);
  if (idle) return;
  if (hold.stage != Stage::held) return erase_if_done(hold);
  if (hold.is_marked_lost()) return;
  if (outcome.kind == Outcome::Kind::gone) {
    const bool comes_back = may_be_write_again(hold) || copy_may_run(hold);
    if (!comes_back) hold.presence = Presence::gone;
    return declare_lost(hold, "the backend no longer had it");
  }
  const bool granted = outcome.kind == Outcome::Kind::granted;
  // A reply after the deadline changes nothing: `lost()` may have returned true already.
  if (granted && (now() >= hold.deadline_point() || !on_renewed(hold))) {
    return declare_lost(hold, lost_before_renewal);
  }
  if (!granted) retry_check(hold);
  holds_.due_by(hold.check.due_at);
  answer_renewals(hold, outcome);
  cancel_downgrade_if_reentered(hold);
  if (granted) check_again_if_wanted(hold);
}

void Coordinator::check_again_if_wanted(RemoteHold& hold) {
  const bool changed = hold.check.watch == Watch::changed;
  const bool wanted = hold.check.wanted.count() > 0;
  // A hold that was idle is renewed only if its new holder has it for long.
  const bool may_wait = hold.check.request.recall && hold.renewals.empty();
  if (changed || hold.awaits_downgrade() || (wanted && !may_wait)) {
    check(hold);
  } else if (wanted) {
    renew_soon(hold, hold.check.wanted);
  }
}

// Moves the deadline. False: a thread has seen it pass since the time of this event was read.
bool Coordinator::on_renewed(RemoteHold& hold) {
  if (hold.check.request.verb == Verb::renew) {
    if (!hold.move_deadline_by_check()) return false;
    if (hold.joiners > 0) renew_joiners(hold);
    const bool for_its_holder = !hold.check.request.recall;
    if (for_its_holder && reports(Event::Kind::renewed)) report(Event::Kind::renewed, hold);
  }
  hold.check.due_at = next_check(hold, hold.check.request.sent);
  return true;
}

// A failed renewal that no call waits for stays wanted: otherwise the hold would end with the
// shorter lease that it was granted for.
void Coordinator::retry_check(RemoteHold& hold) {
  constexpr Clock::duration least = milliseconds(10);
  constexpr Clock::duration most = std::chrono::seconds(1);
  if (hold.check.request.verb == Verb::renew && hold.renewals.empty()) {
    hold.check.want(hold.check.lease_of_holder());
  }
  const Clock::duration rest = hold.deadline_point() - now();
  const Clock::duration pause = std::min(check_interval(hold) / 10, rest / 4);
  hold.check.due_at = later(now(), std::clamp(pause, least, most));
}

void Coordinator::answer_renewals(RemoteHold& hold, const Outcome& outcome) {
  for (Call* call = hold.renewals.first(); call != nullptr;) {
    Call& waiting = *std::exchange(call, call->next);
    if (!answer_renewal(waiting, hold, outcome)) set_alarm(waiting);
  }
}

// A call is answered by a renewal that requested enough, and the whole lock_delay. False: the call
// waits for the next one.
bool Coordinator::answer_renewal(Call& call, RemoteHold& hold, const Outcome& outcome) {
  using LastReply = Call::LastReply;
  const bool acquires = call.kind == Call::Kind::acquire;
  const bool granted = outcome.kind == Outcome::Kind::granted;
  const bool for_calls = hold.check.request.verb == Verb::renew && !hold.check.request.recall;
  const bool renewed = granted && for_calls;
  const bool long_enough =
      (renewed && hold.check.lease_of_holder() >= call.want) || (granted && hold.ends_at_limit());
  const bool reached = long_enough && hold.has_whole_delay();
  if (!reached && (granted || acquires)) {
    hold.check.want(call.want);
    if (!granted) call.last_reply = LastReply::unknown;
    if (granted && call.last_reply == LastReply::unknown) call.last_reply = LastReply::none;
    return false;
  }
  hold.renewals.remove(call);
  call.list = nullptr;
  if (reached) {
    if (acquires) enter(call, *call.hold);
    answer(call, Answer::granted);
  } else {
    call.reason = std::string_view(outcome.reason);
    const bool refused = outcome.kind == Outcome::Kind::refused;
    answer(call, refused ? Answer::refused : Answer::unavailable);
  }
  return true;
}

void Coordinator::fail_renewals(RemoteHold& hold) {
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
    } else if (shard_->closed) {
      answer(*call, Answer::closed);
    } else {
      enqueue(*call);
    }
  }
}

void Coordinator::declare_lost(RemoteHold& hold, std::string_view reason) {
  if (!mark_lost(hold, reason)) return;
  if (hold.joiners > 0) lose_joiners(hold, reason);
  if (Call* const call = std::exchange(hold.downgrade_waiter, nullptr)) answer_lost(*call, hold);
  fail_renewals(hold);
  dispatch_waiters();
}

bool Coordinator::mark_lost(RemoteHold& hold, std::string_view reason) {
  if (hold.lost.exchange(true, std::memory_order_acq_rel)) return false;
  probes::lost(key.view(), hold);
  if (hold.has_reached_limit(now())) hold.note_held_too_long();
  if (hold.joined != nullptr && !hold.held_too_long) hold.joined->watchdogs -= hold.watchdogs;
  if (hold.held_too_long) reason = lost_by_limit;
  hold.check.due_at = Clock::never();
  hold.check.wanted = milliseconds(0);
  if (hold.end_reported) return true;
  if (hold.stop.stop_possible()) request_stop(hold);
  if (reports(Event::Kind::lost)) report(Event::Kind::lost, hold, reason);
  return true;
}

void Coordinator::request_stop(RemoteHold& hold) noexcept {
  hold.stop_pending = false;
  try {
    event_->out.effects_for_others().stops.push_back(hold.stop);
  } catch (const std::bad_alloc&) {
    hold.stop_pending = true;
    hold.check.due_at = later(now(), milliseconds(100));
    holds_.due_by(hold.check.due_at);
  }
}

void Coordinator::on_hold_notified(RemoteHold& hold, Notification::Kind kind) {
  if (hold.joined != nullptr) return;  // the hold that it has joined is notified, too
  if (kind == Notification::Kind::gone) {
    hold.presence = Presence::gone;
    declare_lost(hold, "the backend took it away");
  } else if (kind == Notification::Kind::link_up && !hold.check.in_flight() &&
             !hold.is_lost(now())) {
    check(hold);
  }
}

void Coordinator::on_change(RemoteHold& hold, bool of_one_key) {
  constexpr Clock::duration pause = std::chrono::seconds(1);
  if (hold.joined != nullptr || hold.is_lost(now())) return;
  const bool in_flight = hold.check.in_flight();
  if (hold.check.watch == Watch::on || (in_flight && !of_one_key)) {
    hold.check.watch = Watch::changed;
    if (!in_flight) check(hold);
  } else if (!of_one_key) {
    const Clock::time_point at = later(hold.check.request.sent, pause);
    hold.check.due_at = std::min(hold.check.due_at, std::max(now(), at));
    holds_.due_by(hold.check.due_at);
  }
}

void Coordinator::tick_hold(RemoteHold& hold) {
  if (now() >= hold.subscription.retry_at) unsubscribe(hold.subscription);
  switch (hold.stage) {
    case Stage::claim: return;
    case Stage::held:
      if (hold.is_marked_lost()) {
        if (hold.stop_pending && now() >= hold.check.due_at) request_stop(hold);
        return;
      }
      if (now() >= hold.deadline_point() || hold.has_reached_limit(now())) {
        return declare_lost(hold, "its lease ended");
      }
      if (!hold.check.in_flight() && now() >= hold.check.due_at) check(hold);
      return;
    case Stage::idle: return IdleHold::tick(*this, hold);
    case Stage::retained:
    case Stage::releasing: return tick_release(hold);
  }
}

// --- a WRITE that becomes a READ ---
//
// The local holds of a WRITE have ended while READs inside it are left: the backend makes a READ of
// the same id of it.

void Coordinator::send_downgrade(RemoteHold& hold) {
  if (hold.check.in_flight()) return;  // it is sent after that reply
  for (Call* call = hold.renewals.first(); call != nullptr;) {
    Call& waiting = *std::exchange(call, call->next);
    if (waiting.kind != Call::Kind::acquire || is_shared(waiting.type)) continue;
    // From here on the hold may be a READ, which no WRITE enters.
    hold.renewals.remove(waiting);
    waiting.list = nullptr;
    answer_deadlock(waiting, LockType::READ, hold);
  }
  hold.downgrade = Downgrade::sent;
  send_check(hold, Verb::downgrade, hold.period(settings().watchdog));
}

// Another thread of the owner re-entered before the downgrade was sent: the hold stays a WRITE.
void Coordinator::cancel_downgrade_if_reentered(RemoteHold& hold) {
  if (!hold.awaits_downgrade() || hold.exclusive_holds() == 0) return;
  hold.downgrade = Downgrade::none;
  Call* const call = std::exchange(hold.downgrade_waiter, nullptr);
  if (call != nullptr) answer(*call, Answer::granted);
}

void Coordinator::on_downgrade_reply(RemoteHold& hold, const Outcome& outcome) {
  const bool granted = outcome.kind == Outcome::Kind::granted;
  if (hold.stage == Stage::releasing) return on_late_downgrade_reply(hold, outcome);
  Call* const call = std::exchange(hold.downgrade_waiter, nullptr);
  if (hold.stage == Stage::retained) {
    if (granted) become_read(hold);
    send_expire(hold);
    if (!hold.check.in_flight()) answer_retained(hold, Answer::granted);
    if (call != nullptr) answer_release(*call, hold, outcome);
    return dispatch_waiters();
  }
  const bool lost = hold.is_lost(now()) || (granted && !hold.move_deadline_by_check());
  if (outcome.kind == Outcome::Kind::gone || lost) {
    if (call != nullptr) answer_lost(*call, hold);
    if (outcome.kind == Outcome::Kind::gone) hold.presence = Presence::gone;
    return declare_lost(hold, "the backend no longer had it");
  }
  if (granted) {
    become_read(hold);
    hold.check.due_at = next_check(hold, hold.check.request.sent);
  } else {
    hold.check.due_at = later(now(), milliseconds(50));
  }
  holds_.due_by(hold.check.due_at);
  if (call != nullptr) answer_release(*call, hold, outcome);
  if (!granted) answer_renewals(hold, outcome);
  if (granted) check_again_if_wanted(hold);
  dispatch_waiters();
}

// The READs ended before the reply. Their release ends a WRITE as well, so if the outcome of the
// downgrade is unknown, the reply to the release says whether the WRITE is over. A downgrade that
// the release has overtaken finds nothing.
void Coordinator::on_late_downgrade_reply(RemoteHold& hold, const Outcome& outcome) {
  const bool over = outcome.kind == Outcome::Kind::granted || outcome.kind == Outcome::Kind::gone ||
                    hold.presence == Presence::released;
  if (hold.downgrade_waiter != nullptr && (over || !hold.release.in_flight())) {
    Call& call = *std::exchange(hold.downgrade_waiter, nullptr);
    over ? answer(call, Answer::granted) : answer_release(call, hold, outcome);
  }
  erase_if_done(hold);
}

// A late copy of the acquire would make a WRITE of it once more, which the release must find.
void Coordinator::become_read(RemoteHold& hold) noexcept {
  holds_.set_read(hold);
  hold.downgrade = copy_may_run(hold) ? Downgrade::unsure : Downgrade::none;
}

}  // namespace latchkey::inline v1::detail
