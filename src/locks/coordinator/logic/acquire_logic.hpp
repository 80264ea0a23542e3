// The decisions about acquiring a lock.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <utility>

#include <latchkey/backend.hpp>

#include "locks/coordinator/logic/key_event.hpp"
#include "locks/coordinator/wait_times.hpp"

namespace latchkey::inline v1::detail {

/// Re-entry, the local queues and the attempts at the backend. One event of one key.
class AcquireLogic : public KeyEvent {
 public:
  using KeyEvent::KeyEvent;
  explicit AcquireLogic(const KeyEvent& event) noexcept : KeyEvent(event) {}

  // --- events ---
  void acquire(Call& call);
  void on_acquire_reply(RemoteHold& claim, Outcome& outcome);
  /// A release has granted the lock to `claim`, which waits in a queue of the backend.
  void on_granted(RemoteHold& claim, std::uint64_t token);

  // --- for the other decisions ---
  /// The call waits in the queue of its type.
  void enqueue(Call& call);
  /// Starts attempts for the front of the queue, and with a READ for the READs next to it.
  void dispatch_waiters() {
    while (state_.waiters.next_to_start() != nullptr && dispatch_front()) {
    }
  }
  /// One more attempt under the id of `claim`.
  void send_acquire(RemoteHold& claim);
  /// Two threads share an Owner: after the grant to one, the waiting calls of the others re-enter.
  void join_same_owner(RemoteHold& hold);

 private:
  /// How long a place in a FAIR queue lives without a request. A waiter sends one at least every
  /// 5 s, so a place outlives three lost requests. (Redisson's default is 5 minutes.)
  static constexpr std::chrono::seconds queue_wait{15};
  /// How long the request of `call` counts as waiting without another one.
  [[nodiscard]] std::chrono::milliseconds queue_wait_of(const Call& call);
  /// If it is busy, it waits in the backend's queue of processes.
  [[nodiscard]] bool queues(const RemoteHold& claim);
  /// How many fencing tokens a FENCED claim reserves if other calls of this process wait. A claim
  /// never changes its number: a repeated attempt is answered with the token of the first.
  static constexpr std::uint32_t block_of_tokens = 64;
  /// A claim with a shorter lease does not wait in the process queue: a grant counts from its last
  /// attempt, and would leave too little of it.
  static constexpr std::chrono::seconds least_queued_lease{1};
  /// A place in the process queue lasts for at most 3 s after the last attempt, and then a grant.
  static constexpr std::chrono::seconds process_queue_stay = std::chrono::seconds(3) + grant_lease;
  /// One in the queue for permits, after which nothing is granted.
  static constexpr std::chrono::seconds permit_place{3};

  /// False: nothing was done, and the call waits in the queue as usual.
  [[nodiscard]] bool start_at_once(Call& call);
  void reenter(Call& call, RemoteHold& hold);
  /// True: the call that was to be started has ended, and the next one is to be looked at.
  bool dispatch_front();
  void start_attempt(Call& call);
  /// A new claim of `call`. Throws std::bad_alloc before anything is changed.
  void make_claim(Call& call);
  /// The request of one more attempt under the id of `claim`, to be sent now.
  void prepare_acquire(RemoteHold& claim);
  void on_late_reply(RemoteHold& claim, const Outcome& outcome);
  void establish(RemoteHold& claim, std::uint64_t token, Clock::time_point deadline);
  void restart_after_late_grant(RemoteHold& claim);
};

}  // namespace latchkey::inline v1::detail
