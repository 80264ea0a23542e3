// The steps that the users of a key see in a simulation, as docs/spec/Trace.tla reads them.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>
#include <variant>
#include <vector>

#include <latchkey/clock.hpp>

namespace latchkey::inline v1::sim {

/// One step. Times are in microseconds since the run began. Clients are numbered from 1.
struct Observation {
  using Argument = std::variant<bool, std::int64_t, std::string_view>;

  std::string_view kind;             ///< see Step of Trace.tla
  std::int64_t at = 0;               ///< the true time
  std::vector<std::int64_t> clocks;  ///< the time that the clock of each client shows
  std::vector<Argument> arguments;   ///< those of the kind, in the order of Trace.tla
};

/// Converts a time, or a length of time, to that of observations.
[[nodiscard]] inline std::int64_t microseconds(Clock::duration time) {
  return std::chrono::floor<std::chrono::microseconds>(time).count();
}

}  // namespace latchkey::inline v1::sim
