// Makes histories for the tests of the judge. Times are milliseconds.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <string>

#include "chaos/judge/judge.hpp"

namespace latchkey::chaos {

class HistoryBuilder {
 public:
  HistoryBuilder() {
    history_ = {.workers = 2, .threads = 1, .keys = 2, .began = 1, .calm = 1};
    history_.ended = 100'000 * millisecond;
  }

  /// A visit that was surely inside from `entered` to `held_until`, and left then.
  Visit& visit(std::uint32_t worker, int entered, int held_until, int lease = 1'000) {
    Visit visit{.worker = worker, .outcome = Outcome::granted, .lease = lease * millisecond};
    visit.called = (entered - 1) * millisecond;
    visit.entered = entered * millisecond;
    visit.held_until = visit.left = visit.ended = held_until * millisecond;
    visit.deadline = visit.entered + visit.lease - margin(visit.lease);
    visit.release = Outcome::granted;
    history_.visits.push_back(visit);
    return history_.visits.back();
  }

  Fault& fault(FaultKind kind, int from, int to, int worker = -1) {
    Fault fault{.kind = kind, .worker = worker, .excuses = traits(kind).excuses};
    fault.begins = fault.begun = from * millisecond;
    fault.ends = fault.ended = to * millisecond;
    history_.faults.push_back(fault);
    return history_.faults.back();
  }

  [[nodiscard]] History& history() noexcept { return history_; }

  /// The rules that `judge_some` finds broken, separated by semicolons.
  [[nodiscard]] std::string broken(void (*judge_some)(const History&, Violations&)) const {
    Violations found;
    judge_some(history_, found);
    std::string rules;
    for (const Violation& each : found) rules += (rules.empty() ? "" : "; ") + each.rule;
    return rules;
  }

 private:
  History history_;
};

}  // namespace latchkey::chaos
