// The decisions about handing a hold from one call of this process to the next.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "locks/coordinator/logic/key_event.hpp"

namespace latchkey::inline v1::detail {

/// Cohort hand-off: the call that has waited longest in this process takes over the hold that
/// another one releases, and the backend is not asked. A cohort, the calls that hold under one id
/// in turn, is bounded by time and by number, because other processes wait meanwhile. (Dice,
/// Marathe, Shavit, "Lock Cohorting", PPoPP 2012.)
///
/// Never for FAIR, whose order is the backend's, nor for READ, which others may share at any time.
/// Permits of a semaphore go to the next call if that wants as many.
/// One event of one key.
class HandOffLogic : public KeyEvent {
 public:
  using KeyEvent::KeyEvent;
  explicit HandOffLogic(const KeyEvent& event) noexcept : KeyEvent(event) {}

  /// Hands over `hold`, which has no local hold left and is not lost. `releaser`: the call that has
  /// released it; null: nobody waits for the outcome. False: nothing was done.
  [[nodiscard]] bool hand_over(RemoteHold& hold, Call* releaser);

 private:
  /// A cohort has at most one more call than this.
  static constexpr std::uint32_t most_hand_offs = 1'000;
  /// While clients of other libraries take part, which need the backend for each call.
  static constexpr std::uint32_t most_beside_foreign = 1;

  [[nodiscard]] bool suits(const RemoteHold& hold, const Call& next);
  [[nodiscard]] bool cohort_has_ended(RemoteHold& hold);
};

}  // namespace latchkey::inline v1::detail
