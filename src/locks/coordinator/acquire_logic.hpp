// The decisions about acquiring a lock.
#pragma once

#include <latchkey/backend.hpp>

#include "locks/coordinator/key_event.hpp"

namespace latchkey::detail {

/// Re-entry, the local queues and the attempts at the backend. One event of one key.
class AcquireLogic : public KeyEvent {
 public:
  using KeyEvent::KeyEvent;
  explicit AcquireLogic(const KeyEvent& event) noexcept : KeyEvent(event) {}

  // --- events ---
  void acquire(Call& call);
  void on_acquire_reply(RemoteHold& claim, Outcome& outcome);

  // --- for the other decisions ---
  /// The call waits in the queue of its type.
  void enqueue(Call& call);
  /// Starts attempts for the front of the queue, and with a READ for the READs next to it.
  void dispatch_waiters() {
    if (state_.waiters.next_to_start() != nullptr) dispatch_front();
  }
  /// One more attempt under the id of `claim`.
  void send_acquire(RemoteHold& claim);
  /// One more local hold, of `call`.
  void count(Call& call, RemoteHold& hold);

 private:
  void reenter(Call& call, RemoteHold& hold);
  void join_same_owner(RemoteHold& hold);
  void dispatch_front();
  void start_attempt(Call& call);
  void make_claim(Call& call);
  void announce(RemoteHold& claim);
  void on_late_reply(RemoteHold& claim, const Outcome& outcome);
  void establish(RemoteHold& claim, Outcome& outcome);
  void restart_after_late_grant(RemoteHold& claim);
};

}  // namespace latchkey::detail
