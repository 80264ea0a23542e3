// Finds fewer faults and workers that still cause a violation.
// SPDX-License-Identifier: BSL-1.0
#include "chaos/reproduction/shorten.hpp"

#include <algorithm>

namespace latchkey::chaos {
namespace {

/// `numbers` without the part number `part` of `parts` parts.
Numbers without_part(const Numbers& numbers, std::size_t part, std::size_t parts) {
  Numbers rest;
  std::size_t index = 0;
  for (const std::size_t number : numbers) {
    if (index++ * parts / numbers.size() != part) rest.insert(number);
  }
  return rest;
}

}  // namespace

Numbers shorten(Numbers numbers, int attempts, const std::function<bool(const Numbers&)>& fails) {
  std::size_t parts = 2;
  while (numbers.size() > 1) {
    bool shorter = false;
    for (std::size_t part = 0; part < parts && !shorter; ++part) {
      if (attempts-- <= 0) return numbers;
      Numbers rest = without_part(numbers, part, parts);
      if (!fails(rest)) continue;
      numbers = std::move(rest);
      parts = std::max<std::size_t>(2, parts - 1);
      shorter = true;
    }
    if (shorter) continue;
    if (parts >= numbers.size()) return numbers;
    parts = std::min(2 * parts, numbers.size());
  }
  return numbers;
}

ShortRound shorten_round(ShortRound round, int attempts,
                         const std::function<bool(const ShortRound&)>& fails) {
  const int kept = attempts / 3;
  int made = 0;
  round.faults = shorten(round.faults, attempts - kept, [&](const Numbers& faults) {
    ++made;
    return fails({faults, round.workers});
  });
  round.workers = shorten(round.workers, attempts - made,
                          [&](const Numbers& workers) { return fails({round.faults, workers}); });
  return round;
}

}  // namespace latchkey::chaos
