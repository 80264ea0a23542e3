// The figures of a run.
// SPDX-License-Identifier: BSL-1.0
#include "chaos/run/totals.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "chaos/faults/forbidden_commands.hpp"
#include "chaos/judge/judge.hpp"

namespace latchkey::chaos {
namespace {

std::string row(std::string_view name, std::uint64_t figure, std::string_view unit = "") {
  return "| " + std::string(name) + " | " + std::to_string(figure) + std::string(unit) + " |\n";
}

}  // namespace

void Totals::add(const History& history) {
  ++rounds_;
  losses_ += losses_on_server(history);
  limited_ += holds_at_their_limit(history);
  time_ += history.ended - history.began;
  stalls_ += history.stalls.size();
  std::map<std::pair<std::uint32_t, std::uint32_t>, Nanos> first_grants;  // by worker, thread
  for (const Visit& visit : history.visits) {
    ++calls_;
    operations_ += visit.release == Outcome::none ? 1 : 2;
    granted_ += visit.outcome == Outcome::granted ? 1 : 0;
    busy_ += visit.outcome == Outcome::busy ? 1 : 0;
    unavailable_ += visit.outcome == Outcome::unavailable ? 1 : 0;
    refused_ += visit.outcome == Outcome::refused ? 1 : 0;
    no_memory_ +=
        visit.outcome == Outcome::no_memory || visit.release == Outcome::no_memory ? 1 : 0;
    const bool lost_its_tool = visit.outcome == Outcome::killed || visit.release == Outcome::killed;
    killed_ += visit.killed || lost_its_tool ? 1 : 0;
    told_ += visit.told != 0 ? 1 : 0;
    asked_ += visit.asked != 0 ? 1 : 0;
    unconfirmed_ += visit.release == Outcome::unavailable ? 1 : 0;
    if (visit.outcome != Outcome::granted) continue;
    longest_wait_ = std::max(longest_wait_, visit.entered - visit.called);
    if (visit.entered < history.healed) continue;
    Nanos& first =
        first_grants.try_emplace({visit.worker, visit.thread}, visit.entered).first->second;
    first = std::min(first, visit.entered);
  }
  for (const auto& [thread, first] : first_grants) {
    longest_recovery_ = std::max(longest_recovery_, first - history.healed);
  }
  for (const Fault& fault : history.faults) {
    if (fault.key == no_key) continue;  // no visitor held a key
    ++by_kind_[static_cast<std::size_t>(fault.kind)];
    ++faults_;
    reached_ += fault.reached > 0 ? static_cast<std::uint64_t>(fault.reached) : 0;
    if (fault.kind != FaultKind::forbidden_command) continue;
    forbidden_.insert(forbidden_name(fault.strength));
  }
}

std::string Totals::table() const {
  const auto kinds = static_cast<std::uint64_t>(
      std::ranges::count_if(by_kind_, [](std::uint64_t count) { return count > 0; }));
  const auto ms = [](Nanos time) { return static_cast<std::uint64_t>(time / millisecond); };
  std::string text = "| figure | |\n|---|---|\n";
  text += row("rounds", rounds_) + row("rounds that Porcupine checked", checked_) +
          row("time with calls", ms(time_) / 1'000, " s") +
          row("operations: acquires and releases", operations_) + row("acquires", calls_) +
          row("granted", granted_) + row("busy for the whole wait", busy_) +
          row("no reply (BackendUnavailable)", unavailable_) +
          row("refused (BackendRefused)", refused_) +
          row("ended by a failed allocation (std::bad_alloc)", no_memory_) +
          row("holders told of a loss", told_) +
          row("holds that the server lost under their holder", losses_) +
          row("holders told that they held too long", limited_) +
          row("holders asked to release their lock", asked_) +
          row("processes that were told of these requests", reached_) +
          row("releases not confirmed", unconfirmed_) +
          row("calls ended by the death of their process", killed_) +
          row("longest wait of a granted call", ms(longest_wait_), " ms") +
          row("longest time of a thread without a grant after the last fault",
              ms(longest_recovery_), " ms") +
          row("stalls of the machine", stalls_) + row("kinds of faults", kinds) +
          row("commands of scripts that were forbidden in turn", forbidden_.size(),
              " of " + std::to_string(forbidden_commands.size())) +
          row("faults", faults_);
  text += "\n| fault | times |\n|---|---|\n";
  for (const FaultTraits& each : fault_kinds) {
    text += row(each.name, by_kind_[static_cast<std::size_t>(each.kind)]);
  }
  return text;
}

}  // namespace latchkey::chaos
