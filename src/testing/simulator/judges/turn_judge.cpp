// How often others come first.
// SPDX-License-Identifier: BSL-1.0
#include "testing/simulator/judges/turn_judge.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace latchkey::inline v1::sim {

void TurnJudge::granted(std::uint32_t key, const GrantedHold& hold) {
  if (!world_.scenario.contended || world_.faults_stopped) return;
  Client& holder = clients_[hold.client];
  holder.turns_of_others = 0;
  if (std::exchange(holder.number, hold.number) == hold.number) return;
  for (std::uint32_t client = 0; client < clients_.size(); ++client) {
    if (client == hold.client || !waits(client, key)) continue;
    if (++clients_[client].turns_of_others > most_turns_of_others(client)) {
      world_.fail("client " + std::to_string(client) + " starves");
    }
  }
}

bool TurnJudge::waits(std::uint32_t client, std::uint32_t key) const {
  return std::ranges::any_of(history_.keys[key].waiters, [&](const KeyHistory::Waiter& waiter) {
    return waiter.client == client;
  });
}

// Twice what 60 000 seeds show. A client without a place in the process queue races for the key
// with the first of the queue, and with what arrives meanwhile.
unsigned TurnJudge::most_turns_of_others(std::uint32_t client) const noexcept {
  const bool races = world_.scenario.is_foreign(client) && clients_.size() > 2;
  return races ? 64 : 16;
}

}  // namespace latchkey::inline v1::sim
