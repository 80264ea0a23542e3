// The decisions about notifications.
// SPDX-License-Identifier: BSL-1.0
#include "locks/coordinator/logic/subscription_logic.hpp"

#include <new>

#include "locks/coordinator/logic/acquire_logic.hpp"
#include "locks/coordinator/logic/lease_logic.hpp"
#include "locks/coordinator/logic/release_logic.hpp"
#include "locks/coordinator/logic/wait_logic.hpp"
#include "locks/coordinator/logic/yield_logic.hpp"

namespace latchkey::inline v1::detail {

// Without memory for the request the waiter polls, and each poll subscribes again.
void SubscriptionLogic::subscribe(Subscription& subscription, RemoteHold* claim) {
  const Call* const front = state_.waiters.front();
  const bool permit = front != nullptr && front->type == LockType::PERMIT;
  const LockType of_key = permit ? LockType::PERMIT : LockType::REENTRANT;
  const LockType type = claim != nullptr ? claim->type : of_key;
  send_subscribe(subscription, claim, type,
                 claim != nullptr ? claim->id : HoldId{settings().space, 0});
}

void SubscriptionLogic::subscribe_to_grants() {
  state_.grants.request.queues = true;
  send_subscribe(state_.grants, nullptr, LockType::REENTRANT, HoldId{settings().space, 0});
}

void SubscriptionLogic::send_subscribe(Subscription& subscription, RemoteHold* claim, LockType type,
                                       const HoldId& id) {
  if (!can_submit()) return;
  subscription.stage = Subscription::Stage::subscribing;
  subscription.retry_at = Clock::never();
  OwnedRequest& request = subscription.request;
  request.verb = Verb::subscribe;
  request.key = state_.key;
  request.context = &home_;
  request.sent = now();
  request.type = type;
  request.id = id;
  request.hold = claim;
  submit(request);
}

void SubscriptionLogic::unsubscribe(Subscription& subscription) {
  if (!can_submit()) return retry_unsubscribe(subscription);
  subscription.stage = Subscription::Stage::unsubscribing;
  subscription.retry_at = Clock::never();
  subscription.request.verb = Verb::unsubscribe;
  subscription.request.sent = now();
  submit(subscription.request);
}

// No unsubscribe was sent, so the backend may still deliver. A call that waits before the retry
// subscribes again.
void SubscriptionLogic::retry_unsubscribe(Subscription& subscription) {
  subscription.stage = Subscription::Stage::off;
  subscription.retry_at = later(now(), repeat_pause);
  state_.holds.due_by(subscription.retry_at);
}

void SubscriptionLogic::subscribe_to_revocations() {
  if (state_.revocations.stage != Subscription::Stage::off) return;
  state_.revocations.request.revocations = true;
  send_subscribe(state_.revocations, nullptr, LockType::REENTRANT, HoldId{settings().space, 0});
}

void SubscriptionLogic::listen_for_revocation(RemoteHold& hold) {
  if (hold.stage != RemoteHold::Stage::held || hold.listens.load(std::memory_order_relaxed)) return;
  subscribe_to_revocations();
  // Without memory for the request the next question tries again.
  const bool sent = state_.revocations.stage != Subscription::Stage::off;
  hold.listens.store(sent, std::memory_order_release);
}

bool SubscriptionLogic::is_listened_to() {
  bool any = false;
  state_.holds.for_each([&](const RemoteHold& hold) {
    any = any || (hold.stage == RemoteHold::Stage::held && hold.local_holds() > 0 &&
                  hold.listens.load(std::memory_order_relaxed));
  });
  return any;
}

void SubscriptionLogic::end_unheard_revocations() {
  if (!is_listened_to()) unsubscribe(state_.revocations);
}

// A subscribe without a reply may have run, and the backend subscribes anew with each connection:
// it counts as a subscription. One that was refused leaves the holder without revocations.
void SubscriptionLogic::on_revocations_reply(bool subscribing, const Outcome& outcome) {
  Subscription& subscription = state_.revocations;
  if (!subscribing && outcome.never_ran) return retry_unsubscribe(subscription);
  const bool refused = outcome.never_ran || outcome.kind == Outcome::Kind::refused;
  subscription.stage = subscribing && !refused ? Subscription::Stage::on : Subscription::Stage::off;
  if (subscribing) return end_revocations_if_unused();
  if (is_listened_to()) subscribe_to_revocations();
}

// A request to release is for those who hold now. Later holders, to whom the lock is not handed on
// within the process, know nothing of it.
void SubscriptionLogic::on_revoked() {
  state_.holds.for_each([&](RemoteHold& hold) {
    if (hold.stage != RemoteHold::Stage::held || hold.is_lost(now())) return;
    if (hold.revoked.load(std::memory_order_relaxed)) return;
    if (hold.revocation.stop_possible()) {
      try {
        context_.out.effects_for_others().stops.push_back(hold.revocation);
      } catch (const std::bad_alloc&) {
        return;  // the request is not heard
      }
    }
    hold.revoked.store(true, std::memory_order_release);
    const bool is_held = hold.local_holds() > 0;
    if (is_held && reports(Event::Kind::revoked)) report(Event::Kind::revoked, hold);
  });
}

void SubscriptionLogic::on_subscription_reply(const OwnedRequest& request, const Outcome& outcome) {
  RemoteHold* const claim = request.hold;
  if (request.revocations) {
    return on_revocations_reply(state_.revocations.stage == Subscription::Stage::subscribing,
                                outcome);
  }
  Subscription& own = request.queues ? state_.grants : state_.subscription;
  Subscription& subscription = claim != nullptr ? claim->subscription : own;
  const bool subscribing = subscription.stage == Subscription::Stage::subscribing;
  if (subscribing && outcome.kind == Outcome::Kind::unknown) {
    return unsubscribe(subscription);  // the server may have subscribed
  }
  if (!subscribing && outcome.never_ran) {
    retry_unsubscribe(subscription);
    if (claim == nullptr) WaitLogic(*this).retry_what_was_busy();
    return;
  }
  const bool subscribed = subscribing && outcome.kind == Outcome::Kind::granted;
  subscription.stage = subscribed ? Subscription::Stage::on : Subscription::Stage::off;
  if (claim != nullptr) return on_reply_for_claim(*claim, subscribed);
  if (&subscription == &state_.grants && outcome.kind == Outcome::Kind::refused) {
    state_.grants_refused_until = later(now(), std::chrono::seconds(5));
    WaitLogic(*this).retry_what_was_busy();
  }
  // No release between the busy reply and this one was notified: the claims attempt once more.
  if (subscribed || !subscribing) WaitLogic(*this).retry_what_was_busy();
  unsubscribe_if_unused();
}

void SubscriptionLogic::on_reply_for_claim(RemoteHold& claim, bool subscribed) {
  const bool waits = claim.stage == RemoteHold::Stage::claim && claim.call != nullptr;
  if (waits && subscribed) return WaitLogic(*this).retry_now(claim);
  if (!waits && subscribed) return unsubscribe(claim.subscription);
  ReleaseLogic(*this).erase_if_done(claim);
}

// The subscription may be used again before, and then stays.
void SubscriptionLogic::unsubscribe_from_grants_later() {
  if (state_.grants_unused_until != Clock::never()) return;
  state_.grants_unused_until = later(now(), grants_stay);
  state_.holds.due_by(state_.grants_unused_until);
}

void SubscriptionLogic::tick() {
  if (now() >= state_.subscription.retry_at) unsubscribe(state_.subscription);
  if (now() >= state_.grants.retry_at) unsubscribe(state_.grants);
  if (now() >= state_.revocations.retry_at) unsubscribe(state_.revocations);
  if (now() < state_.grants_unused_until) return;
  state_.grants_unused_until = Clock::never();
  const bool on = state_.grants.stage == Subscription::Stage::on;
  if (on && !state_.waiters.front_has_started()) unsubscribe(state_.grants);
}

// False for a grant that is older than the last reply: by that reply the claim was still, or again,
// in line.
bool SubscriptionLogic::is_awaited(const RemoteHold& claim, const Notification& grant) noexcept {
  if (claim.place == 0) return false;
  return claim.type == LockType::FAIR ? grant.place >= claim.place : grant.place == claim.place;
}

// A claim that gave up has sent its release. A reply on its way may say more than the grant.
void SubscriptionLogic::on_granted(const Notification& notification) {
  state_.holds.for_each([&](RemoteHold& hold) {
    if (hold.id != notification.id || hold.call == nullptr) return;
    if (hold.stage != RemoteHold::Stage::claim) return;
    // The reply may be older than the grant, and the first to name the place: an attempt follows
    // it.
    if (hold.acquire_request.in_flight) return WaitLogic(*this).retry_now(hold);
    if (!is_awaited(hold, notification)) return;
    AcquireLogic(*this).on_granted(hold, notification.token);
  });
}

void SubscriptionLogic::on_change(bool of_one_key) {
  state_.holds.for_each([&](RemoteHold& hold) {
    if (hold.stage == RemoteHold::Stage::held) LeaseLogic(*this).on_change(hold, of_one_key);
  });
}

void SubscriptionLogic::on_notification(const Notification& notification) {
  using Kind = Notification::Kind;
  if (notification.kind == Kind::granted) return on_granted(notification);
  if (notification.kind == Kind::revoked) return on_revoked();
  if (notification.kind == Kind::link_up && is_listened_to()) subscribe_to_revocations();
  if (notification.kind == Kind::link_down || notification.kind == Kind::warning) return;
  if (notification.kind == Kind::changed) return on_change(!notification.key.empty());
  const bool about_one = notification.id.number != 0;
  state_.no_permits_until = {};
  if (notification.kind != Kind::link_up && !about_one) {
    // The first in line is told of a release on its process's channel if others were told as well.
    const bool first_in_line = notification.id == HoldId{settings().space, 0};
    if (first_in_line) YieldLogic(*this).on_others_notified();
    return WaitLogic(*this).on_released(first_in_line);
  }
  state_.holds.for_each([&](RemoteHold& hold) {
    if (about_one && hold.id != notification.id) return;
    if (hold.stage == RemoteHold::Stage::claim) {
      WaitLogic(*this).retry_now(hold);
    } else if (hold.stage == RemoteHold::Stage::held) {
      LeaseLogic(*this).on_notification(hold, notification.kind);
    } else if (!about_one && hold.repeat_at != Clock::never()) {
      ReleaseLogic(*this).send_release(hold);  // its next repetition may be seconds away
    }
  });
}

}  // namespace latchkey::inline v1::detail
