// The coordinator's decisions about notifications: when to be told, and what to do then.
#include <utility>

#include "locks/coordinator.hpp"
#include "locks/planted.hpp"

namespace latchkey::detail {

void Coordinator::subscribe(Subscription& subscription, RemoteHold* claim, EventContext& context) {
  if (!can_submit(context)) return;  // it polls, and tries again with each poll
  subscription.stage = Subscription::Stage::joining;
  subscription.retry_at = Clock::never();
  Request& request = subscription.request;
  request.verb = Verb::subscribe;
  request.key = key;
  request.context = this;
  request.sent = context.now();
  request.type = claim != nullptr ? claim->type : LockType::REENTRANT;
  request.id = claim != nullptr ? claim->id : HoldId{context_->settings->space, 0};
  subscription.request.hold = claim;
  submit(request, context);
}

void Coordinator::unsubscribe(Subscription& subscription, EventContext& context) {
  if (!can_submit(context)) return retry_unsubscribe(subscription, context);
  subscription.stage = Subscription::Stage::leaving;
  subscription.retry_at = Clock::never();
  subscription.request.verb = Verb::unsubscribe;
  subscription.request.sent = context.now();
  submit(subscription.request, context);
}

// No unsubscribe was sent, so the backend may still deliver. A call that waits before the retry
// subscribes again.
void Coordinator::retry_unsubscribe(Subscription& subscription, EventContext& context) {
  subscription.stage = Subscription::Stage::off;
  subscription.retry_at = later(context.now(), repeat_pause);
  due_by(subscription.retry_at);
}

void Coordinator::subscription_changed(RemoteHold* claim, const Outcome& outcome,
                                       EventContext& context) {
  Subscription& subscription = claim != nullptr ? claim->subscription : subscription_;
  const bool joined = subscription.stage == Subscription::Stage::joining;
  if (joined && outcome.kind == Outcome::Kind::unknown) {
    return unsubscribe(subscription, context);  // it may have been heard
  }
  if (!joined && outcome.never_ran) {
    retry_unsubscribe(subscription, context);
    return claim != nullptr ? void() : retry_queue_now(context);
  }
  const bool on = joined && outcome.kind == Outcome::Kind::granted;
  subscription.stage = on ? Subscription::Stage::on : Subscription::Stage::off;
  // Between "busy" and here a release may have gone unheard: attempt again, then sleep.
  const bool missed = planted(Bug::no_attempt_after_subscribing) ? false : true;
  if (claim != nullptr) {
    const bool waits = claim->stage == RemoteHold::Stage::claim && claim->call != nullptr;
    if (waits && on && missed) return retry_now(*claim, context);
    if (!waits && on) return unsubscribe(subscription, context);
    return drop_if_done(*claim, context);
  }
  if ((on && missed) || !joined) retry_queue_now(context);
  leave_channel_if_unused(context);
}

void Coordinator::notified(const Notification& notification, EventContext& context) {
  using Kind = Notification::Kind;
  if (notification.kind == Kind::link_down || notification.kind == Kind::warning) return;
  const bool everybody = notification.kind == Kind::link_up;
  const bool one = notification.id.number != 0;
  if (!everybody && !one) return retry_queue_now(context);
  for (RemoteHold* hold = remotes_.first(); hold != nullptr;) {
    RemoteHold& each = *std::exchange(hold, hold->next);
    if (one && each.id != notification.id) continue;
    if (each.stage == RemoteHold::Stage::claim) {
      retry_now(each, context);
    } else if (each.stage == RemoteHold::Stage::held && notification.kind == Kind::gone) {
      each.gone = true;
      declare_lost(each, "the backend took it away", context);
    } else if (each.stage == RemoteHold::Stage::held && everybody && !each.checking &&
               !each.is_lost(context.now())) {
      check(each, context);
    }
  }
}

// Something happened that may have freed the key: attempt again, now or when the answer is here.
void Coordinator::retry_now(RemoteHold& claim, EventContext& context) {
  if (claim.call == nullptr) return;
  if (claim.asking) {
    claim.retry_requested = true;
  } else {
    ask(claim, context);
  }
}

void Coordinator::retry_queue_now(EventContext& context) {
  for (Call* call = queue_.first(); call != nullptr && call->hold != nullptr; call = call->next) {
    retry_now(*call->hold, context);
  }
}

}  // namespace latchkey::detail
