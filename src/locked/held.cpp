// What the calling thread's decorated calls hold.
#include <latchkey/held.hpp>

#include <string>

#include <latchkey/error.hpp>
#include <latchkey/locked/locked_call.hpp>

namespace latchkey {

Hold* current_hold() noexcept {
  detail::LockedCall* const call = detail::LockedCall::innermost();
  return call == nullptr ? nullptr : call->hold();
}

void assert_held(std::string_view key) {
  const Hold* lost = nullptr;
  for (detail::LockedCall* call = detail::LockedCall::innermost(); call != nullptr;
       call = call->outer()) {
    const Hold* const hold = call->hold();
    if (hold == nullptr || !call->covers(key)) continue;
    if (!hold->lost()) return;
    lost = hold;
  }
  const LockType type = lost != nullptr ? lost->type() : LockType::REENTRANT;
  throw NotHeld({std::string(key), type, {}}, lost != nullptr);
}

}  // namespace latchkey
