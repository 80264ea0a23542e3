// One event's time and the actions it brings.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <latchkey/backend.hpp>
#include <latchkey/clock.hpp>

#include "locks/coordinator/actions.hpp"

namespace latchkey::inline v1::detail {

/// Answers a request within the call if its backend is in the same process.
class ImmediateBackend {
 public:
  /// Answers `request` by `outcome`, which is newly made. False: it did not touch the request,
  /// which is submitted then.
  [[nodiscard]] virtual bool answer(Request& request, Outcome& outcome) noexcept = 0;

 protected:
  ~ImmediateBackend() = default;
};

/// Handed through the coordinator with each event. The time is read when it is first asked for, and
/// once: many events never need it, and reading a clock costs as much as a hash look-up.
class EventContext {
 public:
  EventContext(Clock& clock, Actions& actions) noexcept : out(actions), clock_(clock) {}
  EventContext(Clock& clock, Actions& actions, Clock::time_point known) noexcept
      : out(actions), clock_(clock), now_(known) {}

  [[nodiscard]] Clock::time_point now() noexcept {
    if (now_ == unread) now_ = clock_.now();
    return now_;
  }

  /// Forgets the time, which may be a tick old: the next now() reads the clock.
  void read_again() noexcept { now_ = unread; }

  Actions& out;
  /// The call whose own thread brings this event. It is not among the wakes: the thread looks at
  /// its answer, and asks for its alarm, before it lets go of the mutex.
  const Call* caller = nullptr;
  /// The backend that answers requests within the event; null: every request goes to `out`.
  ImmediateBackend* immediate = nullptr;

 private:
  static constexpr Clock::time_point unread = Clock::time_point::min();

  Clock& clock_;
  Clock::time_point now_ = unread;
};

}  // namespace latchkey::inline v1::detail
