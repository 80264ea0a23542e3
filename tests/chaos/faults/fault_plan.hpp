// Draws the faults of one round from a seed. Pure.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "chaos/fault_kind.hpp"

namespace latchkey::chaos {

struct PlannedFault {
  std::size_t number = 0;  ///< in the plan of its round
  FaultKind kind{};
  int worker = -1, key = -1;
  int at_ms = 0, length_ms = 0;  ///< `at_ms` counts from the begin of the round
  int strength = 0;  ///< 1 to 150: of a slow link the delay in ms; which command is forbidden
};

struct PlanSize {
  std::uint32_t workers = 4, keys = 9;
  int calm_ms = 1'200;  ///< before the first fault
  int span_ms = 8'000;  ///< in which faults begin
};

std::vector<FaultKind> all_kinds();

/// The density of faults, too, depends on the seed:
///
/// | a round is | faults                                                          |
/// |------------|-----------------------------------------------------------------|
/// | a storm    | 24 of all kinds, on several workers and the server at once      |
/// | mixed      | 10 of all kinds                                                 |
/// | precise    | 8 that leave the connections alone, so that losses are due soon |
/// | forbidding | 9 commands of the scripts in turn, each forbidden for a while   |
/// | long       | one: a member of a quorum is away for a minute                  |
///
/// Each but the long one also has one fault of each kind whose visitor is asked for
/// (is_of_each_round), after the others if there is no time between them.
///
/// At most one fault of the server, and one of each worker, lasts at a time. While a fault of the
/// server lasts, a worker is often made to connect anew. In order of at_ms.
std::vector<PlannedFault> draw_faults(std::uint64_t seed, const PlanSize& size,
                                      const std::vector<FaultKind>& all = all_kinds());

/// The faults of these kinds only, as many as fit.
std::vector<PlannedFault> draw_faults_of(std::uint64_t seed, const PlanSize& size,
                                         const std::vector<FaultKind>& kinds, std::size_t count);

/// Whether the server loses all that it has, also the tokens that it gave.
bool loses_data(const std::vector<PlannedFault>& faults);

/// Drops the faults that are not in `only`, unless it is absent, and those of workers in `without`.
/// The others keep their numbers.
void leave_out(std::vector<PlannedFault>& plan, const std::optional<std::set<std::size_t>>& only,
               const std::set<std::uint32_t>& without);

/// The seed of a round; round 0 has the seed of the run, so that a round is replayed as a run.
std::uint64_t seed_of_round(std::uint64_t seed, std::uint64_t round);

/// By how much a fault of the server's clock makes it jump. Forward it is longer than every lease.
constexpr std::chrono::seconds clock_jump(const PlannedFault& fault) noexcept {
  constexpr int longest_lease = 6;
  return std::chrono::seconds(fault.strength +
                              (fault.kind == FaultKind::clock_forward ? longest_lease : 0));
}

/// One line for the log.
std::string describe(const PlannedFault& fault);

}  // namespace latchkey::chaos
