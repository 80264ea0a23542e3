// The decisions about the permits of a semaphore.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <latchkey/backend.hpp>

#include "locks/coordinator/logic/key_event.hpp"

namespace latchkey::inline v1::detail {

/// A hold of a semaphore has an owner of its own, and does not block others of the same process. So
/// the first waiting call has a claim although this process holds permits, and has asked in vain.
/// These decisions keep the calls behind it from asking in vain as well: a claim that knows that it
/// has to wait is passed on to the next call, and after the grant of the last permit the next call
/// waits for a release before it asks. One event of one key.
class PermitLogic : public KeyEvent {
 public:
  using KeyEvent::KeyEvent;
  explicit PermitLogic(const KeyEvent& event) noexcept : KeyEvent(event) {}

  /// `claim` is granted: whether permits are left.
  void note_left(const RemoteHold& claim, const Outcome& grant);
  /// The first attempt of `call` would be in vain: the last permit was granted, and a release will
  /// be notified.
  [[nodiscard]] bool none_left(const Call& call);
  /// The claim waits for a release without an attempt.
  void postpone(RemoteHold& claim);
  /// `next` may take over the permits of `hold`: it wants as many, and no attempt is under way.
  [[nodiscard]] static bool may_take_over(const RemoteHold& hold, const Call& next) noexcept;
  /// The call of `claim` took over permits: the next call waits with the claim, or it is given up.
  void pass_on(RemoteHold& claim);

 private:
  [[nodiscard]] static bool suits(const RemoteHold& claim, const Call& heir) noexcept;
};

}  // namespace latchkey::inline v1::detail
