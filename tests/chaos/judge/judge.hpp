// The judge: finds in the history of a round what the promises rule out. Pure: no clock, no I/O,
// nothing of latchkey or of the server. What latchkey tells its callers is not judged of workers
// that lock with another library (History::foreign).
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <vector>

#include "chaos/history.hpp"

namespace latchkey::chaos {

using Violations = std::vector<Violation>;

/// Promise 1: no two visitors that exclude each other surely hold at once, unless the server had
/// lost their hold and neither check could have told them yet.
void judge_exclusion(const History& history, Violations& found);
/// Promise 2: nobody holds beyond sent + lease - margin, and a loss is never taken back.
void judge_deadlines(const History& history, Violations& found);
/// Promise 3: a hold that ended on the server is noticed a third of the lease later.
void judge_notices(const History& history, Violations& found);
/// A holder that is told of a deleted key knows at once, and a visitor that knows of its loss
/// writes no more.
void judge_told(const History& history, Violations& found);
/// A hold ends at the limit of held_at_most, says so, and leaves the key to others.
void judge_limits(const History& history, Violations& found);
/// A request to release reaches each holder that listens, is counted, and nobody else is asked.
void judge_revocations(const History& history, Violations& found);
/// Promise 4: tokens rise, and a register that checks them loses no update.
void judge_tokens(const History& history, Violations& found);
/// No update of the unprotected counter is lost by a visitor that holds.
void judge_updates(const History& history, Violations& found);
/// No command outlives its tool, which the kernel ends it with.
void judge_tools(const History& history, Violations& found);
/// No hold is gone before its deadline while the server keeps its data.
void judge_releases(const History& history, Violations& found);
/// Every thread and every key makes progress once the last fault has healed.
void judge_progress(const History& history, Violations& found);
/// While nothing is wrong, no process and no call starves.
void judge_shares(const History& history, Violations& found);
/// While a fault lasts that concerns no lock, locks are granted about as fast as before.
void judge_pace(const History& history, Violations& found);
/// Every exception is one that guarantees.md names, at a time when it may happen.
void judge_outcomes(const History& history, Violations& found);

/// How often a fault ended a hold on the server whose visitor went on: what promise 3 is about.
std::size_t losses_on_server(const History& history);

/// How many visitors were still there at the limit of held_at_most, and were told why they lost it.
std::size_t holds_at_their_limit(const History& history);

/// All of them.
Violations judge(const History& history);

}  // namespace latchkey::chaos
