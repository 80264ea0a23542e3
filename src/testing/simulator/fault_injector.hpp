// The faults of a simulation: connections, processes and the server.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include <latchkey/testing/simulator.hpp>

#include "testing/simulator/client.hpp"
#include "testing/simulator/judges/hold_judge.hpp"
#include "testing/simulator/network/network.hpp"
#include "testing/simulator/store/store.hpp"
#include "testing/simulator/world/world.hpp"

namespace latchkey::inline v1::sim {

/// Injects at most one fault per step, at the rates of the scenario, and those of a schedule at
/// their times.
class FaultInjector {
 public:
  FaultInjector(World& world, Store& store, Network& network, LossJudge& losses,
                std::deque<Client>& clients) noexcept
      : world_(world), store_(store), network_(network), losses_(losses), clients_(clients) {}

  void step();

  // --- a schedule ---
  /// Throws std::invalid_argument if a time is negative.
  void schedule(std::vector<testing::ScheduledFault> faults);
  /// The event of the fault with this number is due.
  void begin(std::uint32_t number);
  /// Whether one of them lasts, or has not begun.
  [[nodiscard]] bool are_due() const noexcept {
    return world_.now <= end_ && !world_.schedule.empty();
  }
  /// By how much they have set the server's clock back. Leases last so much longer.
  [[nodiscard]] Clock::duration set_back() const noexcept { return set_back_; }

 private:
  void force_release(std::uint32_t key);
  void jump_forward(Clock::duration length);
  void jump_back(Clock::duration length);
  void restart_server(std::optional<Clock::duration> outage = std::nullopt);
  void all_keys_lost();

  World& world_;
  Store& store_;
  Network& network_;
  LossJudge& losses_;
  std::deque<Client>& clients_;
  std::vector<testing::ScheduledFault> scheduled_;
  Clock::duration end_{-1};  // when the last of them ends
  Clock::duration set_back_{};
};

}  // namespace latchkey::inline v1::sim
