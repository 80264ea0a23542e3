// The state of a simulation that all parts share: time, chance, keys, schedule, trace, verdict.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <latchkey/clock.hpp>

#include "testing/simulator/event_schedule.hpp"
#include "testing/simulator/random.hpp"
#include "testing/simulator/scenario.hpp"
#include "testing/simulator/trace.hpp"

namespace latchkey::inline v1::sim {

using std::chrono::milliseconds;

/// One run's shared state.
class World {
 public:
  World(std::uint64_t seed, bool keeps_text)
      : random(seed), scenario(Scenario::draw(random)), trace(keeps_text) {
    for (std::size_t key = 0; key < scenario.keys.size(); ++key) {
      keys.push_back("key" + std::to_string(key));
    }
  }

  /// Ends the run. Only the first violation is kept.
  void fail(std::string what) {
    if (violation.empty()) violation = std::move(what);
  }
  [[nodiscard]] bool passed() const noexcept { return violation.empty(); }

  void note(std::uint32_t client, std::string_view what, std::string_view detail = {},
            std::uint64_t id = 0, std::int64_t value = 0) {
    trace.note(now, client, what, detail, id, value);
  }

  /// An event that is due after `delay`, at once if the delay is negative.
  void schedule_in(Clock::duration delay, Due due, std::uint32_t client, std::uint32_t index = 0,
                   std::uint64_t epoch = 0) {
    schedule.add(now + std::max(delay, Clock::duration{}), due, client, index, epoch);
  }

  [[nodiscard]] std::uint32_t key_index(std::string_view key) const noexcept {
    return static_cast<std::uint32_t>(std::find(keys.begin(), keys.end(), key) - keys.begin());
  }

  Clock::duration now{};
  Random random;
  Scenario scenario;
  std::vector<std::string> keys;  ///< their names
  EventSchedule schedule;
  Trace trace;
  std::string violation;
  bool faults_stopped = false;  ///< the run comes to rest
  std::uint64_t processes = 0;  ///< started so far
};

}  // namespace latchkey::inline v1::sim
