// The scenario of one seed: the processes, their network and the faults.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include <latchkey/backend.hpp>

#include "locks/coordinator/coordinator_context.hpp"
#include "testing/simulator/world/random.hpp"

namespace latchkey::inline v1::sim {

/// Drawn from the seed before the run begins. Probabilities are in percent, rates in faults per
/// 1000 steps.
struct Scenario {
  /// The lock types that are used on one key.
  enum class Family : std::uint8_t { reentrant, fair, fenced, plain, read_write, semaphore };
  /// A semaphore has so many permits.
  static constexpr std::uint32_t permits = 3;

  std::uint32_t clients = 2;
  std::uint32_t callers = 2;  ///< per client
  std::vector<Family> keys;
  detail::CoordinatorSettings settings;
  bool fault_free = true;
  std::int64_t drift = 0;      ///< the clients' clocks drift by at most so many millionths
  Clock::duration slowest{};   ///< the longest delay of undisturbed messages
  bool immediate = false;      ///< the store answers each request as it is made
  bool shares_owners = false;  ///< two callers of a client are one owner
  bool multi_key = false;      ///< some callers take several keys at once
  bool holds_longer_than_leases = true;
  /// Every caller asks for the one key again as soon as it has released it.
  bool contended = false;
  bool hurried = false;       ///< no caller rests for longer than a message takes
  std::uint32_t foreign = 0;  ///< the last clients: like Redisson, they have no process queue

  unsigned loss_percent = 0;       ///< lost requests, replies and pushes
  unsigned lost_recalls = 0;       ///< notifications that somebody wants an idle hold, in percent
  unsigned duplicate_percent = 0;  ///< requests that arrive twice
  unsigned delay_percent = 0;      ///< late messages; an ordered connection stalls
  unsigned cut_rate = 0;           ///< a client's connection breaks
  unsigned freeze_rate = 0;        ///< a process stops for a while
  unsigned crash_rate = 0;         ///< another process takes the place of one
  unsigned jump_forward_rate = 0;  ///< the server's clock
  unsigned jump_back_rate = 0;
  unsigned restart_rate = 0;  ///< the server comes back empty
  unsigned force_release_rate = 0;
  unsigned migration_rate = 0;  ///< a key moves to another node of a cluster

  [[nodiscard]] static Scenario draw(Random& random);

  /// Holds may be kept idle.
  void favour_idle_holds(Random& random);

  /// For a run whose faults have a schedule.
  void draw_no_faults();

  [[nodiscard]] bool is_foreign(std::uint32_t client) const noexcept {
    return client >= clients - foreign;
  }

  /// Without faults, a process has noticed after this time what the store tells it.
  [[nodiscard]] Clock::duration notice() const noexcept {
    return 10 * slowest + std::chrono::milliseconds(20);
  }

  /// Replaces what the store does not offer.
  void restrict_to(const Capabilities& offered);

 private:
  [[nodiscard]] static Scenario draw_any(Random& random);
  void draw_faults(Random& random);
  void clear_faults();
  void favour_downgrades();
  void favour_batches();
  void favour_contention(Random& random);
  void favour_semaphores(Random& random);
  void favour_hand_offs(Random& random);
};

}  // namespace latchkey::inline v1::sim
