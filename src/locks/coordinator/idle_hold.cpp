// A hold that nobody in this process has any more, kept until another process wants it.
// SPDX-License-Identifier: BSL-1.0
#include "locks/coordinator/idle_hold.hpp"

#include <algorithm>
#include <chrono>
#include <stop_token>

#include "locks/coordinator/immediate.hpp"

namespace latchkey::inline v1::detail {

using std::chrono::milliseconds;
using Presence = RemoteHold::Presence;
using Recall = RemoteHold::Recall;
using Stage = RemoteHold::Stage;

bool IdleHold::is_wanted_idle(Coordinator& home, const RemoteHold& hold) {
  if (hold.cache.count() == 0 || !can_be_kept(hold.type)) return false;
  if (home.shard_->keeps_idle != KeepsIdle::yes) return false;
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
  const bool is_over = hold.idle_until != Clock::time_point{} && home.now() >= hold.idle_until;
  if (is_over || hold.is_marked_lost()) return false;
  return hold.deadline_point() - home.now() >= least_idle_lease;
}

bool IdleHold::keep(Coordinator& home, RemoteHold& hold, Call* call) {
  if (!may_keep(home, hold)) return false;
  if (hold.recall == Recall::unasked && !home.can_submit()) return false;
  if (home.reports(Event::Kind::released)) home.report(Event::Kind::released, hold);
  if (call != nullptr) home.answer(*call, Answer::granted);
  home.holds_.set_idle(hold);
  ++home.shard_->idle_holds;
  hold.end_reported = true;  // whatever becomes of it is no end of a local hold
  hold.stop = std::stop_source(std::nostopstate);
  hold.end_revocation();
  hold.limits.clear();
  hold.check.wanted = milliseconds(0);
  if (hold.idle_until == Clock::time_point{}) {
    hold.idle_until = later(home.now(), hold.cache);
  }
  const bool renewed = hold.deadline_point() > later(hold.idle_until, idle_lease);
  if (!hold.check.in_flight() && (hold.recall == Recall::unasked || renewed)) expire(home, hold);
  home.holds_.due_by(hold.due());
  home.unsubscribe_if_unused();
  return true;
}

// Nobody compares the deadline, which begins anew for the next local hold: the request may shorten
// the lease from the moment that it is sent.
void IdleHold::expire(Coordinator& home, RemoteHold& hold) {
  if (!home.settings().announcement.empty()) home.announce(hold);
  const auto left = std::chrono::ceil<milliseconds>(hold.idle_until - home.now()) + idle_lease;
  const milliseconds lease = home.settings().offered_lease(left);
  home.send_check(hold, Verb::expire, lease);
  if (!hold.check.in_flight()) return;
  hold.recall = Recall::asked;
  hold.check.watch = CheckProgress::Watch::on;
  const Clock::time_point end = end_of_lease(hold.check.request.sent, lease);
  if (end >= hold.deadline_point()) return;
  hold.deadline.set(end);
  hold.lease = hold.in_force = lease;
}

bool IdleHold::may_take(Coordinator& home, const RemoteHold& hold, const Call& call) {
  const bool is_over = home.now() >= hold.idle_until || hold.is_lost(home.now());
  if (is_over || call.type != hold.type || call.bundled) return false;
  return home.suits(hold, call);
}

bool IdleHold::take(Coordinator& home, Call& call) {
  RemoteHold* const hold = home.holds_.idle();
  if (hold == nullptr) return false;
  const bool asks = hold->recall == Recall::unasked && !hold->check.in_flight();
  if (!may_take(home, *hold, call) || (asks && !home.can_submit())) {
    end(home);
    return false;
  }
  if (asks) expire(home, *hold);
  --home.shard_->idle_holds;
  home.holds_.set_held_again(*hold, call.owner);
  hold->end_reported = false;
  hold->check.due_at = Clock::never();
  call.cached = true;
  home.give_to(*hold, call);
  if (hold->type == LockType::READ) home.offer_to_reads(*hold);
  return true;
}

void IdleHold::tick(Coordinator& home, RemoteHold& hold) {
  if (home.now() >= hold.idle_until || hold.is_lost(home.now())) end(home);
}

void IdleHold::end(Coordinator& home) {
  RemoteHold* const hold = home.holds_.idle();
  if (hold == nullptr) return;
  --home.shard_->idle_holds;
  home.ask_for_others(*hold);
  home.start_release(*hold, nullptr);
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
  } else if (!granted || outcome.wanted) {
    home.yielding_.note_others(home.now(), true);
    hold.recall = Recall::wanted;
  }
  const bool changed = hold.check.watch == CheckProgress::Watch::changed;
  const bool kept = granted && !outcome.wanted && (!changed || hold.type == LockType::READ);
  if (hold.stage != Stage::idle || kept) return;
  if (outcome.wanted) report_recall(home);
  end(home);
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
  if (hold != nullptr && home.reports(Event::Kind::recalled)) {
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
