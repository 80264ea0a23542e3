// A round as operations on locks, for a checker of linearizability.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <string>

#include "chaos/history.hpp"

namespace latchkey::chaos {

/// One operation in each line, as tests/chaos/porcupine reads them. Each granted visit acquires
/// between its call and its entry. Its release takes effect
///
/// | if                                                | between                              |
/// |---------------------------------------------------|--------------------------------------|
/// | the release was confirmed                         | `left` and the end of the call       |
/// | the hold was lost, or the outcome is unknown      | `held_until` and the end of the call |
/// | a fault may have ended the hold at the server     | that fault and the end of the call   |
///
/// The calls of a process that was killed have no end. A call that was not granted is left out:
/// what it may have left at the server only keeps the key busy. Pure.
std::string operations_of(const History& history);

}  // namespace latchkey::chaos
