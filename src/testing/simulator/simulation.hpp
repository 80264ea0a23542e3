// One run: clients, a network, a store and faults, all from one seed.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <deque>
#include <memory>

#include <latchkey/testing/simulator.hpp>

#include "testing/simulator/client.hpp"
#include "testing/simulator/fault_injector.hpp"
#include "testing/simulator/judges/history.hpp"
#include "testing/simulator/judges/hold_judge.hpp"
#include "testing/simulator/judges/request_judge.hpp"
#include "testing/simulator/network/network.hpp"
#include "testing/simulator/store/store.hpp"
#include "testing/simulator/world/world.hpp"

namespace latchkey::inline v1::sim {

using Report = testing::SimulationReport;

/// Builds the parts and brings each event to the part that it is for.
class Simulation final : private NetworkHandler {
 public:
  Simulation(std::uint64_t seed, bool keeps_text, const testing::SimulationSettings& settings = {});
  Simulation(const Simulation&) = delete;
  Simulation& operator=(const Simulation&) = delete;
  ~Simulation() = default;

  /// Runs `steps` events with faults, and all faults of the schedule, then without faults until no
  /// event is left.
  Report run(std::uint64_t steps);

  /// Whether some calls have held_at_most.
  [[nodiscard]] bool limits_holds() const noexcept { return world_.limits_holds; }

  /// Whether some calls have lock_delay.
  [[nodiscard]] bool delays_grants() const noexcept { return world_.delays_grants; }

  /// Before `run`: records what the users of each key see.
  void observe() noexcept { history_.observes = true; }
  /// After `run`, if it was asked to observe.
  [[nodiscard]] const History& history() const noexcept { return history_; }

 private:
  void advance();
  void dispatch(const ScheduledEvent& event);
  void stop_faults();
  void check_nothing_left();
  [[nodiscard]] Report report() const;

  // --- NetworkHandler ---
  void applied(std::uint32_t client, const Request& request, const Outcome& outcome,
               bool awaited) override;
  void granted(std::uint32_t client, const Notification& notification) override;
  void answered(std::uint32_t client, Request& request, Outcome outcome) override;
  void notified(std::uint32_t client, const Notification& notification) override;
  void disturbed(std::uint32_t client) override;

  World world_;
  std::unique_ptr<Store> store_;
  History history_;
  Network network_;
  HoldJudge hold_judge_;
  RequestJudge request_judge_;
  LossJudge loss_judge_;
  TurnJudge turn_judge_;
  std::deque<Client> clients_;
  FaultInjector faults_;
};

}  // namespace latchkey::inline v1::sim
