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
  /// Starts attempts for the front of the queue and, if that is a READ, for the READs behind it.
  void dispatch_waiters() {
    while (state_.waiters.next_to_start() != nullptr && dispatch_front()) {
    }
  }
  /// Sends one more attempt under the id of `claim`. That of a bundled call is only prepared: its
  /// batch sends it.
  void send_acquire(RemoteHold& claim);
  /// Two threads share an Owner: after the grant to one, the waiting calls of the others re-enter.
  void join_same_owner(RemoteHold& hold);

 private:
  /// How long a place in a FAIR queue lives without a request. A waiter sends one at least every
  /// 5 s, so a place outlives three lost requests. (Redisson's default is 5 minutes.)
  static constexpr std::chrono::seconds queue_wait{15};
  /// The Request::queue_wait of an attempt of `call`.
  [[nodiscard]] std::chrono::milliseconds queue_wait_of(const Call& call);
  /// Whether an attempt that finds the key busy takes a place in the backend's queue
  /// (Request::queues).
  [[nodiscard]] bool queues(const RemoteHold& claim);
  /// How many fencing tokens a claim that has them reserves if other calls of this process wait. A
  /// claim never changes its number: a repeated attempt is answered with the token of the first.
  static constexpr std::uint32_t block_of_tokens = 64;
  /// A claim with a shorter lease does not wait in the process queue: a grant counts from its last
  /// attempt, and would leave too little of it.
  static constexpr std::chrono::seconds least_queued_lease{1};
  /// How long an attempt may leave something in the process queue: a place for 3 s, then a grant.
  static constexpr std::chrono::seconds process_queue_stay = std::chrono::seconds(3) + grant_lease;
  /// How long it may leave a place in the queue for permits, which no grant follows.
  static constexpr std::chrono::seconds permit_place{3};

  /// Makes one attempt at a backend in this process. False: nothing was done, and the call waits in
  /// the queue as usual.
  [[nodiscard]] bool start_at_once(Call& call);
  void reenter(Call& call, RemoteHold& hold);
  /// True: the call that was to be started has ended, and the next one may be started.
  bool dispatch_front();
  void start_attempt(Call& call);
  /// A new claim of `call`. Throws std::bad_alloc before anything is changed.
  void make_claim(Call& call);
  /// Fills in the request of one more attempt under the id of `claim`, which is sent now.
  void prepare_acquire(RemoteHold& claim);
  void on_late_reply(RemoteHold& claim, const Outcome& outcome);
  void establish(RemoteHold& claim, std::uint64_t token, Clock::time_point deadline);
  void restart_after_late_grant(RemoteHold& claim);
};

}  // namespace latchkey::inline v1::detail
