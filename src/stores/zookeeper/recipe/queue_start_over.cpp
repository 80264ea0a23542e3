// The queue after memory was missing in the middle of an operation.
// SPDX-License-Identifier: BSL-1.0
#include "stores/zookeeper/recipe/queue_recipe.hpp"

namespace latchkey::inline v1::detail::zookeeper {

// Each stage is what the server may have at worst: `link_resumed` reads the entries again.
void QueueRecipe::start_over() noexcept {
  for (auto& [key, line] : lines_) {
    line->reads = line->reads_again = false;
    for (const auto& each : line->places) {
      Place& place = *each;
      place.jobs.clear();
      place.operations = 0;
      place.looks_at_own = false;
      unwatch(place);
      if (place.stage == Stage::creating || place.converts) place.stage = Stage::unsure;
      if (place.stage == Stage::ordering) place.stage = Stage::waiting;
    }
  }
  sweep_all();
}

void QueueRecipe::restore_timers() {
  for (auto& [key, line] : lines_) {
    for (const auto& place : line->places) {
      if (place->has_entry()) end_at(*place, place->ends);
    }
  }
}

}  // namespace latchkey::inline v1::detail::zookeeper
