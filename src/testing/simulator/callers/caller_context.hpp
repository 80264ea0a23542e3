// The context that the callers of one simulated process share.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include <latchkey/lease.hpp>
#include <latchkey/lock_type.hpp>
#include <latchkey/wait.hpp>

#include "testing/simulator/judges/history.hpp"
#include "testing/simulator/judges/hold_judge.hpp"
#include "testing/simulator/judges/request_judge.hpp"
#include "testing/simulator/network/network.hpp"
#include "testing/simulator/world/process.hpp"
#include "testing/simulator/world/sim_clock.hpp"
#include "testing/simulator/world/world.hpp"

namespace latchkey::inline v1::sim {

/// The parts of a simulation that clients and their callers act on.
struct Environment {
  World& world;
  History& history;
  HoldJudge& holds;
  RequestJudge& requests;
  TurnJudge& turns;
  Network& network;
};

/// The context that the callers of one simulated process share.
struct CallerContext : Environment {
  CallerContext(const Environment& shared, std::uint32_t number, std::int64_t drift)
      : Environment(shared),
        client(number),
        clock(world.now, std::chrono::seconds(1'000 * (number + 1)), drift) {}

  /// Brings `event(Coordinator&, EventContext&)` to the key's coordinator on the thread of `call`.
  template <class Do>
  void handle(std::uint32_t key, Do&& event, Call* call = nullptr) {
    process->handle(process->at(world.keys[key]), std::forward<Do>(event), call);
  }

  /// An event that is due when the process's clock shows `local`.
  void schedule_at(Clock::time_point local, Due due, std::uint32_t index, std::uint64_t epoch) {
    world.schedule_in(clock.truth_at(local) - world.now, due, client, index, epoch);
  }

  void note(std::string_view what, std::string_view detail = {}, std::uint64_t id = 0,
            std::int64_t value = 0) {
    world.note(client, what, detail, id, value);
  }

  const std::uint32_t client;
  SimClock clock;
  std::unique_ptr<Process> process;  ///< another one after a crash
  std::uint64_t grants = 0;          ///< calls that were granted
};

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

/// The lease, in some runs with held_at_most.
[[nodiscard]] inline Lease pick_limit(World& world, Lease lease) {
  if (!world.limits_holds || !world.limit_choices.percent(50)) return lease;
  const milliseconds most =
      world.limit_choices.pick({milliseconds(300), milliseconds(1'000), milliseconds(3'000)});
  return lease.length({}) > most ? lease : lease.held_at_most(most);
}

/// The lease, in some runs with lock_delay, and in runs with idle holds sometimes with a time of
/// its own for which the hold is kept, or with one that is learned.
[[nodiscard]] inline Lease pick_options(World& world, Lease lease) {
  if (world.delays_grants && world.delay_choices.percent(60)) {
    lease = lease.lock_delay(
        world.delay_choices.pick({milliseconds(100), milliseconds(500), milliseconds(2'000)}));
  }
  if (world.scenario.settings.cache.count() == 0 || !world.idle_choices.percent(30)) return lease;
  return lease.cache(world.idle_choices.pick(
      {milliseconds(0), milliseconds(20), milliseconds(1'000), adaptive_cache}));
}

/// Whether a call of this type asks for a fencing token, which FENCED has in any case.
[[nodiscard]] inline bool pick_token(World& world, LockType type) {
  const bool may_ask = type == LockType::WRITE || type == LockType::FAIR;
  return may_ask && world.gives_tokens && world.token_choices.percent(60);
}

[[nodiscard]] inline Wait pick_wait(Random& random) {
  if (random.percent(15)) return forever;
  return random.pick(
      {milliseconds(0), milliseconds(0), milliseconds(50), milliseconds(500), milliseconds(4'000)});
}

}  // namespace latchkey::inline v1::sim
