// The coordinator's decisions about giving back: release, abandoned claims, the unknown outcome.
#include <algorithm>
#include <utility>

#include "core/magazine.hpp"
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
                                 Turn& turn) {
  const Answer result = answer_of_release(outcome.kind);
  if (result == Answer::lost) return answer_lost(call, hold, turn);
  if (result == Answer::unavailable || result == Answer::refused) {
    call.text = std::string_view(outcome.text);
  }
  answer(call, result, turn);
}

void Coordinator::unlock(Call& call, Turn& turn) {
  call.acquires = false;
  call.releases = true;
  const int kind = is_shared(call.type) ? 1 : 0;
  RemoteHold* newest = nullptr;  // after a loss the owner may hold anew: that is undone first
  for (RemoteHold* hold = remotes_.first(); hold != nullptr; hold = hold->next) {
    const bool held = hold->stage == RemoteHold::Stage::held;
    if (held && hold->owner == call.owner && hold->locks[kind] > 0) newest = hold;
  }
  if (newest == nullptr) return answer(call, Answer::not_owner, turn);
  --newest->locks[kind];
  --newest->watchdogs;  // what lock() takes is always renewed
  ungrip(*newest, Clock::time_point::min(), &call, turn);
}

void Coordinator::release(RemoteHold& hold, LockType type, bool watched,
                          Clock::time_point linger_until, Call* call, Turn& turn) {
  if (call != nullptr) {
    call->acquires = false;
    call->releases = true;
  }
  --hold.holds[is_shared(type) ? 1 : 0];
  --context_->hold_objects;
  if (watched) --hold.watchdogs;
  ungrip(hold, linger_until, call, turn);
}

// One local hold less. The remote one goes with the last.
void Coordinator::ungrip(RemoteHold& hold, Clock::time_point linger_until, Call* call, Turn& turn) {
  const bool lost = hold.is_lost(turn.now());
  if (hold.grips() > 0 && !planted(Bug::release_ignores_the_count)) {
    const bool write_ended = hold.exclusive_grips() == 0 && hold.type == LockType::WRITE;
    if (write_ended && !lost && !hold.downgrading) {
      hold.downgrading = true;
      hold.downgrader = call;
      return downgrade(hold, turn);
    }
    if (call == nullptr) return;
    return lost ? answer_lost(*call, hold, turn) : answer(*call, Answer::granted, turn);
  }
  if (lost) {
    declare_lost(hold, "its lease ended", turn);
    if (call != nullptr) answer_lost(*std::exchange(call, nullptr), hold, turn);
  }
  const bool downgrade_sent = hold.checking && hold.check.verb == Verb::downgrade;
  if (hold.downgrader != nullptr && !downgrade_sent) {
    // It will never be sent: the READs, for which it was to be, are over as well.
    answer(*std::exchange(hold.downgrader, nullptr), Answer::granted, turn);
  }
  if (!hold.renewals.empty()) fail_renewals(hold, turn);
  if (!lost && linger_until > turn.now()) {
    hold.stage = RemoteHold::Stage::linger;
    hold.owner = Owner::nobody();
    hold.linger_until = linger_until;
    if (call != nullptr) answer(*call, Answer::granted, turn);
    return;
  }
  end(hold, call, turn);
  pump(turn);
  leave_channel_if_unused(turn);
}

void Coordinator::end(RemoteHold& hold, Call* call, Turn& turn) {
  if (hold.stage == RemoteHold::Stage::claim) past_claim(hold);
  hold.stage = RemoteHold::Stage::ending;
  hold.ender = call;
  if (!planted(Bug::renewal_outlives_release)) hold.check_at = Clock::never();
  if (hold.gone) return drop_if_done(hold, turn);
  submit_end(hold, turn);
}

void Coordinator::submit_end(RemoteHold& hold, Turn& turn) {
  if (hold.releasing) return;
  if (!can_submit(turn)) {
    hold.repeat_at = later(turn.now(), repeat_pause);
    return;
  }
  const bool queued = hold.type == LockType::FAIR && hold.granted_at == Clock::time_point{};
  const bool unsure = hold.write_or_read && !planted(Bug::downgrade_stays_a_write);
  prepare(hold.end, queued || unsure ? Verb::leave : Verb::release, hold, turn);
  if (unsure) hold.end.type = LockType::WRITE;
  hold.releasing = true;
  // Where no call waits for the outcome nobody drives for it either, and what the backend has yet
  // to do about it would not be done: the timer thread does, as long as something is due.
  hold.repeat_at = hold.ender != nullptr ? Clock::never() : later(turn.now(), repeat_pause);
  submit(hold.end, turn);
}

