// The decisions about a WRITE that becomes a READ.
// SPDX-License-Identifier: BSL-1.0
#include "locks/coordinator/logic/downgrade_logic.hpp"

#include <utility>

#include "locks/coordinator/logic/acquire_logic.hpp"
#include "locks/coordinator/logic/lease_logic.hpp"
#include "locks/coordinator/logic/release_logic.hpp"

namespace latchkey::inline v1::detail {

using std::chrono::milliseconds;
using Downgrade = RemoteHold::Downgrade;
using Presence = RemoteHold::Presence;
using Stage = RemoteHold::Stage;

void DowngradeLogic::send(RemoteHold& hold) {
  if (hold.check_request.in_flight) return;  // it is sent after that reply
  for (Call* call = hold.renewals.first(); call != nullptr;) {
    Call& waiting = *std::exchange(call, call->next);
    if (waiting.kind != Call::Kind::acquire || is_shared(waiting.type)) continue;
    // From here on the hold may be a READ, which no WRITE enters.
    hold.renewals.remove(waiting);
    waiting.list = nullptr;
    answer_deadlock(waiting, LockType::READ, hold);
  }
  hold.downgrade = Downgrade::sent;
  LeaseLogic(*this).send_check(hold, Verb::downgrade, hold.period(settings().watchdog));
}

// Another thread of the owner re-entered before the downgrade was sent: the hold stays a WRITE.
void DowngradeLogic::cancel_if_reentered(RemoteHold& hold) {
  if (!hold.awaits_downgrade() || hold.exclusive_holds() == 0) return;
  hold.downgrade = Downgrade::none;
  Call* const call = std::exchange(hold.downgrade_waiter, nullptr);
  if (call != nullptr) answer(*call, Answer::granted);
}

void DowngradeLogic::on_reply(RemoteHold& hold, const Outcome& outcome) {
  const bool granted = outcome.kind == Outcome::Kind::granted;
  if (hold.stage == Stage::releasing) return on_reply_while_releasing(hold, outcome);
  Call* const call = std::exchange(hold.downgrade_waiter, nullptr);
  if (hold.stage == Stage::retained) return on_reply_while_retained(hold, outcome, call);
  const bool lost = hold.is_lost(now()) || (granted && !hold.move_deadline_by_check());
  if (outcome.kind == Outcome::Kind::gone || lost) {
    if (call != nullptr) answer_lost(*call, hold);
    if (outcome.kind == Outcome::Kind::gone) hold.presence = Presence::gone;
    return LeaseLogic(*this).declare_lost(hold, "the backend no longer had it");
  }
  if (granted) {
    become_read(hold);
    hold.check_at = next_check(hold, hold.check_request.sent);
  } else {
    hold.check_at = later(now(), milliseconds(50));
  }
  state_.holds.due_by(hold.check_at);
  if (call != nullptr) answer_release(*call, hold, outcome);
  if (!granted) LeaseLogic(*this).answer_renewals(hold, outcome);
  if (granted) LeaseLogic(*this).check_if_asked_again(hold);
  AcquireLogic(*this).dispatch_waiters();
}

void DowngradeLogic::on_reply_while_retained(RemoteHold& hold, const Outcome& outcome, Call* call) {
  if (outcome.kind == Outcome::Kind::granted) become_read(hold);
  ReleaseLogic release(*this);
  release.send_expire(hold);
  if (!hold.check_request.in_flight) release.answer_retained(hold, Answer::granted);
  if (call != nullptr) answer_release(*call, hold, outcome);
  AcquireLogic(*this).dispatch_waiters();
}

// The READs ended before the reply. Their release ends a WRITE as well, so if the outcome of the
// downgrade is unknown, the reply to the release says whether the WRITE is over. A downgrade that
// the release has overtaken finds nothing.
void DowngradeLogic::on_reply_while_releasing(RemoteHold& hold, const Outcome& outcome) {
  const bool over = outcome.kind == Outcome::Kind::granted || outcome.kind == Outcome::Kind::gone ||
                    hold.presence == Presence::released;
  if (hold.downgrade_waiter != nullptr && (over || !hold.release_request.in_flight)) {
    Call& call = *std::exchange(hold.downgrade_waiter, nullptr);
    over ? answer(call, Answer::granted) : answer_release(call, hold, outcome);
  }
  ReleaseLogic(*this).erase_if_done(hold);
}

// A late copy of the acquire would make a WRITE of it once more, which the release must find.
void DowngradeLogic::become_read(RemoteHold& hold) noexcept {
  state_.holds.set_read(hold);
  hold.downgrade = copy_may_run(hold) ? Downgrade::unsure : Downgrade::none;
}

}  // namespace latchkey::inline v1::detail
