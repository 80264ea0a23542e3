// The decisions about READs of one process that share one hold at the backend.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <string_view>

#include "locks/coordinator/logic/key_event.hpp"

namespace latchkey::inline v1::detail {

/// A READ joins the hold that another READ of this process was granted shortly before, instead of
/// requesting one of its own. It is a hold with an owner of its own, and has the id and the lease
/// of the one that it joined; the last of them that ends gives the lock back. A hold can be joined
/// for as long as a cohort lasts, because a WRITE of another process may wait meanwhile.
///
/// One event of one key.
class JoinLogic : public KeyEvent {
 public:
  using KeyEvent::KeyEvent;
  explicit JoinLogic(const KeyEvent& event) noexcept : KeyEvent(event) {}

  /// `hold` was granted by the backend: from now on others may join it.
  void offer(RemoteHold& hold) noexcept;
  /// `next`, the first call that has not started, waits for the READ in front of it to be granted.
  [[nodiscard]] bool awaits_neighbour(const Call& next);
  /// A waiting READ joins the hold that is offered. False: it cannot, and nothing was done.
  [[nodiscard]] bool join(Call& call);
  /// The local holds of `hold`, which shares its lease with others, have ended; `call`, unless it
  /// is null, waits for the outcome, and is set to null once it is answered. Returns the hold that
  /// is to be given back, or null: others are left.
  [[nodiscard]] RemoteHold* leave(RemoteHold& hold, Clock::time_point retain_until, Call*& call);
  /// The lease of `hold` was renewed: so is that of the holds that have joined it.
  void on_renewed(RemoteHold& hold);
  /// `hold` was lost: so are the holds that have joined it.
  void on_lost(RemoteHold& hold, std::string_view reason);

 private:
  [[nodiscard]] RemoteHold* other_hold_of(Owner owner);
  [[nodiscard]] bool suits(const RemoteHold& hold, const Call& call);
  [[nodiscard]] static bool ends_with(const Call& call, const RemoteHold& hold);
  /// The new hold of `call`; null: there is no memory for it.
  [[nodiscard]] RemoteHold* join(Call& call, RemoteHold& hold);
  [[nodiscard]] RemoteHold& make_joiner(const Call& call, RemoteHold& hold);
  void take_place_of(RemoteHold& hold, const RemoteHold& last);
};

}  // namespace latchkey::inline v1::detail