void Coordinator::ended(RemoteHold& hold, Outcome& outcome, Turn& turn) {
  hold.releasing = false;
  hold.repeat_at = Clock::never();
  const bool sure = outcome.kind == Outcome::Kind::granted || outcome.kind == Outcome::Kind::gone;
  const bool was_held = hold.granted_at != Clock::time_point{};
  if (sure) hold.released = true;
  if (hold.stage == RemoteHold::Stage::held) {  // closed over the holder's head
    hold.gone = hold.gone || sure;
    return;
  }
  if (was_held) tell_end(hold, outcome, turn);
  const bool downgrade_sent = hold.checking && hold.check.verb == Verb::downgrade;
  if (hold.downgrader != nullptr && !downgrade_sent) {
    answer_release(*std::exchange(hold.downgrader, nullptr), hold, outcome, turn);
  }
  if (Call* const call = std::exchange(hold.ender, nullptr))
    answer_release(*call, hold, outcome, turn);
  if (std::exchange(hold.release_again, false)) return submit_end(hold, turn);
  // A copy of an unanswered attempt may run after this release, unless the backend keeps the order.
  const bool copies = hold.unsettled && !context_->settings->in_order;
  if ((!sure || copies) && turn.now() < hold.expires_at) {
    hold.repeat_at = std::min(later(turn.now(), repeat_pause), hold.expires_at);
  } else {
    drop_if_done(hold, turn);
  }
  pump(turn);
}

// Of each hold exactly one end is told: it is lost, released, or its release is not confirmed.
void Coordinator::tell_end(RemoteHold& hold, const Outcome& outcome, Turn& turn) {
  if (hold.unconfirmed || hold.lost.load(std::memory_order_relaxed)) return;
  switch (outcome.kind) {
    case Outcome::Kind::gone:
      if (hold.ender != nullptr) {
        return declare_lost(hold, "the backend no longer had it when it was released", turn);
      }
      [[fallthrough]];  // what nobody held any more, and was only kept
    case Outcome::Kind::granted:
      if (tells(Event::Kind::released)) tell(Event::Kind::released, hold, turn);
      return;
    case Outcome::Kind::busy:
    case Outcome::Kind::unknown:
    case Outcome::Kind::refused: break;
  }
  hold.unconfirmed = true;
  if (tells(Event::Kind::release_unconfirmed)) {
    tell(Event::Kind::release_unconfirmed, hold, turn, outcome.text);
  }
}

// A waiting call is gone: whatever came or will come of its claim is given back.
void Coordinator::abandon(RemoteHold& claim, Turn& turn) {
  claim.call = nullptr;
  if (claim.stage == RemoteHold::Stage::claim) past_claim(claim);
  claim.stage = RemoteHold::Stage::ending;
  claim.poll_at = Clock::never();
  const bool queued = claim.type == LockType::FAIR && claim.reached;
  const bool may_be_there = claim.asking || claim.unsettled || claim.refused || queued;
  if (may_be_there && !planted(Bug::unknown_is_not_compensated)) return submit_end(claim, turn);
  drop_if_done(claim, turn);
}

// From here on the timer thread drives for it.
void Coordinator::leave(const Call& call, Turn& turn) {
  for (RemoteHold* hold = remotes_.first(); hold != nullptr; hold = hold->next) {
    if (hold->downgrader == &call) hold->downgrader = nullptr;
    if (hold->ender != &call) continue;
    hold->ender = nullptr;
    if (hold->releasing) hold->repeat_at = later(turn.now(), repeat_pause);
  }
}

void Coordinator::drop_if_done(RemoteHold& hold, Turn& turn) {
  const bool done = hold.stage == RemoteHold::Stage::ending && hold.grips() == 0 &&
                    hold.repeat_at == Clock::never();
  if (!done || hold.under_way()) return;
  if (hold.subscription.stage == Subscription::Stage::on) {
    return unsubscribe(hold.subscription, turn);
  }
  --in_the_way_[is_shared(hold.type) ? 1 : 0];
  remotes_.remove(hold);
  Magazine<RemoteHold>::give_back(hold);
}

void Coordinator::owner_ended(Owner owner, Turn& turn) {
  for (RemoteHold* hold = remotes_.first(); hold != nullptr;) {
    RemoteHold& held = *std::exchange(hold, hold->next);
    const std::uint32_t locks = held.locks[0] + held.locks[1];
    if (held.stage != RemoteHold::Stage::held || held.owner != owner || locks == 0) continue;
    if (tells(Event::Kind::abandoned)) {
      tell(Event::Kind::abandoned, held, turn, "its thread ended while it held by lock()");
    }
    held.watchdogs -= locks;
    held.locks[0] = held.locks[1] = 0;
    // Nobody knows in which state the thread left what it guarded: the lease decides, as it would
    // if the whole process had ended.
    if (held.grips() == 0) ungrip(held, held.deadline_point(), nullptr, turn);
  }
}

}  // namespace latchkey::detail
