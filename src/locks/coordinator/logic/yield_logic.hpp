// The decisions about letting other processes take a key first.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <latchkey/backend.hpp>

#include "locks/coordinator/logic/key_event.hpp"

namespace latchkey::inline v1::detail {

/// When a release asks whether other processes wait, and how long the calls of this process then
/// let them go first. Not for FAIR, whose queue the backend keeps. One event of one key.
class YieldLogic : public KeyEvent {
 public:
  using KeyEvent::KeyEvent;
  explicit YieldLogic(const KeyEvent& event) noexcept : KeyEvent(event) {}

  /// `hold` is about to be released. Whether the next attempt may follow at once.
  void before_release(const RemoteHold& hold);
  /// Its reply.
  void on_release_reply(const RemoteHold& hold, const Outcome& outcome);
  void tick();
  /// An attempt found the key held by a client of another library.
  void on_foreign_holder() noexcept;

  /// No attempt starts before the reply to the release in flight.
  [[nodiscard]] bool asks() const noexcept {
    return state_.yielding.stage == Yielding::Stage::asking;
  }
  /// Whether `call` must let others go first.
  [[nodiscard]] bool yields(const Call& call) noexcept {
    if (state_.yielding.stage == Yielding::Stage::off) return false;
    return call.type != LockType::FAIR && !call.makes_one_attempt() && state_.yielding.is_on(now());
  }
  /// The first attempt of `claim` is sent at the end of the yield.
  void postpone(RemoteHold& claim);

  /// A release has notified others, which have no place in the process queue.
  void on_others_notified() noexcept;
  /// The key was released. Whether `claim`, the first in line, waits before it tries to take it:
  /// clients of other libraries take longer to try, and would never be first. Once for each place,
  /// and not if one of them had the key. `first_in_line`: as in WaitLogic::on_released. A claim
  /// that is told by the key's channel only leaves it to those near the front of the line.
  [[nodiscard]] bool lets_others_first(RemoteHold& claim, bool first_in_line);
};

}  // namespace latchkey::inline v1::detail
