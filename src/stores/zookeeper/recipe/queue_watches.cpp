// Events of entries that are watched.
// SPDX-License-Identifier: BSL-1.0
#include <utility>

#include "stores/zookeeper/recipe/queue_recipe.hpp"

namespace latchkey::inline v1::detail::zookeeper {

void QueueRecipe::unwatch(Place& place) noexcept {
  if (place.watched.empty()) return;
  place.watched.clear();
  --watches_;
}

// Somebody else has deleted the entry.
void QueueRecipe::vanish(Place& place) {
  const bool held = std::exchange(place.stage, Stage::absent) == Stage::held;
  unwatch(place);
  if (!place.jobs.empty() || place.sink == nullptr) return;
  using Kind = Notification::Kind;
  outbox_.notify(*place.sink, held ? Kind::gone : Kind::released, place.line->key, place.id);
}

void QueueRecipe::deleted(Line& line, std::string_view name) {
  bool reads = false;
  for (const auto& each : line.places) {
    Place& place = *each;
    if (place.has_entry() && place.ticket.name == name && place.operations == 0) vanish(place);
    if (place.stage != Stage::waiting || place.watched != name) continue;
    unwatch(place);
    if (place.watched_is_last && place.jobs.empty() && place.operations == 0) {
      place.looks_at_own = true;
      ++place.operations;
      store_.check(place, false);
    } else {
      reads = true;
    }
  }
  if (reads) read_again(line);
  sweep(line);
}

// The watch was for one event, so the entries are read and the predecessor is watched again.
void QueueRecipe::changed(Line& line, std::string_view name) {
  bool reads = false;
  for (const auto& each : line.places) {
    Place& place = *each;
    if (place.stage != Stage::waiting || place.watched != name) continue;
    unwatch(place);
    reads = true;
  }
  if (reads) read_again(line);
}

// Nobody was before this place but the predecessor that is deleted. Somebody may have deleted the
// own entry, too: then the next in the queue is first.
void QueueRecipe::looked_at_own(Place& place, const Refusal& refusal, bool exists) {
  place.looks_at_own = false;
  if (place.stage != Stage::waiting) return;
  if (!refusal.empty()) return read_again(*place.line);
  exists ? become_first(place) : vanish(place);
}

}  // namespace latchkey::inline v1::detail::zookeeper
