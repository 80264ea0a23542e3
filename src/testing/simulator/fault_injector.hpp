// The faults of a simulation: connections, processes and the server.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <deque>

#include "testing/simulator/client.hpp"
#include "testing/simulator/judges/loss_judge.hpp"
#include "testing/simulator/network/network.hpp"
#include "testing/simulator/store/store.hpp"
#include "testing/simulator/world.hpp"

namespace latchkey::inline v1::sim {

/// Injects at most one fault per step, at the rates of the scenario.
class FaultInjector {
 public:
  FaultInjector(World& world, Store& store, Network& network, LossJudge& losses,
                std::deque<Client>& clients) noexcept
      : world_(world), store_(store), network_(network), losses_(losses), clients_(clients) {}

  void step();

 private:
  void force_release(std::uint32_t key);
  void jump_forward();
  void jump_back();
  void restart_server();
  void all_keys_lost();

  World& world_;
  Store& store_;
  Network& network_;
  LossJudge& losses_;
  std::deque<Client>& clients_;
};

}  // namespace latchkey::inline v1::sim
