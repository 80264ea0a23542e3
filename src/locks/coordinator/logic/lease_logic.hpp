// The decisions about the lease of a hold.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <chrono>
#include <string_view>

#include <latchkey/backend.hpp>

#include "locks/coordinator/logic/key_event.hpp"

namespace latchkey::inline v1::detail {

inline constexpr std::string_view lost_by_limit = "it was held for as long as held_at_most allows";
inline constexpr std::string_view lost_before_renewal =
    "its lease ended before the renewal was answered";

/// Renewal, verification, downgrade and loss. One event of one key.
class LeaseLogic : public KeyEvent {
 public:
  using KeyEvent::KeyEvent;
  explicit LeaseLogic(const KeyEvent& event) noexcept : KeyEvent(event) {}

  // --- events ---
  void extend(RemoteHold& hold, std::chrono::milliseconds lease, Call& call);
  /// The reply to a renewal, a verification, a downgrade or an expire.
  void on_check_reply(RemoteHold& hold, Outcome& outcome);
  void tick(RemoteHold& hold);
  /// The link is back, or the backend took the hold away.
  void on_notification(RemoteHold& hold, Notification::Kind kind);

  /// The backend told of a change of the key or, not `of_one_key`, perhaps of all keys. A hold that
  /// is watched is checked at once, any other one if its last check is a second old.
  void on_change(RemoteHold& hold, bool of_one_key);

  // --- for the other decisions ---
  /// The call is answered when a renewal has reached `call.want`.
  void wait_for_renewal(Call& call, RemoteHold& hold);
  /// Whether `call` re-enters `hold` without a renewal. False: it asks for more of the lease, or
  /// for a longer lock_delay, which the next renewal brings; `call.want` is what that has to reach.
  [[nodiscard]] bool suffices_for(Call& call, RemoteHold& hold);
  /// The hold is renewed to `lease` in 50 ms, or when a quarter of what is left has passed, if it
  /// is still held then: most holds of a hot key are not.
  void renew_soon(RemoteHold& hold, std::chrono::milliseconds lease);
  /// Calls renew_soon with the lease that `call` asked for, unless two thirds of that remain.
  /// `call` takes over or joins the hold.
  void renew_soon_for(const Call& call, RemoteHold& hold);
  /// The hold is no longer there to be renewed: extends end, re-entries become acquires.
  void fail_renewals(RemoteHold& hold);
  /// Notes that the hold is lost because of held_at_most. The watchdog of the hold that it has
  /// joined no longer renews for it.
  static void note_held_too_long(RemoteHold& hold) noexcept;
  /// Marks the hold as lost, and reports that. False: it was marked already.
  bool mark_lost(RemoteHold& hold, std::string_view reason);
  /// Marks the hold as lost with those that have joined it, and ends what waits for it.
  void declare_lost(RemoteHold& hold, std::string_view reason);
  void send_check(RemoteHold& hold, Verb verb, std::chrono::milliseconds lease);
  /// Sends the check that is due: a downgrade, a renewal that is wanted or kept up, or else a
  /// verify.
  void check(RemoteHold& hold);
  /// Checks `hold` once more if somebody wanted that while the last check was under way.
  void check_if_asked_again(RemoteHold& hold);
  /// Answers the calls that wait for a renewal of `hold` by `outcome`, the reply to its check, or
  /// keeps them waiting for the next one.
  void answer_renewals(RemoteHold& hold, const Outcome& outcome);

 private:
  void renew(RemoteHold& hold, std::chrono::milliseconds lease);
  /// Decides whether the check that is about to be sent asks the backend to tell of changes.
  void ask_to_watch(RemoteHold& hold);
  /// Shortens the lease that a check of a hold with a limit asks for.
  void keep_to_limit(const RemoteHold& hold, Verb& verb, std::chrono::milliseconds& lease);
  [[nodiscard]] bool on_renewed(RemoteHold& hold);
  void retry_check(RemoteHold& hold);
  bool answer_renewal(Call& call, RemoteHold& hold, const Outcome& outcome);
  void request_stop(RemoteHold& hold) noexcept;
};

}  // namespace latchkey::inline v1::detail
