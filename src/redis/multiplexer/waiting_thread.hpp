// One thread inside ConnectionMultiplexer::drive.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include <latchkey/parker.hpp>

#include "redis/multiplexer/waiter.hpp"

namespace latchkey::inline v1::detail::redis {

/// A thread that waits in a ConnectionMultiplexer. LeaderFollowers decides which one leads; the
/// state says what the thread itself does. Only calls of LeaderFollowers by the thread itself
/// change its state, so another thread can become or cease to be the leader without a change of
/// state.
///
/// | event             | from                         | to                                  |
/// |-------------------|------------------------------|-------------------------------------|
/// | enter             |                              | entering                            |
/// | try_lead          | entering, following, leading | leading if it leads, else following |
/// | begin_poll        | leading                      | polling                             |
/// | end_poll          | polling                      | leading if it still leads, else     |
/// |                   |                              | following                           |
/// | begin_spin        | following, leading           | spinning                            |
/// | try_lead_spinning | spinning                     | spinning_leader if it leads         |
/// | begin_yield       | spinning, spinning_leader    | spinning                            |
/// | end_spin          | spinning                     | following                           |
/// |                   | spinning_leader              | leading                             |
/// | end_spin_to_sleep | spinning, spinning_leader    | leading if it leads, else following |
/// | leave             | every state                  |                                     |
struct WaitingThread {
  enum class State : std::uint8_t {
    entering,         ///< it has not tried to lead yet
    following,        ///< it waits for its parker, or to become the leader
    leading,          ///< it is the leader and works: it reads, delivers and sends
    polling,          ///< it sleeps in poll(2), or is about to; it is the leader or was before
    spinning,         ///< it yields the processor between two attempts to lead
    spinning_leader,  ///< it spins, and works as the leader until its next yield
  };

  WaitingThread(Parker& own_parker, FutexWaitSet& wait_set) noexcept
      : parker(own_parker), waiter(wait_set) {}

  /// Its last request is under way. Other threads wait for events that may be far away.
  [[nodiscard]] bool awaits_reply(std::uint64_t answered) const noexcept {
    return last_request > answered;
  }
  [[nodiscard]] bool is_spinning() const noexcept {
    return state == State::spinning || state == State::spinning_leader;
  }
  [[nodiscard]] bool is_busy_leading() const noexcept {
    return state == State::leading || state == State::spinning_leader;
  }

  Parker& parker;
  Waiter waiter;
  State state = State::entering;
  /// It stands for an event loop, which polls the descriptors together with others and may be late.
  bool event_loop = false;
  /// Spinning: the last yield let no other thread run, so nobody else needs this processor.
  bool alone = false;
  /// How many requests all threads had submitted after the last one of this thread.
  std::uint64_t last_request = 0;
  /// Polling: the reactor's generation at the time when the descriptors were collected.
  std::uint64_t polled_generation = 0;
  /// How many threads that await a reply had entered when this one last tried to lead.
  std::uint64_t seen_arrivals = 0;
  WaitingThread* next = nullptr;      ///< entered before this one
  WaitingThread* previous = nullptr;  ///< entered after this one
};

}  // namespace latchkey::inline v1::detail::redis
