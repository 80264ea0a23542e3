// The decorated methods of this program.
// SPDX-License-Identifier: BSL-1.0
#include "install/lock_places.hpp"

#include <algorithm>
#include <cstddef>
#include <span>
#include <tuple>
#include <vector>

#include <latchkey/detail/locked/annotated_class.hpp>
#include <latchkey/detail/locked/locked_site.hpp>
#include <latchkey/registry.hpp>
#include <latchkey/site.hpp>

namespace latchkey::inline v1::detail {
namespace {

bool is_known(const SiteNote& note) {
  return note.facts != nullptr &&
         (note.kind == lock_kind || note.kind == lock_by_kind || note.kind == once_kind);
}

std::vector<SchemaArgument> arguments_of(const Site& site, const LockedSite& known) {
  std::vector<SchemaArgument> arguments;
  arguments.reserve(site.argument_count());
  for (std::size_t i = 0; i < site.argument_count(); ++i) {
    arguments.push_back({site.argument_name(i), known.argument_infos[i]});
  }
  return arguments;
}

LockPlace place_of(const Site& site, const SiteNote& note) {
  LockPlace place{.name = std::string(site.name()),
                  .method = std::string(site.method()),
                  .where = site.where(),
                  .file = std::string(site.file()),
                  .line = site.line(),
                  .result_type = std::string(site.result_type()),
                  .text = std::string(note.text)};
  if (note.kind == once_kind) {
    const auto& known = *static_cast<const OnceSite*>(note.facts);
    place.said = known.said;
    place.traits.can_be_skipped = place.traits.once = true;
    place.slot = &known.slot;
  } else {
    const auto& known = *static_cast<const LockedSite*>(note.facts);
    place.said = known.said;
    place.traits = known.traits;
    place.arguments = arguments_of(site, known);
    place.slot = &known.slot;
  }
  return place;
}

}  // namespace

Program this_program() {
  std::vector<LockPlace> places;
  for (const Site& site : sites()) {
    const std::size_t first = places.size();
    for (const SiteNote* note = site.notes(); note != nullptr; note = note->next) {
      if (is_known(*note)) places.push_back(place_of(site, *note));
    }
    const std::span here(places.begin() + static_cast<std::ptrdiff_t>(first), places.end());
    const bool alone =
        std::ranges::count_if(here, [](const LockPlace& each) { return !each.traits.once; }) < 2;
    for (LockPlace& each : here) each.alone = alone;
  }
  std::ranges::sort(places, [](const LockPlace& a, const LockPlace& b) {
    return std::tie(a.file, a.line, a.name, a.text) < std::tie(b.file, b.line, b.name, b.text);
  });
  return {std::move(places), backend_schemes(), unbound_functions()};
}

}  // namespace latchkey::inline v1::detail
