// Draws the faults of one round from a seed.
// SPDX-License-Identifier: BSL-1.0
#include "chaos/faults/fault_plan.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <iterator>
#include <optional>
#include <random>

#include "chaos/faults/forbidden_commands.hpp"
#include "chaos/sort_stably.hpp"
#include "chaos/worker/lock_source.hpp"

namespace latchkey::chaos {
namespace {

/// std::uniform_int_distribution differs between libraries: a seed means the same everywhere.
class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  int between(int least, int most) {
    return least + static_cast<int>(engine_() % static_cast<std::uint64_t>(most - least + 1));
  }

 private:
  std::mt19937_64 engine_;
};

bool overlap(const PlannedFault& first, const PlannedFault& second) {
  constexpr int gap_ms = 100;
  return first.worker == second.worker && first.at_ms < second.at_ms + second.length_ms + gap_ms &&
         second.at_ms < first.at_ms + first.length_ms + gap_ms;
}

/// mechanisms.md: tokens rise through a loss of data only if the clock is not set back as well.
void drop_jumps_back_if_data_is_lost(std::vector<PlannedFault>& faults) {
  if (!loses_data(faults)) return;
  std::erase_if(faults,
                [](const PlannedFault& fault) { return fault.kind == FaultKind::clock_back; });
}

/// The keys of READs have the most keys beside them, which a move takes apart: see Workload.
int draw_read_key(Random& random) {
  constexpr std::array keys{2, 5, 7};
  return keys[static_cast<std::size_t>(random.between(0, 2))];
}

PlannedFault draw_one(Random& random, const PlanSize& size, FaultKind kind) {
  const FaultTraits& its = traits(kind);
  PlannedFault fault;
  fault.kind = kind;
  if (its.target == Target::worker)
    fault.worker = random.between(0, static_cast<int>(size.workers) - 1);
  if (is_of_tool(kind)) fault.worker = tool_worker;
  if (its.target == Target::key) fault.key = random.between(0, static_cast<int>(size.keys) - 1);
  if (kind == FaultKind::slot_move && random.between(0, 2) > 0) fault.key = draw_read_key(random);
  fault.at_ms = random.between(size.calm_ms, size.calm_ms + size.span_ms);
  fault.length_ms = random.between(its.shortest_ms, its.longest_ms);
  fault.strength = random.between(1, 150);
  return fault;
}

/// A connection is made anew while the server is in an odd state: what that meets is the handshake.
std::optional<PlannedFault> draw_companion(Random& random, const PlanSize& size,
                                           const std::vector<FaultKind>& kinds,
                                           const PlannedFault& fault) {
  constexpr int shortest_ms = 150;
  if (fault.worker >= 0 || fault.length_ms < shortest_ms || random.between(0, 1) == 0) return {};
  const FaultKind kind = random.between(0, 1) == 0 ? FaultKind::link_cut : FaultKind::client_kill;
  if (std::ranges::find(kinds, kind) == kinds.end()) return {};
  PlannedFault companion = draw_one(random, size, kind);
  companion.at_ms = fault.at_ms + random.between(fault.length_ms / 4, fault.length_ms);
  return companion;
}

std::vector<FaultKind> kinds_that_keep_connections(std::vector<FaultKind> kinds) {
  std::erase_if(kinds, [](FaultKind kind) { return traits(kind).has(impairs); });
  return kinds;
}

/// In the order of their times, with new numbers.
std::vector<PlannedFault> numbered(std::vector<PlannedFault> faults) {
  sort_stably(faults, &PlannedFault::at_ms);
  for (std::size_t index = 0; index < faults.size(); ++index) faults[index].number = index;
  return faults;
}

/// The end of the last of them.
int end_of(const std::vector<PlannedFault>& faults) {
  int end = 0;
  for (const PlannedFault& fault : faults) end = std::max(end, fault.at_ms + fault.length_ms);
  return end;
}

std::vector<PlannedFault> with_those_of_each_round(std::vector<PlannedFault> faults,
                                                   std::uint64_t seed, const PlanSize& size,
                                                   const std::vector<FaultKind>& all) {
  constexpr int most_tries = 20, pause_ms = 150;
  Random random(~seed);
  for (const FaultKind kind : all_kinds()) {
    const bool is_there = std::ranges::find(faults, kind, &PlannedFault::kind) != faults.end();
    const bool can_be = std::ranges::find(all, kind) != all.end();
    if (!is_of_each_round(kind) || is_there || !can_be) continue;
    PlannedFault fault;
    const auto collides = [&] {
      return std::ranges::any_of(faults, [&](const auto& other) { return overlap(fault, other); });
    };
    int tries = 0;
    do {
      fault = draw_one(random, size, kind);
    } while (collides() && ++tries < most_tries);
    if (collides()) fault.at_ms = end_of(faults) + pause_ms;
    faults.push_back(fault);
  }
  return numbered(std::move(faults));
}

/// The commands that follow one another in the table, from any of them on.
std::vector<PlannedFault> forbid_in_turn(std::uint64_t seed, const PlanSize& size) {
  auto faults = draw_faults_of(seed, size, {FaultKind::forbidden_command}, 9);
  Random random(seed);
  random.between(0, 1);  // the first number has chosen the kind of round
  int command = random.between(0, static_cast<int>(forbidden_commands.size()) - 1);
  for (PlannedFault& fault : faults) fault.strength = command++;
  return faults;
}

}  // namespace

