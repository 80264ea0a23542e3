// The public function of the simulator.
// SPDX-License-Identifier: BSL-1.0
#include <latchkey/testing/simulator.hpp>

#include "testing/simulator/simulation.hpp"

namespace latchkey::inline v1::testing {

SimulationReport simulate(std::uint64_t seed, const SimulationSettings& settings) {
  SimulationReport report = sim::Simulation(seed, settings.trace, settings).run(settings.steps);
  if (report.violation.empty() || settings.trace) return report;
  return sim::Simulation(seed, true, settings).run(settings.steps);
}

}  // namespace latchkey::inline v1::testing
