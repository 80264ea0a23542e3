// The decisions about releasing a lock.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <latchkey/backend.hpp>
#include <latchkey/clock.hpp>
#include <latchkey/owner.hpp>

#include "locks/coordinator/logic/key_event.hpp"

namespace latchkey::inline v1::detail {

/// Release, retention after it, claims that were given up, and the unknown outcome. One event of
/// one key.
class ReleaseLogic : public KeyEvent {
 public:
  using KeyEvent::KeyEvent;
  explicit ReleaseLogic(const KeyEvent& event) noexcept : KeyEvent(event) {}

  // --- events ---
  void unlock(Call& call);
  void release(RemoteHold& hold, LockType type, bool watched, Clock::time_point retain_until,
               Call* call, HoldLimits::Number limit);
  void on_release_reply(RemoteHold& hold, Outcome& outcome);
  void on_expire_reply(RemoteHold& hold, const Outcome& outcome);
  void tick(RemoteHold& hold);
  /// The thread of a release no longer waits: the timer thread drives the backend for it.
  void leave(const Call& call);
  void owner_ended(Owner owner);
  void close(RemoteHold& hold);

  // --- for the other decisions ---
  /// Releases `hold`, whose local holds have ended. `call` waits for the outcome; null: nobody.
  void end(RemoteHold& hold, Call* call);
  /// Releases what came or will come of `claim`, which its call gave up.
  void abandon(RemoteHold& claim);
  void send_release(RemoteHold& hold);
  /// Tells the backend when a retained hold ends.
  void send_expire(RemoteHold& hold);
  /// Answers the call that waits until the backend knows when the hold ends.
  void answer_retained(RemoteHold& hold, Answer result);
  void erase_if_done(RemoteHold& hold);

 private:
  void drop_local_hold(RemoteHold& hold, Clock::time_point retain_until, Call* call);
  void end_local_holds(RemoteHold& hold, Clock::time_point retain_until, Call* call);
  static void drop_watchdogs(RemoteHold& hold, std::uint32_t count) noexcept;
  /// Releases at a backend in this process. False: nothing was done, and it is released as usual.
  [[nodiscard]] bool release_at_once(RemoteHold& hold, Call& call);
  [[nodiscard]] bool end_limit(RemoteHold& hold, HoldLimits::Number limit);
  void drop_one_of_several(RemoteHold& hold, bool lost, Call* call);
  void retain(RemoteHold& hold, Clock::time_point until, Call* call);
  void repeat_or_erase(RemoteHold& hold, bool confirmed, const Outcome& outcome);
  void report_end(RemoteHold& hold, const Outcome& outcome);
};

}  // namespace latchkey::inline v1::detail
