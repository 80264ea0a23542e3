// Events of entries that are watched.
// SPDX-License-Identifier: BSL-1.0
#include <utility>

#include "stores/zookeeper/recipe/queue_recipe.hpp"

namespace latchkey::inline v1::detail::zookeeper {
namespace {

/// How many bytes of watches of holds there are at most. After a reconnect libzookeeper sends all
/// watches in one message, and a server ends the connection if one is longer than 1 MiB
/// (jute.maxbuffer).
constexpr std::size_t most_own_watches = std::size_t{512} * 1024;

}  // namespace

void QueueRecipe::unwatch(Place& place) noexcept {
  if (place.watched.empty()) return;
  place.watched.clear();
  --watches_;
}

void QueueRecipe::watch_own(Place& place, bool on) noexcept {
  own_watches_ -= std::exchange(place.own_watch, 0);
  if (!on) return;
  const std::size_t size = store_.watch_size(place);
  if (own_watches_ + size > most_own_watches) return;
  place.own_watch = size;
  own_watches_ += size;
}

// Somebody else has deleted the entry. The owner of a watched hold checks it, and learns that it is
// gone.
void QueueRecipe::vanish(Place& place) {
  const bool held = std::exchange(place.stage, Stage::absent) == Stage::held;
  const bool is_watched = place.own_watch > 0;
  unwatch(place);
  watch_own(place, false);
  if (!place.jobs.empty() || place.sink == nullptr) return;
  using Kind = Notification::Kind;
  if (held && is_watched) return outbox_.notify(*place.sink, Kind::changed, place.line->key);
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

// A watch is for one event. The predecessor is watched again once the entries are read, a hold when
// its owner asks for that.
void QueueRecipe::changed(Line& line, std::string_view name) {
  bool reads = false;
  for (const auto& each : line.places) {
    Place& place = *each;
    const bool is_own = place.stage == Stage::held && place.ticket.name == name;
    if (is_own && place.own_watch > 0 && place.operations == 0) {
      watch_own(place, false);
      outbox_.notify(*place.sink, Notification::Kind::changed, line.key);
    }
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
