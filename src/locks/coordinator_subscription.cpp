// The coordinator's decisions about notifications: when to be told, and what to do then.
#include <utility>

#include "locks/coordinator.hpp"
#include "locks/planted.hpp"

namespace latchkey::detail {

void Coordinator::subscribe(Subscription& subscription, RemoteHold* claim, Turn& turn) {
  if (!can_submit(turn)) return;  // it polls, and tries again with each poll
  subscription.stage = Subscription::Stage::joining;
  Request& request = subscription.request;
  request.verb = Verb::subscribe;
  request.key = key;
  request.context = this;
  request.sent = turn.now();
  request.type = claim != nullptr ? claim->type : LockType::REENTRANT;
  request.id = claim != nullptr ? claim->id : HoldId{context_->settings->space, 0};
  subscription.request.hold = claim;
  submit(request, turn);
}

void Coordinator::unsubscribe(Subscription& subscription, Turn& turn) {
  if (!can_submit(turn)) {
    subscription.stage = Subscription::Stage::on;
    RemoteHold* const claim = subscription.request.hold;
    if (claim != nullptr) claim->repeat_at = later(turn.now(), repeat_pause);
    return;
  }
  subscription.stage = Subscription::Stage::leaving;
  subscription.request.verb = Verb::unsubscribe;
  subscription.request.sent = turn.now();
  submit(subscription.request, turn);
}

void Coordinator::subscription_changed(RemoteHold* claim, const Outcome& outcome, Turn& turn) {
  Subscription& subscription = claim != nullptr ? claim->subscription : subscription_;
  const bool joined = subscription.stage == Subscription::Stage::joining;
  if (joined && outcome.kind == Outcome::Kind::unknown) {
    return unsubscribe(subscription, turn);  // it may have been heard
  }
  const bool on = joined && outcome.kind == Outcome::Kind::granted;
  subscription.stage = on ? Subscription::Stage::on : Subscription::Stage::off;
  // Between "busy" and here a release may have gone unheard: attempt again, then sleep.
  const bool missed = planted(Bug::no_attempt_after_subscribing) ? false : true;
  if (claim != nullptr) {
    const bool waits = claim->stage == RemoteHold::Stage::claim && claim->call != nullptr;
    if (waits && on && missed) return nudge(*claim, turn);
    if (!waits && on) return unsubscribe(subscription, turn);
    return drop_if_done(*claim, turn);
  }
  if ((on && missed) || !joined) nudge_queue(turn);
  leave_channel_if_unused(turn);
}

void Coordinator::notified(const Notification& notification, Turn& turn) {
  using Kind = Notification::Kind;
  if (notification.kind == Kind::link_down || notification.kind == Kind::warning) return;
  const bool everybody = notification.kind == Kind::link_up;
  const bool one = notification.id.number != 0;
  if (!everybody && !one) return nudge_queue(turn);
  for (RemoteHold* hold = remotes_.first(); hold != nullptr;) {
    RemoteHold& each = *std::exchange(hold, hold->next);
    if (one && each.id != notification.id) continue;
    if (each.stage == RemoteHold::Stage::claim) {
      nudge(each, turn);
    } else if (each.stage == RemoteHold::Stage::held && notification.kind == Kind::gone) {
      each.gone = true;
      declare_lost(each, "the backend took it away", turn);
    } else if (each.stage == RemoteHold::Stage::held && everybody && !each.checking &&
               !each.is_lost(turn.now())) {
      check(each, turn);
    }
  }
}

// Something happened that may have freed the key: attempt again, now or when the answer is here.
void Coordinator::nudge(RemoteHold& claim, Turn& turn) {
  if (claim.call == nullptr) return;
  if (claim.asking) {
    claim.nudged = true;
  } else {
    ask(claim, turn);
  }
}

void Coordinator::nudge_queue(Turn& turn) {
  for (Call* call = queue_.first(); call != nullptr && call->hold != nullptr; call = call->next) {
    nudge(*call->hold, turn);
  }
}

}  // namespace latchkey::detail
