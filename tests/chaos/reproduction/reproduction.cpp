// The reproduction of a round with a violation.
// SPDX-License-Identifier: BSL-1.0
#include "chaos/reproduction/reproduction.hpp"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <fstream>
#include <limits>
#include <optional>
#include <set>
#include <string>

#include "chaos/reproduction/replay_file.hpp"
#include "chaos/reproduction/shorten.hpp"
#include "chaos/reproduction/simulator_search.hpp"
#include "chaos/run/campaign.hpp"

namespace latchkey::chaos {
namespace {

Numbers faults_of(const std::vector<PlannedFault>& plan) {
  Numbers numbers;
  for (const PlannedFault& each : plan) numbers.insert(each.number);
  return numbers;
}

Numbers workers_of(const Settings& settings) {
  Numbers numbers;
  for (std::uint32_t worker = 0; worker < settings.workers; ++worker) {
    if (!settings.without.contains(worker)) numbers.insert(worker);
  }
  return numbers;
}

std::set<std::uint32_t> others_than(const Numbers& workers, std::uint32_t count) {
  std::set<std::uint32_t> others;
  for (std::uint32_t worker = 0; worker < count; ++worker) {
    if (!workers.contains(worker)) others.insert(worker);
  }
  return others;
}

/// Leaves the round as a file, and prints how it is run again.
void leave_replay(const FailedRound& failed, const std::filesystem::path& file) {
  write_replay(file, failed.settings, failed.seed);
  std::printf("replay: make chaos REPLAY=%s\nthe same without the file: %s\n", file.c_str(),
              replay_command(failed.settings, failed.seed).c_str());
}

/// Runs a part of the round. Its plan if it violates one of the rules that the whole one violates;
/// a round that cannot be judged shows nothing.
std::optional<std::vector<PlannedFault>> failing_plan(const FailedRound& whole,
                                                      const Settings& settings,
                                                      const std::filesystem::path& folder) {
  try {
    Campaign campaign(settings, folder);
    const Violations found = campaign.run();
    const auto is_known = [&](const Violation& each) { return whole.rules.contains(each.rule); };
    if (std::ranges::any_of(found, is_known)) return campaign.last_plan();
  } catch (const std::exception& error) {
    std::printf("%s\n", error.what());
  }
  return std::nullopt;
}

/// Runs the round with fewer and fewer faults and workers. Returns the shortest that fails.
FailedRound shortened(const FailedRound& failed, const std::filesystem::path& folder) {
  std::printf("shortening, at most %d rounds:\n", failed.settings.shorten);
  std::filesystem::create_directories(folder);
  FailedRound shortest = failed;
  const ShortRound whole{faults_of(failed.plan), workers_of(failed.settings)};
  shorten_round(whole, failed.settings.shorten, [&](const ShortRound& some) {
    Settings settings = failed.settings;
    settings.seed = failed.seed;
    settings.length = std::chrono::milliseconds(1);
    settings.only = some.faults;
    settings.without = others_than(some.workers, settings.workers);
    const auto plan = failing_plan(failed, settings, folder);
    if (!plan) return false;
    settings.only = faults_of(*plan);
    shortest = {settings, failed.seed, *plan, failed.rules};
    return true;
  });
  std::printf("left: %zu of %zu faults, %zu of %zu workers\n", shortest.plan.size(),
              whole.faults.size(), workers_of(shortest.settings).size(), whole.workers.size());
  for (const PlannedFault& each : shortest.plan) {
    std::printf("fault %zu at %s\n", each.number, describe(each).c_str());
  }
  return shortest;
}

void leave_schedule(const std::vector<PlannedFault>& plan, const std::filesystem::path& folder) {
  const auto [schedule, left_out] = translate(plan);
  std::printf("faults without a counterpart in the simulator: %zu of %zu\n", left_out, plan.size());
  if (schedule.empty()) return;
  const std::filesystem::path file = folder / "schedule";
  std::ofstream(file) << "# latchkey_chaos --simulate FILE runs these faults in the simulator\n"
                      << text_of(schedule);
  std::printf("%s\nmore seeds: build/test/tests/latchkey_chaos --simulate %s\n",
              describe(search_seeds(schedule, {}), folder / "simulated.trace").c_str(),
              file.c_str());
}

}  // namespace

void reproduce(const FailedRound& failed, const std::filesystem::path& folder) {
  leave_replay(failed, folder / "replay");
  if (failed.settings.client != Client::latchkey || failed.settings.shorten == 0) return;
  const FailedRound left = shortened(failed, folder / "shortened");
  leave_replay(left, folder / "replay.short");
  leave_schedule(left.plan, folder);
}

int run_simulator(const Settings& settings) {
  const Schedule schedule = read_schedule(settings.simulate);
  std::printf("seeds from %llu on\n", static_cast<unsigned long long>(settings.seed));
  const SeedRange range{.first = settings.seed,
                        .count = std::numeric_limits<std::uint64_t>::max(),
                        .longest = settings.length};
  const SearchResult result = search_seeds(schedule, range);
  std::printf("%s\n", describe(result, settings.simulate + ".trace").c_str());
  return result.seed ? 1 : 0;
}

}  // namespace latchkey::chaos
