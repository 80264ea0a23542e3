// The coordinator's decisions about giving back: release, abandoned claims, the unknown outcome.
#include <algorithm>
#include <utility>

#include "core/thread_cache.hpp"
#include "locks/coordinator.hpp"
#include "locks/planted.hpp"

namespace latchkey::detail {

using std::chrono::milliseconds;

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

void Coordinator::answer_release(Call& call, const RemoteHold& hold, const Outcome& outcome,
                                 EventContext& context) {
  const Answer result = answer_of_release(outcome.kind);
  if (result == Answer::lost) return answer_lost(call, hold, context);
  if (result == Answer::unavailable || result == Answer::refused) {
    call.text = std::string_view(outcome.text);
  }
  answer(call, result, context);
}

void Coordinator::unlock(Call& call, EventContext& context) {
  call.acquires = false;
  call.releases = true;
  const int kind = is_shared(call.type) ? 1 : 0;
  RemoteHold* newest = nullptr;  // after a loss the owner may hold anew: that is undone first
  for (RemoteHold* hold = held_.first(call.owner); hold != nullptr; hold = held_.next(*hold)) {
    if (hold->locks[kind] > 0) newest = hold;
  }
  if (newest == nullptr) return answer(call, Answer::not_owner, context);
  --newest->locks[kind];
  --newest->watchdogs;  // what lock() takes is always renewed
  drop_local_hold(*newest, Clock::time_point::min(), &call, context);
}

void Coordinator::release(RemoteHold& hold, LockType type, bool watched,
                          Clock::time_point linger_until, Call* call, EventContext& context) {
  if (call != nullptr) {
    call->acquires = false;
    call->releases = true;
  }
  --hold.holds[is_shared(type) ? 1 : 0];
  --context_->hold_objects;
  if (watched) --hold.watchdogs;
  drop_local_hold(hold, linger_until, call, context);
}

// One local hold less. The remote one goes with the last.
void Coordinator::drop_local_hold(RemoteHold& hold, Clock::time_point linger_until, Call* call,
                                  EventContext& context) {
  const bool lost = hold.is_lost(context.now());
  if (hold.local_holds() > 0 && !planted(Bug::release_ignores_the_count)) {
    const bool write_ended = hold.exclusive_holds() == 0 && hold.type == LockType::WRITE;
    if (write_ended && !lost && !hold.downgrading) {
      hold.downgrading = true;
      hold.downgrade_waiter = call;
      return downgrade(hold, context);
    }
    if (call == nullptr) return;
    return lost ? answer_lost(*call, hold, context) : answer(*call, Answer::granted, context);
  }
  if (lost) {
    declare_lost(hold, "its lease ended", context);
    if (call != nullptr) answer_lost(*std::exchange(call, nullptr), hold, context);
  }
  const bool downgrade_sent = hold.checking && hold.check.verb == Verb::downgrade;
  if (hold.downgrade_waiter != nullptr && !downgrade_sent) {
    // It will never be sent: the READs, for which it was to be, are over as well.
    answer(*std::exchange(hold.downgrade_waiter, nullptr), Answer::granted, context);
  }
  if (!hold.renewals.empty()) fail_renewals(hold, context);
  if (!lost && linger_until > context.now()) {
    return linger(hold, linger_until, call, context);
  }
  end(hold, call, context);
  dispatch_waiters(context);
  leave_channel_if_unused(context);
}

// The key stays locked although nobody holds it. At the end of that time the hold is released, and
// the backend has let it end by itself if this process is gone by then.
void Coordinator::linger(RemoteHold& hold, Clock::time_point until, Call* call,
                         EventContext& context) {
  held_.erase(hold);
  hold.stage = RemoteHold::Stage::linger;
  hold.owner = Owner::nobody();
  hold.linger_until = std::min(until, hold.deadline_point());
  due_by(hold.linger_until);
  submit_expire(hold, context);
  hold.release_waiter = call;
  const bool waits = hold.checking && context_->settings->expires;
  if (!waits) answer_lingering(hold, Answer::granted, context);
}

// The caller waits until the backend knows when the hold ends, for its process may end then.
void Coordinator::answer_lingering(RemoteHold& hold, Answer result, EventContext& context) {
  Call* const call = std::exchange(hold.release_waiter, nullptr);
  if (call == nullptr) return;
  result == Answer::lost ? answer_lost(*call, hold, context) : answer(*call, result, context);
}

void Coordinator::on_expire_reply(RemoteHold& hold, const Outcome& outcome, EventContext& context) {
  if (!hold.expires_by_itself) submit_expire(hold, context);  // the reply was to a renewal
  if (hold.checking) return;
  if (outcome.kind != Outcome::Kind::gone) {
    return answer_lingering(hold, Answer::granted, context);
  }
  hold.gone = true;
  declare_lost(hold, "the backend no longer had it when it was released", context);
  answer_lingering(hold, Answer::lost, context);
  end(hold, nullptr, context);
  dispatch_waiters(context);
}

// A check that is under way is answered first. A hold of which nobody knows whether it is a WRITE
// or a READ keeps its lease.
void Coordinator::submit_expire(RemoteHold& hold, EventContext& context) {
  if (!context_->settings->expires || hold.checking || hold.write_or_read) return;
  const auto left = std::chrono::ceil<milliseconds>(hold.linger_until - context.now());
  if (left.count() <= 0) return;
  submit_check(hold, Verb::expire, left, context);
  hold.expires_by_itself = hold.checking;
}

void Coordinator::end(RemoteHold& hold, Call* call, EventContext& context) {
  if (hold.stage == RemoteHold::Stage::claim) past_claim(hold);
  if (hold.stage == RemoteHold::Stage::held) held_.erase(hold);
  hold.stage = RemoteHold::Stage::ending;
  hold.release_waiter = call;
  if (!planted(Bug::renewal_outlives_release)) hold.check_at = Clock::never();
  if (hold.gone) return drop_if_done(hold, context);
  submit_end(hold, context);
}

void Coordinator::submit_end(RemoteHold& hold, EventContext& context) {
  if (hold.releasing) return;
  if (!can_submit(context)) {
    hold.repeat_at = later(context.now(), repeat_pause);
    return due_by(hold.repeat_at);
  }
  const bool queued = hold.type == LockType::FAIR && hold.granted_at == Clock::time_point{};
  const bool unsure = hold.write_or_read && !planted(Bug::downgrade_stays_a_write);
  prepare(hold.end, queued || unsure ? Verb::leave : Verb::release, hold, context);
  if (unsure) hold.end.type = LockType::WRITE;
  hold.releasing = true;
  // Where no call waits for the outcome nobody drives for it either, and what the backend has yet
  // to do about it would not be done: the timer thread does, as long as something is due.
  hold.repeat_at =
      hold.release_waiter != nullptr ? Clock::never() : later(context.now(), repeat_pause);
  due_by(hold.repeat_at);
  submit(hold.end, context);
}

void Coordinator::ended(RemoteHold& hold, Outcome& outcome, EventContext& context) {
  hold.releasing = false;
  hold.repeat_at = Clock::never();
  const bool sure = outcome.kind == Outcome::Kind::granted || outcome.kind == Outcome::Kind::gone;
  const bool was_held = hold.granted_at != Clock::time_point{};
  if (sure) hold.released = true;
  if (hold.stage == RemoteHold::Stage::held) {  // closed over the holder's head
    hold.gone = hold.gone || sure;
    return;
  }
  if (was_held) report_end(hold, outcome, context);
  const bool downgrade_sent = hold.checking && hold.check.verb == Verb::downgrade;
  if (hold.downgrade_waiter != nullptr && !downgrade_sent) {
    answer_release(*std::exchange(hold.downgrade_waiter, nullptr), hold, outcome, context);
  }
  if (Call* const call = std::exchange(hold.release_waiter, nullptr))
    answer_release(*call, hold, outcome, context);
  if (std::exchange(hold.release_again, false)) return submit_end(hold, context);
  // A copy of an unanswered attempt may run after this release, unless the backend keeps the order.
  const bool copies = hold.unsettled && !context_->settings->in_order;
  if ((!sure || copies) && context.now() < hold.expires_at) {
    hold.repeat_at = std::min(later(context.now(), repeat_pause), hold.expires_at);
    due_by(hold.repeat_at);
  } else {
    drop_if_done(hold, context);
  }
  dispatch_waiters(context);
}

// Of each hold exactly one end is told: it is lost, released, or its release is not confirmed.
void Coordinator::report_end(RemoteHold& hold, const Outcome& outcome, EventContext& context) {
  if (hold.unconfirmed || hold.lost.load(std::memory_order_relaxed)) return;
  switch (outcome.kind) {
    case Outcome::Kind::gone:
      if (hold.release_waiter != nullptr) {
        return declare_lost(hold, "the backend no longer had it when it was released", context);
      }
      [[fallthrough]];  // what nobody held any more, and was only kept
    case Outcome::Kind::granted:
      if (reports(Event::Kind::released)) tell(Event::Kind::released, hold, context);
      return;
    case Outcome::Kind::busy:
    case Outcome::Kind::unknown:
    case Outcome::Kind::refused: break;
  }
  hold.unconfirmed = true;
  if (reports(Event::Kind::release_unconfirmed)) {
    tell(Event::Kind::release_unconfirmed, hold, context, outcome.text);
  }
}

// A waiting call is gone: whatever came or will come of its claim is given back.
void Coordinator::abandon(RemoteHold& claim, EventContext& context) {
  claim.call = nullptr;
  if (claim.stage == RemoteHold::Stage::claim) past_claim(claim);
  claim.stage = RemoteHold::Stage::ending;
  claim.poll_at = Clock::never();
  const bool queued = claim.type == LockType::FAIR && claim.reached;
  const bool may_be_there = claim.asking || claim.unsettled || claim.refused || queued;
  if (may_be_there && !planted(Bug::unknown_is_not_compensated)) return submit_end(claim, context);
  drop_if_done(claim, context);
}

// From here on the timer thread drives for it.
void Coordinator::leave(const Call& call, EventContext& context) {
  for (RemoteHold* hold = remotes_.first(); hold != nullptr; hold = hold->next) {
    if (hold->downgrade_waiter == &call) hold->downgrade_waiter = nullptr;
    if (hold->release_waiter != &call) continue;
    hold->release_waiter = nullptr;
    if (hold->releasing) hold->repeat_at = later(context.now(), repeat_pause);
    due_by(due_of(*hold));
  }
}

void Coordinator::drop_if_done(RemoteHold& hold, EventContext& context) {
  const bool done = hold.stage == RemoteHold::Stage::ending && hold.local_holds() == 0 &&
                    hold.repeat_at == Clock::never() &&
                    hold.subscription.retry_at == Clock::never();
  if (!done || hold.under_way()) return;
  if (hold.subscription.stage == Subscription::Stage::on) {
    return unsubscribe(hold.subscription, context);
  }
  --in_the_way_[is_shared(hold.type) ? 1 : 0];
  remotes_.remove(hold);
  ThreadCache<RemoteHold>::give_back(hold);
}

void Coordinator::owner_ended(Owner owner, EventContext& context) {
  for (RemoteHold* hold = remotes_.first(); hold != nullptr;) {
    RemoteHold& held = *std::exchange(hold, hold->next);
    const std::uint32_t locks = held.locks[0] + held.locks[1];
    if (held.stage != RemoteHold::Stage::held || held.owner != owner || locks == 0) continue;
    if (reports(Event::Kind::abandoned)) {
      tell(Event::Kind::abandoned, held, context, "its thread ended while it held by lock()");
    }
    held.watchdogs -= locks;
    held.locks[0] = held.locks[1] = 0;
    // Nobody knows in which state the thread left what it guarded: the lease decides, as it would
    // if the whole process had ended.
    if (held.local_holds() == 0) drop_local_hold(held, held.deadline_point(), nullptr, context);
  }
}

}  // namespace latchkey::detail
