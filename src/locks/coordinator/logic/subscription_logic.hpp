// The decisions about notifications.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <latchkey/backend.hpp>

#include "locks/coordinator/logic/key_event.hpp"

namespace latchkey::inline v1::detail {

/// When a key's channel, or that of a FAIR waiter, is subscribed to, and what a notification
/// brings. One event of one key.
class SubscriptionLogic : public KeyEvent {
 public:
  using KeyEvent::KeyEvent;
  explicit SubscriptionLogic(const KeyEvent& event) noexcept : KeyEvent(event) {}

  // --- events ---
  void on_notification(const Notification& notification);
  /// The reply to a subscribe or an unsubscribe; `request.hold` is null if it was about the key.
  void on_subscription_reply(const OwnedRequest& request, const Outcome& outcome);

  /// The holder of `hold` wants to know whether it is revoked.
  void listen_for_revocation(RemoteHold& hold);

  // --- for the other decisions ---
  /// Subscribes to the channel of `claim`, which is FAIR; null: to that of the key.
  void subscribe(Subscription& subscription, RemoteHold* claim);
  /// Subscribes to the notifications of locks that the backend grants this process.
  void subscribe_to_grants();
  void unsubscribe(Subscription& subscription);
  /// Leaves the key's channels if no call talks to the backend: that of grants a while later, as
  /// the next call of a hot key comes soon.
  void unsubscribe_if_unused() {
    using Stage = Subscription::Stage;
    if (state_.waiters.front_has_started()) return;
    if (state_.subscription.stage == Stage::on) unsubscribe(state_.subscription);
    if (state_.grants.stage == Stage::on) unsubscribe_from_grants_later();
  }
  /// Ends the subscription to revocations if no holder listens any more.
  void end_revocations_if_unused() {
    if (state_.revocations.stage == Subscription::Stage::on) end_unheard_revocations();
  }
  /// Sends what is due about the key's channels.
  void tick();

 private:
  static constexpr std::chrono::seconds grants_stay{1};

  void send_subscribe(Subscription& subscription, RemoteHold* claim, LockType type,
                      const HoldId& id);
  void unsubscribe_from_grants_later();
  void on_granted(const Notification& notification);
  void on_change(bool of_one_key);
  void on_revoked();
  void subscribe_to_revocations();
  void on_revocations_reply(bool subscribing, const Outcome& outcome);
  void end_unheard_revocations();
  [[nodiscard]] bool is_listened_to();
  [[nodiscard]] static bool is_awaited(const RemoteHold& claim, const Notification& grant) noexcept;
  void retry_unsubscribe(Subscription& subscription);
  void on_reply_for_claim(RemoteHold& claim, bool subscribed);
};

}  // namespace latchkey::inline v1::detail
