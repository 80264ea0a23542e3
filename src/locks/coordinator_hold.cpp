// The coordinator's decisions about what is held: renewal, verification, downgrade and loss.
#include <algorithm>
#include <new>
#include <utility>

#include "locks/coordinator.hpp"
#include "locks/planted.hpp"

namespace latchkey::detail {

using std::chrono::milliseconds;

void Coordinator::extend(RemoteHold& hold, milliseconds lease, Call& call, EventContext& context) {
  call.acquires = false;
  if (hold.stage != RemoteHold::Stage::held || hold.is_lost(context.now())) {
    return answer(call, Answer::lost, context);
  }
  call.want = lease;
  wait_for_renewal(call, hold, context);
}

void Coordinator::wait_for_renewal(Call& call, RemoteHold& hold, EventContext& context) {
  call.hold = &hold;
  call.list = &hold.renewals;
  call.silent_since = context.now();
  hold.renewals.push_back(call);
  renew(hold, call.want, context);
  set_alarm(call, context);
}

// One check at a time: a renewal that finds one under way is sent when that is answered. It takes
// the place of the watchdog's next, so it asks for no less. A hold that is downgraded is renewed
// once it is surely a READ: until then a renewal may find nothing of the type that it names.
void Coordinator::renew(RemoteHold& hold, milliseconds lease, EventContext& context) {
  if (hold.watchdogs > 0) lease = std::max(lease, context_->settings->watchdog);
  const bool downgrades = hold.downgrading && !planted(Bug::read_is_renewed_as_write);
  if (hold.checking || downgrades) {
    hold.wanted = std::max(hold.wanted, lease);
    if (!hold.checking) downgrade(hold, context);
    return;
  }
  submit_check(hold, Verb::renew, lease, context);
}

void Coordinator::check(RemoteHold& hold, EventContext& context) {
  if (hold.downgrading) return downgrade(hold, context);
  const milliseconds period = context_->settings->watchdog;
  if (hold.wanted.count() > 0) {
    const milliseconds lease = std::exchange(hold.wanted, milliseconds(0));
    return submit_check(hold, Verb::renew, hold.watchdogs > 0 ? std::max(lease, period) : lease,
                        context);
  }
  if (hold.watchdogs > 0) return submit_check(hold, Verb::renew, period, context);
  if (hold.pins > 0) return submit_check(hold, Verb::renew, hold.lease, context);
  submit_check(hold, Verb::verify, milliseconds(0), context);
}

void Coordinator::submit_check(RemoteHold& hold, Verb verb, milliseconds lease,
                               EventContext& context) {
  if (!can_submit(context)) {
    if (verb == Verb::renew) hold.wanted = std::max(hold.wanted, lease);
    hold.check_at = later(context.now(), repeat_pause);
    return due_by(hold.check_at);
  }
  prepare(hold.check, verb, hold, context);
  hold.check.lease = lease;
  hold.check_sent = hold.check.sent;
  hold.check_due = std::min(hold.check_at, hold.check_sent);
  hold.expires_at = std::max(hold.expires_at, later(hold.check_sent, lease));
  hold.checking = true;
  hold.check_at = Clock::never();
  if (due_ <= context.now()) find_due();  // it was for this check
  submit(hold.check, context);
}

void Coordinator::checked(RemoteHold& hold, Outcome& outcome, EventContext& context) {
  hold.checking = false;
  if (hold.check.verb == Verb::downgrade) return downgraded(hold, outcome, context);
  if (hold.stage == RemoteHold::Stage::linger) return on_expire_reply(hold, outcome, context);
  if (hold.stage != RemoteHold::Stage::held) return drop_if_done(hold, context);
  if (hold.lost.load(std::memory_order_relaxed)) return;
  const bool revived = planted(Bug::late_renewal_revives);
  switch (outcome.kind) {
    case Outcome::Kind::granted:
      // An answer after the deadline changes nothing: others may have been told "lost" already.
      if (!revived && context.now() >= hold.deadline_point()) {
        return declare_lost(hold, "its lease ended before the renewal was answered", context);
      }
      if (hold.check.verb == Verb::renew) {
        move_deadline(hold, hold.check_sent, hold.check.lease);
        if (reports(Event::Kind::renewed)) tell(Event::Kind::renewed, hold, context);
      }
      hold.check_at = later(hold.check_sent, renewal_interval(hold));
      if (planted(Bug::watchdog_stops)) hold.check_at = Clock::never();
      break;
    case Outcome::Kind::gone:
      if (planted(Bug::gone_is_ignored)) break;
      hold.gone = true;
      return declare_lost(hold, "the backend no longer had it", context);
    case Outcome::Kind::busy:
    case Outcome::Kind::unknown:
    case Outcome::Kind::refused: {
      constexpr Clock::duration least = milliseconds(10);
      constexpr Clock::duration most = std::chrono::seconds(1);
      const Clock::duration pause = Clock::duration(renewal_interval(hold)) / 10;
      hold.check_at = later(context.now(), std::clamp(pause, least, most));
      break;
    }
  }
  due_by(hold.check_at);
  answer_renewals(hold, outcome, context);
  if (hold.downgrading && hold.exclusive_holds() > 0) {
    // Another thread of the owner re-entered before the downgrade was sent: the WRITE goes on.
    hold.downgrading = false;
    Call* const call = std::exchange(hold.downgrade_waiter, nullptr);
    if (call != nullptr) answer(*call, Answer::granted, context);
  }
  const bool more = hold.wanted.count() > 0 || hold.downgrading;
  if (more && outcome.kind == Outcome::Kind::granted) check(hold, context);
}

void Coordinator::move_deadline(RemoteHold& hold, Clock::time_point sent, milliseconds lease) {
  const Clock::duration kept_back = planted(Bug::no_margin) ? Clock::duration{} : margin(lease);
  const Clock::time_point deadline = later(sent, lease) - kept_back;
  if (deadline <= hold.deadline_point()) return;
  hold.deadline.store(deadline.time_since_epoch().count(), std::memory_order_release);
  hold.lease = lease;
}

// What waits for a renewal is served by one that asked for enough.
void Coordinator::answer_renewals(RemoteHold& hold, const Outcome& outcome, EventContext& context) {
  for (Call* call = hold.renewals.first(); call != nullptr;) {
    Call& waiting = *std::exchange(call, call->next);
    const bool reached = outcome.kind == Outcome::Kind::granted && hold.check.verb == Verb::renew &&
                         hold.check.lease >= waiting.want;
    const bool failed = outcome.kind != Outcome::Kind::granted && !waiting.acquires;
    if (!reached && !failed) {
      hold.wanted = std::max(hold.wanted, waiting.want);
      waiting.outcome_unknown = outcome.kind != Outcome::Kind::granted;
      set_alarm(waiting, context);
      continue;
    }
    hold.renewals.remove(waiting);
    waiting.list = nullptr;
    if (reached) {
      if (waiting.acquires) count(waiting, hold);
      answer(waiting, Answer::granted, context);
    } else {
      waiting.text = std::string_view(outcome.text);
      const bool refused = outcome.kind == Outcome::Kind::refused;
      answer(waiting, refused ? Answer::refused : Answer::unavailable, context);
    }
  }
}

// The hold is no longer there to be renewed: extends end, re-entries become fresh acquires.
void Coordinator::fail_renewals(RemoteHold& hold, EventContext& context) {
  while (Call* const call = hold.renewals.pop_front()) {
    call->list = nullptr;
    call->hold = nullptr;
    if (!call->acquires) {
      answer(*call, Answer::lost, context);
    } else if (context_->closed) {
      answer(*call, Answer::closed, context);
    } else {
      enqueue(*call, context);
    }
  }
}

void Coordinator::declare_lost(RemoteHold& hold, std::string_view why, EventContext& context) {
  if (hold.lost.exchange(true, std::memory_order_acq_rel)) return;
  hold.check_at = Clock::never();
  hold.wanted = milliseconds(0);
  if (hold.stop.stop_possible()) request_stop(hold, context);
  if (reports(Event::Kind::lost)) tell(Event::Kind::lost, hold, context, why);
  if (Call* const call = std::exchange(hold.downgrade_waiter, nullptr)) {
    answer_lost(*call, hold, context);
  }
  fail_renewals(hold, context);
  dispatch_waiters(context);
}

// The WRITE ended while READs inside it go on: the backend turns it into a READ of the same id.
void Coordinator::downgrade(RemoteHold& hold, EventContext& context) {
  if (hold.checking) return;  // sent when that check is answered
  for (Call* call = hold.renewals.first(); call != nullptr;) {
    Call& waiting = *std::exchange(call, call->next);
    if (!waiting.acquires || is_shared(waiting.type)) continue;
    // From here on it may be a READ, which no WRITE enters.
    hold.renewals.remove(waiting);
    waiting.list = nullptr;
    answer_deadlock(waiting, LockType::READ, hold, context);
  }
  const milliseconds period = context_->settings->watchdog;
  hold.write_or_read = true;
  submit_check(hold, Verb::downgrade, hold.watchdogs > 0 ? period : hold.lease, context);
}

void Coordinator::downgraded(RemoteHold& hold, const Outcome& outcome, EventContext& context) {
  const bool done = outcome.kind == Outcome::Kind::granted;
  if (hold.stage == RemoteHold::Stage::ending) return downgraded_too_late(hold, outcome, context);
  Call* const call = std::exchange(hold.downgrade_waiter, nullptr);
  if (hold.stage == RemoteHold::Stage::linger) {
    if (done) become_read(hold);
    submit_expire(hold, context);
    if (!hold.checking) answer_lingering(hold, Answer::granted, context);
    if (call != nullptr) answer_release(*call, hold, outcome, context);
    return dispatch_waiters(context);
  }
  if (outcome.kind == Outcome::Kind::gone || hold.is_lost(context.now())) {
    if (call != nullptr) answer_lost(*call, hold, context);
    hold.gone = hold.gone || outcome.kind == Outcome::Kind::gone;
    return declare_lost(hold, "the backend no longer had it", context);
  }
  if (done) {
    become_read(hold);
    move_deadline(hold, hold.check_sent, hold.check.lease);
    hold.check_at = later(hold.check_sent, renewal_interval(hold));
  } else {
    hold.check_at = later(context.now(), milliseconds(50));
  }
  due_by(hold.check_at);
  if (call != nullptr) answer_release(*call, hold, outcome, context);
  if (!done) answer_renewals(hold, outcome, context);
  if (done && hold.wanted.count() > 0) check(hold, context);
  dispatch_waiters(context);
}

// A late copy of its acquire would make a WRITE of it once more, which its release must find.
void Coordinator::become_read(RemoteHold& hold) noexcept {
  --in_the_way_[0];
  hold.type = LockType::READ;
  past_claim(hold);
  hold.downgrading = false;
  hold.write_or_read = hold.unsettled && !context_->settings->in_order;
}

// The READs ended before it was answered. Their release gives back a WRITE as well, so where nobody
// can tell what became of the downgrade, the release says whether the WRITE is over.
void Coordinator::downgraded_too_late(RemoteHold& hold, const Outcome& outcome,
                                      EventContext& context) {
  // "Gone" is what a downgrade finds that the release of the READs has overtaken.
  const bool over = outcome.kind == Outcome::Kind::granted || outcome.kind == Outcome::Kind::gone ||
                    hold.released;
  if (hold.downgrade_waiter != nullptr && (over || !hold.releasing)) {
    Call& call = *std::exchange(hold.downgrade_waiter, nullptr);
    if (over) {
      answer(call, Answer::granted, context);
    } else {
      answer_release(call, hold, outcome, context);
    }
  }
  drop_if_done(hold, context);
}

void Coordinator::tick_hold(RemoteHold& hold, EventContext& context) {
  if (context.now() >= hold.subscription.retry_at) unsubscribe(hold.subscription, context);
  switch (hold.stage) {
    case RemoteHold::Stage::claim: return;
    case RemoteHold::Stage::held:
      if (hold.lost.load(std::memory_order_relaxed)) {
        if (hold.stop_owed && context.now() >= hold.check_at) request_stop(hold, context);
        return;
      }
      if (context.now() >= hold.deadline_point())
        return declare_lost(hold, "its lease ended", context);
      if (!hold.checking && context.now() >= hold.check_at) check(hold, context);
      return;
    case RemoteHold::Stage::linger:
      if (context.now() >= hold.linger_until || hold.is_lost(context.now())) {
        answer_lingering(hold, Answer::granted, context);
        end(hold, nullptr, context);
        dispatch_waiters(context);
      }
      return;
    case RemoteHold::Stage::ending:
      if (planted(Bug::renewal_outlives_release) && !hold.checking &&
          context.now() >= hold.check_at) {
        check(hold, context);
      }
      if (context.now() < hold.repeat_at) return;
      if (!hold.releasing) return submit_end(hold, context);
      hold.repeat_at = later(context.now(), repeat_pause);
      return;
  }
}

milliseconds Coordinator::renewal_interval(const RemoteHold& hold) const noexcept {
  return (hold.watchdogs > 0 ? context_->settings->watchdog : hold.lease) / 3;
}

}  // namespace latchkey::detail
