// The holds of the calling thread's decorated calls.
// SPDX-License-Identifier: BSL-1.0
#include <latchkey/held.hpp>

#include <string>

#include <latchkey/detail/locked/locked_call.hpp>
#include <latchkey/error.hpp>

#include "locks/hold/scope_holds.hpp"

namespace latchkey::inline v1 {

Hold* current_hold() noexcept {
  detail::LockedCall* const call = detail::LockedCall::innermost();
  return call == nullptr ? nullptr : call->hold();
}

void assert_held(std::string_view key) {
  bool lost = false;
  LockType type = LockType::REENTRANT;
  for (detail::LockedCall* call = detail::LockedCall::innermost(); call != nullptr;
       call = call->outer()) {
    const Hold* const hold = call->hold();
    if (hold == nullptr || !call->covers(key)) continue;
    if (!hold->lost()) return;
    lost = true;
    type = hold->type();
  }
  switch (detail::ScopeHolds::find(key, type)) {
    case detail::ScopeHolds::Found::held: return;
    case detail::ScopeHolds::Found::lost: lost = true; break;
    case detail::ScopeHolds::Found::nothing: break;
  }
  throw NotHeld({std::string(key), type, {}}, lost);
}

}  // namespace latchkey::inline v1
