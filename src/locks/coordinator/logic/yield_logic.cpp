// The decisions about letting other processes take a key first.
// SPDX-License-Identifier: BSL-1.0
#include "locks/coordinator/logic/yield_logic.hpp"

#include <algorithm>
#include <chrono>

#include "locks/coordinator/logic/subscription_logic.hpp"
#include "locks/coordinator/logic/wait_logic.hpp"

namespace latchkey::inline v1::detail {
namespace {

using std::chrono::milliseconds;

/// How long those who waited are assumed to do so again.
constexpr std::chrono::seconds remembered{1};

/// A process that was notified sends its attempt after half a round trip, which takes another half,
/// and its thread has to wake up in between.
Clock::duration time_to_take(Clock::duration round_trip) noexcept {
  constexpr Clock::duration least = milliseconds(1), most = milliseconds(250);
  return std::clamp(2 * round_trip, least, most);
}

}  // namespace

// With a process queue only those outside of it matter. The release then asks even if no call waits
// here: a call that comes before the reply lets them go first, too.
void YieldLogic::before_release(const RemoteHold& hold) {
  Yielding& yielding = state_.yielding;
  const bool one_waits = state_.waiters.next_to_start() != nullptr;
  const bool asks = is_raced_for(hold.type) && hold.presence == RemoteHold::Presence::possible &&
                    settings().pushes && settings().cohort.count() > 0 &&
                    now() >= yielding.alone_until &&
                    (settings().grants ? now() < yielding.others_until : one_waits);
  if (asks) yielding.stage = Yielding::Stage::asking;
}

// The subscription of this process is among those that were notified, unless it is in line.
void YieldLogic::on_release_reply(const RemoteHold& hold, const Outcome& outcome) {
  if (!is_raced_for(hold.type)) return;
  Yielding& yielding = state_.yielding;
  yielding.round_trip = now() - hold.release_request.sent;
  const Subscription::Stage own = state_.subscription.stage;
  const bool subscribed =
      (own == Subscription::Stage::on || own == Subscription::Stage::subscribing) &&
      !state_.subscription.request.in_line;
  const bool others = settings().cohort.count() > 0 && outcome.notified > (subscribed ? 1U : 0U);
  if (others) {
    on_others_notified();
    yielding.stage = Yielding::Stage::yielding;
    yielding.until = later(now(), time_to_take(yielding.round_trip));
    return;
  }
  if (yielding.stage == Yielding::Stage::asking) yielding.stage = Yielding::Stage::off;
  yielding.alone_until = later(now(), settings().cohort);
}

void YieldLogic::on_others_notified() noexcept {
  state_.yielding.others_until = later(now(), remembered);
}

// A claim that also listens to the key's channel is told twice of each release, and the release may
// be granting the key to it: the grant then follows.
bool YieldLogic::lets_others_first(RemoteHold& claim, bool first_in_line) {
  const bool in_line = claim.place != 0 && is_raced_for(claim.type) && claim.call != nullptr;
  if (!in_line || claim.behind_foreign || claim.acquire_request.in_flight) return false;
  const bool by_key = !first_in_line && state_.subscription.request.in_line;
  if (by_key && claim.near_front_since == Clock::never()) return true;
  if (!by_key && now() >= state_.yielding.others_until) return false;
  if (claim.yielded_place == claim.place) return now() < claim.yields_until;
  claim.yielded_place = claim.place;
  claim.yields_until = claim.poll_at = later(now(), time_to_take(state_.yielding.round_trip));
  set_alarm(*claim.call);
  return true;
}

void YieldLogic::on_foreign_holder() noexcept {
  state_.yielding.foreign_until = state_.yielding.others_until = later(now(), remembered);
}

void YieldLogic::tick() {
  if (now() >= state_.yielding.kept_until()) state_.yielding.stage = Yielding::Stage::off;
}

// The claim counts as busy: others have the key, or are about to.
void YieldLogic::postpone(RemoteHold& claim) {
  Call& call = *claim.call;
  call.last_reply = Call::LastReply::busy;
  claim.poll_at = state_.yielding.until;
  WaitLogic(*this).report_waiting(call);
  // With a process queue, do not subscribe: the server would count us as a foreign waiter.
  const bool listens = settings().pushes && !settings().grants;
  if (listens && state_.subscription.stage == Subscription::Stage::off) {
    SubscriptionLogic(*this).subscribe(state_.subscription, nullptr);
  }
  set_alarm(call);
}

}  // namespace latchkey::inline v1::detail
