// The random choices of a caller: type, lease and wait.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include <latchkey/lease.hpp>
#include <latchkey/lock_type.hpp>
#include <latchkey/wait.hpp>

#include "testing/simulator/world.hpp"

namespace latchkey::inline v1::sim {

/// One of the types by which the scenario locks this key.
[[nodiscard]] inline LockType pick_type(World& world, std::uint32_t key) {
  using enum LockType;
  switch (world.scenario.keys[key]) {
    case Scenario::Family::reentrant: return REENTRANT;
    case Scenario::Family::fair: return FAIR;
    case Scenario::Family::fenced: return FENCED;
    case Scenario::Family::plain: return world.random.pick({REENTRANT, FAIR, FENCED});
    case Scenario::Family::read_write: return world.random.pick({READ, READ, WRITE});
    case Scenario::Family::semaphore: return PERMIT;
  }
  return REENTRANT;
}

[[nodiscard]] inline Lease pick_lease(Random& random) {
  if (random.percent(40)) return watchdog;
  return random.pick(
      {milliseconds(30), milliseconds(200), milliseconds(1'000), milliseconds(5'000)});
}

[[nodiscard]] inline Wait pick_wait(Random& random) {
  if (random.percent(15)) return forever;
  return random.pick(
      {milliseconds(0), milliseconds(0), milliseconds(50), milliseconds(500), milliseconds(4'000)});
}

}  // namespace latchkey::inline v1::sim
