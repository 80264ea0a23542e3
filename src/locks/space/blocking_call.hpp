// How one thread waits for one call.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <stop_token>

#include "core/sanitizer_pause.hpp"
#include "core/thread_annotations.hpp"
#include "locks/space/started_call.hpp"

namespace latchkey::inline v1::detail {

/// One call to a coordinator, in two halves: start… brings the event, wait or finish lends the
/// calling thread to the backend until the coordinator has answered. A thread that needs several
/// keys starts several calls, also in different spaces, before it waits for the first: their
/// requests are then under way together.
///
/// The destructor waits for a call that is still pending. Belongs to one thread.
class BlockingCall : private SanitizerPause, public StartedCall {
 public:
  explicit BlockingCall(LockSpace& space) noexcept : StartedCall(space) {}
  ~BlockingCall() { finish(); }

  /// Waits for the answer. Only right after start…, before this thread waits for anything else:
  /// that could use up the wake-up that is meant for this call.
  void wait() {
    if (pending_) sleep_until_answered(Clock::never());
  }
  void wait(const std::stop_token& cancel) {
    if (pending_) wait_or_cancel(cancel);
  }
  /// Waits at any time after start…. At `until` a release is given up: its answer stays pending,
  /// and the timer thread sees to it.
  void finish(Clock::time_point until = Clock::never()) {
    if (!pending_) return;
    check(until);
    sleep_until_answered(until);
  }

  /// Ends a call of a batch by the outcome of the one request.
  void complete(Shard& shard, ShardLock& lock, RemoteHold& claim, Outcome& outcome)
      LATCHKEY_REQUIRES(shard.mutex);
  /// Ends a call of a batch whose one request was not answered in time.
  void give_up(Shard& shard, ShardLock& lock, RemoteHold& claim) LATCHKEY_REQUIRES(shard.mutex);

  [[nodiscard]] bool pending() const noexcept { return pending_; }

 private:
  void wait_or_cancel(const std::stop_token& cancel);
  void sleep_until_answered(Clock::time_point until);
  void check(Clock::time_point until);
};

}  // namespace latchkey::inline v1::detail