bool loses_data(const std::vector<PlannedFault>& faults) {
  return std::ranges::any_of(faults, [](const PlannedFault& fault) {
    return fault.kind == FaultKind::flushall || fault.kind == FaultKind::server_kill_empty;
  });
}

std::vector<FaultKind> all_kinds() {
  std::vector<FaultKind> kinds;
  for (const FaultTraits& each : fault_kinds) kinds.push_back(each.kind);
  return kinds;
}

std::vector<PlannedFault> draw_faults_of(std::uint64_t seed, const PlanSize& size,
                                         const std::vector<FaultKind>& kinds, std::size_t count) {
  Random random(seed);
  std::vector<PlannedFault> faults;
  for (std::size_t tries = 0; faults.size() < count && tries < 20 * count; ++tries) {
    const int index = random.between(0, static_cast<int>(kinds.size()) - 1);
    const PlannedFault fault = draw_one(random, size, kinds[static_cast<std::size_t>(index)]);
    const auto add = [&](const PlannedFault& one) {
      const auto overlaps = [&](const PlannedFault& other) { return overlap(one, other); };
      if (std::ranges::any_of(faults, overlaps)) return false;
      faults.push_back(one);
      return true;
    };
    if (!add(fault)) continue;
    if (const auto companion = draw_companion(random, size, kinds, fault)) add(*companion);
  }
  drop_jumps_back_if_data_is_lost(faults);
  return numbered(std::move(faults));
}

std::vector<PlannedFault> draw_faults(std::uint64_t seed, const PlanSize& size,
                                      const std::vector<FaultKind>& all) {
  std::vector<FaultKind> kinds = all, of_members;
  std::ranges::copy_if(all, std::back_inserter(of_members), is_of_member);
  std::erase_if(kinds, is_of_member);
  Random random(seed);
  const int round = random.between(0, 4);
  if (round == 4 && !of_members.empty() && random.between(0, 1) == 0) {
    return draw_faults_of(seed, size, of_members, 1);
  }
  const bool forbids = std::ranges::find(kinds, FaultKind::forbidden_command) != kinds.end();
  const auto draw = [&] {
    switch (round) {
      case 0: return draw_faults_of(seed, size, kinds_that_keep_connections(kinds), 8);
      case 1: return draw_faults_of(seed, size, kinds, 10);
      case 2:
        if (forbids) return forbid_in_turn(seed, size);
        [[fallthrough]];
      default: return draw_faults_of(seed, size, kinds, 24);
    }
  };
  return with_those_of_each_round(draw(), seed, size, kinds);
}

void leave_out(std::vector<PlannedFault>& plan, const std::optional<std::set<std::size_t>>& only,
               const std::set<std::uint32_t>& without) {
  std::erase_if(plan, [&](const PlannedFault& fault) {
    const bool of_absent =
        fault.worker >= 0 && without.contains(static_cast<std::uint32_t>(fault.worker));
    return of_absent || (only && !only->contains(fault.number));
  });
}

std::uint64_t seed_of_round(std::uint64_t seed, std::uint64_t round) {
  if (round == 0) return seed;
  std::mt19937_64 engine(seed);
  engine.discard(round - 1);
  return engine() % 1'000'000'000;  // short enough to be typed
}

std::string describe(const PlannedFault& fault) {
  std::string target = "server";
  if (fault.worker >= 0) target = "worker " + std::to_string(fault.worker);
  if (fault.key >= 0) target = "key " + std::to_string(fault.key);
  if (is_of_holder(fault.kind)) target = "a holder";
  if (fault.kind == FaultKind::forbidden_command) target = forbidden_name(fault.strength);
  return std::to_string(fault.at_ms) + " ms + " + std::to_string(fault.length_ms) +
         " ms: " + std::string(traits(fault.kind).name) + ", " + target;
}

}  // namespace latchkey::chaos
