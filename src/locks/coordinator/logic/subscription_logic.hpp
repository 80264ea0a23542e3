// The decisions about notifications.
#pragma once

#include <latchkey/backend.hpp>

#include "locks/coordinator/logic/key_event.hpp"

namespace latchkey::detail {

/// When a key's channel, or that of a FAIR waiter, is subscribed to, and what a notification
/// brings. One event of one key.
class SubscriptionLogic : public KeyEvent {
 public:
  using KeyEvent::KeyEvent;
  explicit SubscriptionLogic(const KeyEvent& event) noexcept : KeyEvent(event) {}

  // --- events ---
  void on_notification(const Notification& notification);
  /// The reply to a subscribe or an unsubscribe; `claim` is null if it was about the key.
  void on_subscription_reply(RemoteHold* claim, const Outcome& outcome);

  // --- for the other decisions ---
  /// `claim`: whose channel it is; null: the key's.
  void subscribe(Subscription& subscription, RemoteHold* claim);
  void unsubscribe(Subscription& subscription);
  /// Leaves the key's channel if no call talks to the backend.
  void unsubscribe_if_unused() {
    const bool on = state_.subscription.stage == Subscription::Stage::on;
    if (on && !state_.waiters.front_has_started()) unsubscribe(state_.subscription);
  }

 private:
  void retry_unsubscribe(Subscription& subscription);
  void on_reply_for_claim(RemoteHold& claim, bool subscribed);
};

}  // namespace latchkey::detail
