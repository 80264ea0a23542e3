// The context that the callers of one simulated process share.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include "testing/simulator/judges/history.hpp"
#include "testing/simulator/judges/hold_judge.hpp"
#include "testing/simulator/judges/request_judge.hpp"
#include "testing/simulator/judges/turn_judge.hpp"
#include "testing/simulator/network/network.hpp"
#include "testing/simulator/process.hpp"
#include "testing/simulator/sim_clock.hpp"
#include "testing/simulator/world.hpp"

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

}  // namespace latchkey::inline v1::sim
