// The decisions about the permits of a semaphore.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <latchkey/backend.hpp>

#include "locks/coordinator/logic/key_event.hpp"

namespace latchkey::inline v1::detail {

/// A hold of a semaphore has an owner of its own, and does not block others of the same process. So
/// the first waiting call has a claim although this process holds permits, and has asked in vain.
/// These decisions keep the calls behind it from asking in vain as well: the claim of a call that
/// takes over permits is passed on to the next call, also while an attempt is in flight, and after
/// the grant of the last permit the next call waits for a release before it asks. One event of one
/// key.
class PermitLogic : public KeyEvent {
 public:
  using KeyEvent::KeyEvent;
  explicit PermitLogic(const KeyEvent& event) noexcept : KeyEvent(event) {}

  /// Notes whether permits are left, by `grant`, the reply that grants `claim`.
  void note_left(const RemoteHold& claim, const Outcome& grant);
  /// The first attempt of `call` would be in vain: the last permit was granted, and a release will
  /// be notified.
  [[nodiscard]] bool none_left(const Call& call);
  /// The claim waits for a release without an attempt.
  void postpone(RemoteHold& claim);
  /// `next`, the first waiting call, may take over the permits of `hold`: it wants as many, and an
  /// attempt that is in flight for it can be passed on.
  [[nodiscard]] bool may_take_over(const RemoteHold& hold, const Call& next);
  /// The call of `claim` took over permits: the next call waits with the claim, or it is abandoned.
  void pass_on(RemoteHold& claim);
  /// The call of `claim`, a claim of any type, waits no longer: one of permits is passed on, any
  /// other is abandoned.
  void give_up(RemoteHold& claim);

 private:
  /// The claim can become that of `heir`.
  [[nodiscard]] bool suits(const RemoteHold& claim, const Call& heir) const;
};

}  // namespace latchkey::inline v1::detail
