// The decisions about acquiring a lock.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <utility>

#include <latchkey/backend.hpp>

#include "locks/coordinator/logic/key_event.hpp"
#include "locks/coordinator/wait_times.hpp"

namespace latchkey::detail {

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
    if (state_.waiters.next_to_start() != nullptr) dispatch_front();
  }
  /// The first attempt of a call that is not in the queue has been made. `outcome`: its reply,
  /// which is no grant in time; null: it has to be submitted.
  void enqueue_started(Call& call, Outcome* outcome);
  /// A new claim of `call`. Throws std::bad_alloc before anything is changed.
  void make_claim(Call& call);
  /// The request of one more attempt under the id of `claim`, to be sent now.
  void prepare_acquire(RemoteHold& claim);
  /// The claim is granted until `deadline`, and is its call's hold.
  void hold(RemoteHold& claim, std::uint64_t token, Clock::time_point deadline);
  /// One more attempt under the id of `claim`.
  void send_acquire(RemoteHold& claim);
  /// One more local hold, of `call`.
  void count(Call& call, RemoteHold& hold);
  /// Two threads share an Owner: after the grant to one, the waiting calls of the others re-enter.
  void join_same_owner(RemoteHold& hold);
  /// What others may read of the holder.
  void announce(RemoteHold& claim);

 private:
  /// How long a place in a FAIR queue lives without a request. A waiter sends one at least every
  /// 5 s, so a place outlives three lost requests. (Redisson's default is 5 minutes.)
  static constexpr std::chrono::seconds queue_wait{15};
  /// How long the request of `call` counts as waiting without another one.
  [[nodiscard]] std::chrono::milliseconds queue_wait_of(const Call& call);
  /// How many fencing tokens a FENCED claim reserves if other calls of this process wait. A claim
  /// never changes its number: a repeated attempt is answered with the token of the first.
  static constexpr std::uint32_t block_of_tokens = 64;
  /// A claim with a shorter lease does not wait in the process queue: a grant counts from its last
  /// attempt, and would leave too little of it.
  static constexpr std::chrono::seconds least_queued_lease{1};
  /// A place in the process queue lasts for at most 10 s after the last attempt, and then a grant.
  static constexpr std::chrono::seconds process_queue_stay = std::chrono::seconds(10) + grant_lease;

  void reenter(Call& call, RemoteHold& hold);
  void dispatch_front();
  [[nodiscard]] bool awaits_neighbour(const Call& next);
  void start_attempt(Call& call);
  void on_late_reply(RemoteHold& claim, const Outcome& outcome);
  void establish(RemoteHold& claim, std::uint64_t token, Clock::time_point deadline);
  void restart_after_late_grant(RemoteHold& claim);
};

// --- part of every uncontended call ---

inline void AcquireLogic::prepare_acquire(RemoteHold& claim) {
  Call& call = *claim.call;
  RemoteHold::HoldRequest& request = claim.acquire_request;
  prepare(request, Verb::acquire, claim);
  request.lease = claim.lease;
  request.queue_wait = queue_wait_of(call);
  request.queues = settings().grants && is_raced_for(claim.type) && !call.bundled &&
                   !call.makes_one_attempt() && claim.lease >= least_queued_lease;
  request.in_flight = true;
  // A place in a queue may outlive the lease.
  std::chrono::milliseconds stays = claim.lease;
  if (claim.type == LockType::FAIR) {
    std::chrono::milliseconds place = request.queue_wait;
    if (settings().pushes)
      place += fair_grant_lease;  // a release may grant at the end of the place
    stays = std::max(stays, place);
  }
  if (request.queues) stays = std::max<std::chrono::milliseconds>(stays, process_queue_stay);
  claim.expires_at = std::max(claim.expires_at, later(request.sent, stays));
  claim.poll_at = Clock::never();
  claim.retry_requested = false;
  if (call.last_reply != Call::LastReply::unknown) call.silent_since = request.sent;
}

// A WRITE keeps new READs out no longer than it waits itself.
inline std::chrono::milliseconds AcquireLogic::queue_wait_of(const Call& call) {
  using std::chrono::milliseconds;
  if (call.makes_one_attempt()) return milliseconds(0);
  if (call.type != LockType::WRITE) return queue_wait;
  if (call.forever) return writer_precedence;
  const auto left = std::chrono::floor<milliseconds>(call.until - now());
  return std::clamp<milliseconds>(left, milliseconds(0), writer_precedence);
}

// The reply names the last of the tokens that were reserved; this call gets the first.
inline void AcquireLogic::hold(RemoteHold& claim, std::uint64_t token, Clock::time_point deadline) {
  Call& call = *std::exchange(claim.call, nullptr);
  claim.acquire_request.in_flight = false;
  claim.note_attempt(RemoteHold::Attempts::ran);
  state_.holds.set_held(claim);
  claim.spare_tokens = token > 0 ? claim.acquire_request.tokens - 1 : 0;
  claim.token = token - claim.spare_tokens;
  claim.granted_at = now();
  claim.poll_at = Clock::never();
  claim.deadline.store(deadline.time_since_epoch().count(), std::memory_order_release);
  count(call, claim);
  claim.check_at = next_check(claim, claim.acquire_request.sent);
  state_.holds.due_by(claim.due());
}

inline void AcquireLogic::count(Call& call, RemoteHold& hold) {
  auto& local_holds = call.by_lock ? hold.locks : hold.holds;
  ++local_holds[is_shared(call.type) ? 1 : 0];
  if (!call.by_lock) ++shard().hold_objects;
  if (!call.lease.is_watchdog()) return;
  if (hold.joined != nullptr) ++hold.watchdogs;
  RemoteHold& renewed = hold.at_backend();
  if (renewed.watchdogs++ == 0) {
    const Clock::time_point last = std::max(renewed.granted_at, renewed.check_request.sent);
    renewed.check_at = std::min(renewed.check_at, next_check(renewed, last));
    state_.holds.due_by(renewed.check_at);
  }
}

}  // namespace latchkey::detail
