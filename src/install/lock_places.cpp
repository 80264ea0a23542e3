// Every LOCKED of the program.
#include "install/lock_places.hpp"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <tuple>

namespace latchkey::detail {
namespace {

bool is_lock(const SiteNote& note) {
  return note.facts != nullptr && (note.kind == lock_kind || note.kind == lock_by_kind);
}

}  // namespace

std::vector<LockPlace> lock_places() {
  std::vector<LockPlace> places;
  for (const Site& site : sites()) {
    const std::size_t first = places.size();
    for (const SiteNote* note = site.notes(); note != nullptr; note = note->next) {
      if (!is_lock(*note)) continue;
      places.push_back({&site, note, static_cast<const LockFacts*>(note->facts), true});
    }
    for (std::size_t i = first; i < places.size(); ++i)
      places[i].alone = first + 1 == places.size();
  }
  std::sort(places.begin(), places.end(), [](const LockPlace& a, const LockPlace& b) {
    return std::tuple(a.site->file(), a.site->line(), a.site->name(), a.note->text) <
           std::tuple(b.site->file(), b.site->line(), b.site->name(), b.note->text);
  });
  return places;
}

}  // namespace latchkey::detail
