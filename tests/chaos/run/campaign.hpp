// A run: rounds of faults on one server and its workers, each of which is judged.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <vector>

#include "chaos/deployment/deployment.hpp"
#include "chaos/faults/fault_injector.hpp"
#include "chaos/faults/fault_plan.hpp"
#include "chaos/judge/judge.hpp"
#include "chaos/run/leftovers.hpp"
#include "chaos/run/settings.hpp"
#include "chaos/run/stall_watch.hpp"
#include "chaos/run/totals.hpp"
#include "chaos/run/worker_pool.hpp"

namespace latchkey::chaos {

/// | in a round | happens                                                                  |
/// |------------|--------------------------------------------------------------------------|
/// | calm       | all workers call; nothing is wrong                                       |
/// | storm      | faults begin and end as planned                                          |
/// | healing    | until every thread and every key was granted, or the time for it is over |
/// | rest       | calls end; the judge reads the history and looks for what is left        |
class Campaign {
 public:
  /// `folder`: for logs. It must exist.
  Campaign(const Settings& settings, std::filesystem::path folder);

  /// Runs rounds until the time is over or one has a violation.
  Violations run();

  [[nodiscard]] const Totals& totals() const noexcept { return totals_; }
  [[nodiscard]] std::uint64_t seed_of_last_round() const noexcept { return seed_of_last_round_; }
  [[nodiscard]] const std::vector<PlannedFault>& last_plan() const noexcept { return plan_; }

 private:
  Violations run_round(std::uint64_t seed);
  void draw_plan(std::uint64_t seed);
  void inject(History& history);
  void note_surprise(History& history);
  /// Returns whether each thread, and each key, was granted once.
  bool await_healing(const History& history);
  /// Adds what `judge` does not find: violations of linearizability and, if `rests`, leftovers.
  void look_further(const History& history, bool rests, Violations& found);
  void write_log(const History& history, const Violations& found) const;
  void note_tokens(const History& history);

  const Settings settings_;
  const std::filesystem::path folder_;
  const std::unique_ptr<Deployment> deployment_;
  WorkerPool workers_;
  FaultInjector injector_;
  StallWatch stalls_;
  Leftovers leftovers_;
  Totals totals_;
  PlanSize size_;
  std::vector<PlannedFault> plan_;
  std::vector<std::uint64_t> last_tokens_ = std::vector<std::uint64_t>(key_count);
  std::uint64_t seed_of_last_round_ = 0;
};

}  // namespace latchkey::chaos
