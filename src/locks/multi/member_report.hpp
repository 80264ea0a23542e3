// The reports to the listener about an acquire of several keys.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <optional>

#include <latchkey/attempt.hpp>
#include <latchkey/call_observer.hpp>
#include <latchkey/owner.hpp>

#include "locks/coordinator/call.hpp"
#include "locks/multi/lock_set.hpp"

namespace latchkey::inline v1::detail {

class LockSpace;

/// Reports how the acquire ended, about one of its keys; see StartedCall::report_member. Does
/// nothing if the space has no listener.
void report_member(LockSpace& space, const LockMember& lock, Owner owner, const Attempt& attempt,
                   MemberReport& report, Answer answer, RemoteHold* hold,
                   const Call* last) noexcept;

/// Fills in Attempt::report: the longest of the times for which one of the keys was awaited.
template <class Parts>
void fill_in_report(const Parts& parts, const Attempt& attempt) noexcept {
  if (attempt.report == nullptr) return;
  for (const auto& part : parts) {
    if (!part.report.waits) continue;
    const std::optional<std::chrono::nanoseconds> contended =
        part.space->clock().now() - part.report.waiting_since;
    attempt.report->contended = std::max(attempt.report->contended, contended);
  }
}

/// Reports the outcome of `steps`, which are done. A key that is granted was one attempt, however
/// many calls were made for it. An acquire that failed says why about the key that was in the way;
/// attempts at other keys that were reported end as cancelled, so that one call is one failure. Of
/// all other keys nothing is reported.
template <class Parts, class Steps>
void report_outcome(Parts& parts, const Steps& steps, const Attempt& attempt) noexcept {
  const Answer answer = steps.plan().answer();
  const bool granted = answer == Answer::granted;
  fill_in_report(parts, attempt);
  for (std::size_t member = 0; member < parts.size(); ++member) {
    auto& part = parts[member];
    const bool is_other = !granted && member != steps.plan().member();
    if (is_other && !part.report.attempt) continue;
    report_member(*part.space, *part.lock, part.owner, attempt, part.report,
                  is_other ? Answer::cancelled : answer, granted ? steps.hold(member) : nullptr,
                  part.call ? &part.call->call() : nullptr);
  }
}

}  // namespace latchkey::inline v1::detail
