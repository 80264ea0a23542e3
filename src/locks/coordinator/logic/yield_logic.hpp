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

  /// `hold` is about to be released: decides whether attempts wait for the reply (stage `asking`).
  void before_release(const RemoteHold& hold);
  /// The reply to that release: decides whether this process lets others go first.
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
  /// The key was released. Whether `claim`, which waits in line, lets clients of other libraries
  /// try first: they take longer, and would never be first. It does so once for each place, and not
  /// if one of them had the key. `first_in_line` as in WaitLogic::on_released: a release that only
  /// the key's channel notified is left to the claims near the front of the line.
  [[nodiscard]] bool lets_others_first(RemoteHold& claim, bool first_in_line);
};

}  // namespace latchkey::inline v1::detail
