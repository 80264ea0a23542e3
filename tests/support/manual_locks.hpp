// Locks in memory with a manual clock and a recorder of their events.
#pragma once

#include <latchkey/locks.hpp>
#include <latchkey/testing/manual_clock.hpp>

#include "support/recorder.hpp"

namespace latchkey::tests {

struct ManualLocks {
  latchkey::testing::ManualClock clock;
  Recorder recorder;
  Locks locks = Locks::connect("memory:", {.clock = &clock, .listener = &recorder});

  /// Returns `locks` with another owner than this thread.
  [[nodiscard]] Locks another() const { return locks.with_owner(Owner::make()); }

  /// Advances the clock once the timer thread sleeps, and returns when it has handled what is due.
  void pass(Clock::duration length) {
    clock.await_sleepers(1);
    clock.advance(length);
    clock.await_sleepers(1);
  }
};

}  // namespace latchkey::tests
