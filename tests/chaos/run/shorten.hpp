// Finds fewer faults that still cause a violation.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <functional>
#include <set>

namespace latchkey::chaos {

using FaultNumbers = std::set<std::size_t>;

/// Leaves out parts of `faults`, first halves and then smaller ones (Zeller's ddmin), as long as
/// `fails` is true of the rest. Calls `fails` at most `attempts` times. A run depends on real time,
/// so the result need not be minimal.
FaultNumbers shorten(FaultNumbers faults, int attempts,
                     const std::function<bool(const FaultNumbers&)>& fails);

}  // namespace latchkey::chaos
