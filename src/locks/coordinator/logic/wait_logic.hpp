// The decisions about waiting for a lock.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <latchkey/backend.hpp>

#include "locks/coordinator/logic/key_event.hpp"

namespace latchkey::inline v1::detail {

/// How long a call sleeps, when it attempts again, when it gives up and with which answer. One
/// event of one key.
class WaitLogic : public KeyEvent {
 public:
  using KeyEvent::KeyEvent;
  explicit WaitLogic(const KeyEvent& event) noexcept : KeyEvent(event) {}

  // --- events ---
  void cancel(Call& call);
  void end_wait(Call& call);
  void tick(Call& call);

  // --- for the other decisions ---
  void wait_for_release(RemoteHold& claim, const Outcome& outcome);
  void wait_for_answer(RemoteHold& claim);
  void report_waiting(Call& call);
  void give_up(Call& call, Answer answer);
  void give_up_waiting(Call& call);
  /// `call`, which has sent no request, would wait for a hold of this process that makes the key a
  /// semaphore for a lock, or the reverse: it is refused, as by the backend. False: nothing is
  /// done.
  [[nodiscard]] bool refuse_other_kind(Call& call);
  /// The key may have been freed: attempts again, now or when the attempt in flight is answered.
  void retry_now(RemoteHold& claim);
  /// The key was released. `first_in_line`: the notification went to the first claim in line, not
  /// to the key's channel.
  void on_released(bool first_in_line);
  /// Retries the claims that have made an attempt; the others are still to make their first.
  void retry_what_was_busy();

 private:
  void note_front(RemoteHold& claim, const Outcome& outcome);
  /// When a claim near the front of the line subscribes to the key's releases; never: it is not
  /// near the front.
  [[nodiscard]] static Clock::time_point listens_from(const RemoteHold& claim) noexcept;
  void listen(RemoteHold& claim, const Outcome& outcome);
  /// The time between two attempts of a claim that waits in line at the backend: at most 1 s. For a
  /// lock at most a quarter of its lease, because its place and a grant may last no longer than
  /// that lease from the last attempt on.
  [[nodiscard]] Clock::duration queued_poll_of(const RemoteHold& claim) noexcept {
    constexpr std::chrono::milliseconds most{1'000};
    const bool permit = claim.type == LockType::PERMIT;  // its place has a time of its own
    return spread(permit ? most : std::min(most, claim.lease / 4), shard());
  }
  template <class Which>
  void retry_queue(Which which);
  [[nodiscard]] bool nobody_knows_holder(Call& call);
  [[nodiscard]] Clock::time_point silent_since() noexcept;
};

}  // namespace latchkey::inline v1::detail
