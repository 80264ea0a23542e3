// Judges whether holders notice that the store dropped their holds.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "testing/simulator/judges/history.hpp"
#include "testing/simulator/store/store.hpp"
#include "testing/simulator/world.hpp"

namespace latchkey::inline v1::sim {

/// Promise 3: a hold that ends early at the store is reported lost within a third of its lease. The
/// promise holds for clients that the network does not disturb meanwhile.
class LossJudge {
 public:
  LossJudge(World& world, History& history, Store& store) noexcept
      : world_(world), history_(history), store_(store) {}

  /// The store lost what it had of `key`, or its clock jumped forward. Excuses what follows from
  /// that, and schedules a check for each holder.
  void store_fault(std::uint32_t key);

  /// A check is due.
  void check(const ScheduledEvent& event);

 private:
  [[nodiscard]] Clock::duration detection_time(const GrantedHold& hold) const;

  World& world_;
  History& history_;
  Store& store_;
};

}  // namespace latchkey::inline v1::sim
