// Locks in memory whose time a test moves, and whose events it reads.
#pragma once

#include <latchkey/locks.hpp>
#include <latchkey/testing/manual_clock.hpp>

#include "support/recorder.hpp"

namespace latchkey::tests {

struct ManualLocks {
  latchkey::testing::ManualClock clock;
  Recorder recorder;
  Locks locks = Locks::connect("memory:", {.clock = &clock, .listener = &recorder});

  /// Somebody who is not this thread.
  [[nodiscard]] Locks another() const { return locks.with_owner(Owner::make()); }

  /// Moves the time once the timer sleeps, and lets it do what has come due.
  void pass(Clock::duration length) {
    clock.await_sleepers(1);
    clock.advance(length);
    clock.await_sleepers(1);
  }
};

}  // namespace latchkey::tests
