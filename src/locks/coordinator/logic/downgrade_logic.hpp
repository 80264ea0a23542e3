// The decisions about a WRITE that becomes a READ.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "locks/coordinator/logic/key_event.hpp"

namespace latchkey::inline v1::detail {

/// A WRITE whose local holds have ended while READs inside it are left: the backend makes a READ of
/// the same id of it. One event of one key.
class DowngradeLogic : public KeyEvent {
 public:
  using KeyEvent::KeyEvent;
  explicit DowngradeLogic(const KeyEvent& event) noexcept : KeyEvent(event) {}

  /// Sends the downgrade, or waits until the check in flight is answered.
  void send(RemoteHold& hold);
  void on_reply(RemoteHold& hold, const Outcome& outcome);
  /// A WRITE was entered before the downgrade was sent: it is not needed.
  void cancel_if_reentered(RemoteHold& hold);

 private:
  void on_reply_while_retained(RemoteHold& hold, const Outcome& outcome, Call* call);
  void on_reply_while_releasing(RemoteHold& hold, const Outcome& outcome);
  void become_read(RemoteHold& hold) noexcept;
};

}  // namespace latchkey::inline v1::detail
