// The future events of a simulation.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include <latchkey/clock.hpp>

#include "testing/simulator/event_queue.hpp"

namespace latchkey::inline v1::sim {

/// Everything that can be due.
enum class Due : std::uint8_t {
  delivery,           ///< a request reaches the store
  reply,              ///< its outcome reaches the client
  timeout,            ///< the client stops waiting for the outcome
  batch,              ///< a client sends the checks that it has submitted
  push,               ///< a notification reaches the client
  reconnect,          ///< a connection is back
  coordinator_timer,  ///< a coordinator's timer expires
  caller_step,        ///< a caller decides what to do next
  caller_timer,       ///< a caller's call has to look at the time
  caller_cancel,      ///< a caller's stop token is used
  multi_step,         ///< a caller of several keys decides what to do next
  multi_timer,        ///< one of its calls has to look at the time
  multi_deadline,     ///< its current step has to end
  multi_cancel,       ///< its stop token is used
  fault,              ///< a fault of a schedule begins
  loss_check,         ///< by now a client must know that the store dropped its hold
};

struct ScheduledEvent {
  Clock::duration at;
  std::uint64_t order;  ///< EventQueue
  Due due;
  std::uint32_t client;
  std::uint32_t index;  ///< which packet, push, key, caller or fault
  std::uint64_t epoch;  ///< the receiver ignores the event if its epoch has moved on
};

class EventSchedule {
 public:
  void add(Clock::duration at, Due due, std::uint32_t client, std::uint32_t index = 0,
           std::uint64_t epoch = 0) {
    queue_.add({at, 0, due, client, index, epoch});
  }

  [[nodiscard]] bool empty() const noexcept { return queue_.empty(); }

  ScheduledEvent take_first() { return queue_.take_first(); }

 private:
  EventQueue<ScheduledEvent> queue_;
};

}  // namespace latchkey::inline v1::sim
