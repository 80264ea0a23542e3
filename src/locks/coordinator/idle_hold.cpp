// A hold that nobody in this process has any more, kept until another process wants it.
// SPDX-License-Identifier: BSL-1.0
#include "locks/coordinator/idle_hold.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <new>
#include <stop_token>
#include <utility>

#include "locks/coordinator/immediate.hpp"

namespace latchkey::inline v1::detail {

using std::chrono::milliseconds;
using Presence = RemoteHold::Presence;
using Recall = RemoteHold::Recall;
using Stage = RemoteHold::Stage;

bool IdleHold::can_be_idle(const Coordinator& home, const RemoteHold& hold) {
  if (hold.cache.count() == 0 || !can_be_kept(hold.type)) return false;
  return home.shard_->keeps_idle == KeepsIdle::yes;
}

milliseconds IdleHold::time_of(const Coordinator& home, const RemoteHold& hold) {
  if (hold.cache != adaptive_cache) return hold.cache;
  ReuseTimes* const learned = home.shard_->reuse_times.get();
  return learned != nullptr ? learned->expected(home.hash) : milliseconds(0);
}

// A call that waits has come back already. Without memory nothing is learned, and nothing kept.
void IdleHold::learn_of_release(Coordinator& home, const RemoteHold& hold) {
  if (hold.cache != adaptive_cache || !can_be_idle(home, hold) || !home.waiters_.empty()) return;
  std::unique_ptr<ReuseTimes>& learned = home.shard_->reuse_times;
  if (learned == nullptr) learned.reset(new (std::nothrow) ReuseTimes);
  if (learned != nullptr) learned->on_release(home.hash, hold.type, home.now());
}

bool IdleHold::is_wanted_idle(Coordinator& home, const RemoteHold& hold) {
  if (!can_be_idle(home, hold) || time_of(home, hold).count() == 0) return false;
  const Yielding& others = home.yielding_;
  const Clock::time_point now = home.now();
  return others.stage == Yielding::Stage::off && now >= others.recalled_until &&
         now >= others.others_until && now >= others.foreign_until;
}

void IdleHold::reserve_tokens(Coordinator& home, RemoteHold& claim) {
  if (is_wanted_idle(home, claim)) claim.acquire.request.tokens = block_of_idle_tokens;
}

// A hold whose lease is short, or that no call could take, is not worth a request.
bool IdleHold::may_keep(Coordinator& home, const RemoteHold& hold) {
  const CoordinatorContext& shard = *home.shard_;
  if (!is_wanted_idle(home, hold) || !home.waiters_.empty() || shard.closed) return false;
  if (shard.link_is_down) return false;
  if (home.holds_.idle() != nullptr || !hold.is_settled() || hold.pins > 0) return false;
  if (hold.recall == Recall::wanted || hold.revoked.load(std::memory_order_relaxed)) return false;
  if (hold.end_reported || hold.acquire.request.type != hold.type) return false;
  if (hold.delay.count() != 0 || hold.delay_in_force.count() != 0) return false;
  if (hold.fenced && hold.spare_tokens == 0) return false;
  const bool is_over = hold.was_idle() && home.now() >= hold.idle_bound;
  if (is_over || hold.is_marked_lost()) return false;
  return hold.deadline_point() - home.now() >= least_idle_rest;
}

bool IdleHold::keep(Coordinator& home, RemoteHold& hold, Call* call) {
  learn_of_release(home, hold);
  if (!may_keep(home, hold)) return false;
  if (hold.recall == Recall::unasked && !home.can_submit()) return false;
  home.holds_.set_idle(hold);
  ++home.shard_->idle_holds;
  hold.limits.clear();
  hold.check.wanted = milliseconds(0);
  if (!hold.was_idle()) {
    const bool learns = hold.cache == adaptive_cache;
    hold.idle_bound = later(home.now(), learns ? longest_adaptive_cache : hold.cache);
  }
  hold.idle_until = std::min(hold.idle_bound, later(home.now(), time_of(home, hold)));
  if (!hold.check.in_flight() && hold.recall == Recall::unasked) ask(home, hold, Verb::expire);
  plan_renewal(home, hold);
  if (awaits_reply(home, hold)) {
    hold.release_waiter = call;
  } else {
    end_local_hold(home, hold, call);
  }
  home.holds_.due_by(hold.due());
  home.unsubscribe_if_unused();
  return true;
}

bool IdleHold::awaits_reply(const Coordinator& home, const RemoteHold& hold) {
  return hold.check.in_flight(Verb::expire) && !home.settings().in_order;
}

// Whatever becomes of the idle hold is no end of a local hold.
void IdleHold::end_local_hold(Coordinator& home, RemoteHold& hold, Call* call) {
  if (!hold.end_reported && home.reports(Event::Kind::released)) {
    home.report(Event::Kind::released, hold);
  }
  hold.end_reported = true;
  hold.owner = Owner::nobody();
  hold.stop = std::stop_source(std::nostopstate);
  hold.end_revocation();
  if (call != nullptr) home.answer(*call, Answer::granted);
}

// Nobody compares the deadline, which begins anew for the next local hold: an `expire` may shorten
// the lease from the moment that it is sent. A renewal asks for no more than the calls did.
void IdleHold::ask(Coordinator& home, RemoteHold& hold, Verb verb) {
  if (verb == Verb::expire && !home.settings().announcement.empty()) home.announce(hold);
  const milliseconds lease = home.settings().offered_lease(std::min(hold.lease, idle_lease));
  home.send_check(hold, verb, lease);
  if (!hold.check.in_flight()) return;
  hold.recall = Recall::asked;
  hold.check.watch = CheckProgress::Watch::on;
  const Clock::time_point end = end_of_lease(hold.check.request.sent, lease);
  if (verb != Verb::expire || end >= hold.deadline_point()) return;
  hold.deadline.set(end);
  hold.lease = hold.in_force = lease;
}

// A hold whose calls have shorter leases is kept for as long as a call can take it.
void IdleHold::plan_renewal(Coordinator& home, RemoteHold& hold) {
  hold.check.due_at = Clock::never();
  const Clock::time_point last = hold.deadline_point() - least_idle_rest;
  if (hold.lease < idle_lease) hold.idle_until = std::min(hold.idle_until, last);
  if (hold.check.in_flight() || hold.idle_until <= last) return;
  hold.check.due_at = last - idle_renewal_time;
  if (home.now() >= hold.check.due_at) ask(home, hold, Verb::renew);
}

bool IdleHold::may_take(Coordinator& home, const RemoteHold& hold, const Call& call) {
  const bool is_over = home.now() >= hold.idle_until || hold.is_lost(home.now());
  if (is_over || call.type != hold.type || call.bundled) return false;
  return home.suits(hold, call);
}

bool IdleHold::take(Coordinator& home, Call& call) {
  ReuseTimes* const learned = home.shard_->reuse_times.get();
  if (learned != nullptr && !call.bundled) learned->on_call(home.hash, call.type, home.now());
  RemoteHold* const hold = home.holds_.idle();
  if (hold == nullptr) return false;
  if (awaits_reply(home, *hold)) return false;
  const bool asks = hold->recall == Recall::unasked && !hold->check.in_flight();
  if (!may_take(home, *hold, call) || (asks && !home.can_submit())) {
    end(home);
    return false;
  }
  if (asks) ask(home, *hold, Verb::renew);
  grant(home, *hold, call);
  return true;
}

void IdleHold::grant(Coordinator& home, RemoteHold& hold, Call& call) {
  --home.shard_->idle_holds;
  home.holds_.set_held_again(hold, call.owner);
  hold.end_reported = false;
  hold.check.due_at = Clock::never();
  call.cached = true;
  home.give_to(hold, call);
  const Clock::time_point check = home.next_check(hold, hold.deadline_point() - hold.in_force);
  hold.check.due_at = std::min(hold.check.due_at, check);
  home.holds_.due_by(hold.check.due_at);
  if (hold.type == LockType::READ) home.offer_to_reads(hold);
}

void IdleHold::keep_on(Coordinator& home, RemoteHold& hold) {
  const bool renewed = hold.check.request.verb == Verb::renew;
  if (renewed && !hold.move_deadline_by_check()) return end(home);
  plan_renewal(home, hold);
  home.holds_.due_by(hold.due());
  grant_to_waiting(home, hold);
}

// A FAIR call that waits has a place at the backend, which does not tell this process of it.
void IdleHold::grant_to_waiting(Coordinator& home, RemoteHold& hold) {
  if (home.waiters_.empty()) return;
  Call* const first = home.waiters_.front();
  const bool suits = first != nullptr && first->hold == nullptr && may_take(home, hold, *first);
  if (!suits) return end(home);
  home.waiters_.remove(*first);
  grant(home, hold, *first);
  home.dispatch_waiters();  // READs join it
}

void IdleHold::tick(Coordinator& home, RemoteHold& hold) {
  if (home.now() >= hold.idle_until || hold.is_lost(home.now())) return end(home);
  if (home.now() >= hold.check.due_at) plan_renewal(home, hold);
}

void IdleHold::end(Coordinator& home) {
  RemoteHold* const hold = home.holds_.idle();
  if (hold == nullptr) return;
  --home.shard_->idle_holds;
  Call* call = std::exchange(hold->release_waiter, nullptr);
  if (call != nullptr && hold->presence == Presence::gone) {
    home.answer_lost(*std::exchange(call, nullptr), *hold);
  }
  home.ask_for_others(*hold);
  if (call == nullptr) return home.start_release(*hold, nullptr);
  // The `expire` may have run: from its deadline on the hold may have ended by itself.
  hold->retention.until = hold->deadline_point();
  home.start_release(*hold, call, hold->check.request.sent);
}

const RemoteHold* IdleHold::of(const Coordinator& home) noexcept { return home.holds_.idle(); }

bool IdleHold::end(Coordinator& home, EventContext& event) {
  home.event_ = &event;
  const bool was_idle = home.holds_.idle() != nullptr;
  end(home);
  return was_idle;
}

// A server that does not reply, or refuses, may tell of nobody.
void IdleHold::on_reply(Coordinator& home, RemoteHold& hold, const Outcome& outcome) {
  const bool granted = outcome.kind == Outcome::Kind::granted;
  if (outcome.kind == Outcome::Kind::gone) {
    hold.presence = Presence::gone;
    if (hold.stage == Stage::idle) home.mark_lost(hold, "the backend no longer had it");
  } else if (!granted || outcome.wanted) {
    home.yielding_.note_others(home.now(), true);
    hold.recall = Recall::wanted;
  }
  const bool changed = hold.check.watch == CheckProgress::Watch::changed;
  const bool kept = granted && !outcome.wanted && (!changed || hold.type == LockType::READ);
  if (hold.stage != Stage::idle) return;
  if (granted) end_local_hold(home, hold, std::exchange(hold.release_waiter, nullptr));
  if (kept) return keep_on(home, hold);
  if (outcome.wanted) report_recall(home);
  end(home);
  home.dispatch_waiters();  // if it is gone, no reply to a release follows
}

void IdleHold::on_wanted(Coordinator& home) {
  home.yielding_.note_others(home.now(), true);
  report_recall(home);
  home.holds_.for_each([&](RemoteHold& hold) {
    if (hold.stage == Stage::held) hold.recall = Recall::wanted;
  });
  end(home);
}

// Readers of other processes come and go, which changes a READ that nobody wants from this one. The
// backend tells of that once: the call that takes the hold asks whether it is still there.
void IdleHold::on_change(Coordinator& home, bool of_one_key) {
  const RemoteHold* const idle = home.holds_.idle();
  if (!of_one_key || (idle != nullptr && idle->type != LockType::READ)) return end(home);
  home.holds_.for_each([&](RemoteHold& hold) {
    if (hold.type != LockType::READ || hold.recall != Recall::asked) return;
    hold.recall = Recall::unasked;
    if (!hold.is_old_enough_to_watch(home.now())) hold.check.watch = CheckProgress::Watch::off;
  });
}

void IdleHold::report_recall(Coordinator& home) {
  const RemoteHold* const hold = home.holds_.idle();
  const bool is_idle = hold != nullptr && hold->end_reported;
  if (is_idle && home.reports(Event::Kind::recalled)) {
    home.report(Event::Kind::recalled, *hold);
  }
}

void IdleHold::note_others(Coordinator& home, const RemoteHold& claim) {
  if (claim.cache.count() == 0 || home.shard_->keeps_idle != KeepsIdle::yes) return;
  home.yielding_.note_others(home.now(), false);
}

void IdleHold::on_link_down(Coordinator& home) {
  end(home);
  home.holds_.for_each([&](RemoteHold& hold) {
    if (hold.stage == Stage::held && hold.recall == Recall::asked) hold.recall = Recall::unasked;
  });
}

}  // namespace latchkey::inline v1::detail
