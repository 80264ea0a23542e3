// Judges whether a process that waits gets its turn.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <vector>

#include "testing/simulator/judges/history.hpp"
#include "testing/simulator/world.hpp"

namespace latchkey::inline v1::sim {

/// Fails the run if the store grants the contended key to other clients too often while a client
/// waits for it: that client starves. Holds that the calls of one client hand over among themselves
/// are one turn.
class TurnJudge {
 public:
  TurnJudge(World& world, const History& history)
      : world_(world), history_(history), clients_(history.clients.size()) {}

  /// A caller was granted `hold`.
  void granted(std::uint32_t key, const GrantedHold& hold);

 private:
  struct Client {
    std::uint64_t number = 0;      ///< the number of its last hold
    unsigned turns_of_others = 0;  ///< since it last had the key
  };

  [[nodiscard]] bool waits(std::uint32_t client, std::uint32_t key) const;
  [[nodiscard]] unsigned most_turns_of_others(std::uint32_t client) const noexcept;

  World& world_;
  const History& history_;
  std::vector<Client> clients_;
};

}  // namespace latchkey::inline v1::sim
