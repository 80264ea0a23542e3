// The decisions about a key that one call of this process uses.
#pragma once

#include <latchkey/backend.hpp>

#include "locks/coordinator/logic/key_event.hpp"

namespace latchkey::detail {

/// What AcquireLogic and ReleaseLogic would decide, in fewer steps, if a backend in the same
/// process answers at once and no other call of this process needs the key: no queue, no wake-up,
/// no subscription. One event of one key.
class ImmediateLogic : public KeyEvent {
 public:
  using KeyEvent::KeyEvent;
  explicit ImmediateLogic(const KeyEvent& event) noexcept : KeyEvent(event) {}

  /// False: nothing was done, and the call waits in the queue as usual.
  [[nodiscard]] bool acquire(Call& call);
  /// `hold` has no local hold left. False: nothing was done.
  [[nodiscard]] bool release(RemoteHold& hold, Call& call);

 private:
  /// Null, or the backend that is asked before anything is submitted.
  [[nodiscard]] ImmediateBackend* backend() const noexcept { return context_.immediate; }
  [[nodiscard]] bool is_alone(const RemoteHold& hold) const noexcept;
};

}  // namespace latchkey::detail
