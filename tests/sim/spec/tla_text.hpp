// Prints histories of the simulator as a TLA+ module for docs/spec/Trace.tla.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "testing/simulator/judges/observation.hpp"

namespace latchkey::inline v1::sim {

/// The steps that the users of one key saw in one run.
struct KeyObservations {
  std::uint64_t seed = 0;
  std::size_t key = 0;
  std::size_t clients = 0;
  std::vector<Observation> steps;
};

/// Runs a seed and returns what the users of each key saw, except for keys that nobody was granted.
/// Empty for a run in which calls have held_at_most or lock_delay, of which the page says nothing.
/// Throws std::runtime_error if the run breaks a promise by the simulator's own judges.
[[nodiscard]] std::vector<KeyObservations> observe_seed(std::uint64_t seed, std::uint64_t steps);

/// The module Histories. Each history is a definition of its own: TLC reads many small ones faster
/// than a large one. Throws std::range_error if a time has more than the 31 bits of TLC's integers.
[[nodiscard]] std::string module_of(const std::vector<KeyObservations>& histories);

}  // namespace latchkey::inline v1::sim
