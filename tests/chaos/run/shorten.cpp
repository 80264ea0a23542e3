// Finds fewer faults that still cause a violation.
// SPDX-License-Identifier: BSL-1.0
#include "chaos/run/shorten.hpp"

#include <algorithm>

namespace latchkey::chaos {
namespace {

/// `faults` without the part number `part` of `parts` parts.
FaultNumbers without_part(const FaultNumbers& faults, std::size_t part, std::size_t parts) {
  FaultNumbers rest;
  std::size_t index = 0;
  for (const std::size_t fault : faults) {
    if (index++ * parts / faults.size() != part) rest.insert(fault);
  }
  return rest;
}

}  // namespace

FaultNumbers shorten(FaultNumbers faults, int attempts,
                     const std::function<bool(const FaultNumbers&)>& fails) {
  std::size_t parts = 2;
  while (faults.size() > 1) {
    bool shorter = false;
    for (std::size_t part = 0; part < parts && !shorter; ++part) {
      if (attempts-- <= 0) return faults;
      FaultNumbers rest = without_part(faults, part, parts);
      if (!fails(rest)) continue;
      faults = std::move(rest);
      parts = std::max<std::size_t>(2, parts - 1);
      shorter = true;
    }
    if (shorter) continue;
    if (parts >= faults.size()) return faults;
    parts = std::min(2 * parts, faults.size());
  }
  return faults;
}

}  // namespace latchkey::chaos
