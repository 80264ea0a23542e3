// A call that no thread waits for.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <chrono>

#include <latchkey/hold.hpp>

#include "locks/async/async_observer.hpp"
#include "locks/space/started_call.hpp"

namespace latchkey::inline v1::detail {

/// One call to a coordinator whose answer is told to `answered` instead of a waiting thread. If
/// start… returns false, the call has its answer already and `answered` is not called.
///
/// `answered` runs on whichever thread brought the answer, perhaps inside Backend::drive, and
/// perhaps before start… has returned true. It holds no mutex. The timer thread brings the ticks of
/// the call.
class AsyncCall : public StartedCall, private CallCompletion {
 protected:
  explicit AsyncCall(LockSpace& space) noexcept : StartedCall(space) { call_.completion = this; }
  ~AsyncCall() = default;
};

/// A release that nobody waits for: its errors go to the listener.
class DetachedRelease final : public AsyncCall {
 public:
  /// Starts a release that deletes itself. Without memory the timer thread sees to the release,
  /// unreported. Does nothing in a fork of the holder.
  static void start(LockSpace& space, RemoteHold& hold, HoldTerms terms,
                    std::chrono::milliseconds linger) noexcept;

 private:
  explicit DetachedRelease(LockSpace& space) noexcept : AsyncCall(space) {}
  void answered() noexcept override;
  void report() noexcept;
};

}  // namespace latchkey::inline v1::detail
