// Finds fewer faults and workers that still cause a violation.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <functional>
#include <set>

namespace latchkey::chaos {

/// The numbers of faults, or of workers.
using Numbers = std::set<std::size_t>;

/// Leaves out parts of `numbers`, first halves and then smaller ones (Zeller's ddmin), as long as
/// `fails` is true of the rest. Calls `fails` at most `attempts` times. A run depends on real time,
/// so the result need not be minimal.
Numbers shorten(Numbers numbers, int attempts, const std::function<bool(const Numbers&)>& fails);

/// The faults and workers that are left of a round.
struct ShortRound {
  Numbers faults, workers;
};

/// Leaves out faults, then workers, as long as `fails` is true of the rest. Calls `fails` at most
/// `attempts` times, of which a third is kept for the workers.
ShortRound shorten_round(ShortRound round, int attempts,
                         const std::function<bool(const ShortRound&)>& fails);

}  // namespace latchkey::chaos
