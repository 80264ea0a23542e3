// Liveness: a fault that concerns no lock does not make locks slow.
// SPDX-License-Identifier: BSL-1.0
#include <algorithm>
#include <string>
#include <vector>

#include "chaos/judge/excuses.hpp"

namespace latchkey::chaos {
namespace {

struct Span {
  Nanos from = 0, to = 0;
};

/// The parts of `whole` that none of `others` covers.
std::vector<Span> spans_outside(const Span& whole, std::vector<Span> others) {
  std::ranges::sort(others, {}, &Span::from);
  std::vector<Span> left;
  Nanos from = whole.from;
  for (const Span& other : others) {
    if (other.to <= from) continue;
    if (other.from >= whole.to) break;
    if (other.from > from) left.push_back({from, other.from});
    from = other.to;
  }
  if (from < whole.to) left.push_back({from, whole.to});
  return left;
}

/// How often key 0 was granted, and for how long nobody held it.
struct Pace {
  Nanos free = 0;
  std::int64_t grants = 0;

  /// The average time of one hand-over.
  [[nodiscard]] Nanos time() const noexcept { return free / std::max<std::int64_t>(grants, 1); }
};

/// When nothing else may delay grants than `itself`. A process that was disturbed may have a place
/// in the process queue for some seconds more.
std::vector<Span> calm_spans(const History& history, const Span& whole, const Fault* itself) {
  constexpr Nanos places = 10'000 * millisecond, losses = 1'000 * millisecond;
  std::vector<Span> disturbed;
  for (const auto& [from, to] : history.stalls) disturbed.push_back({from, to});
  for (const Fault& fault : history.faults) {
    if (&fault == itself) continue;
    disturbed.push_back({fault.begins, end_of(fault) + (fault.has(impairs) ? places : losses)});
  }
  return spans_outside(whole, std::move(disturbed));
}

/// Its last seconds: what is repeated for a server that is away may become more and more. Not those
/// in which connections are lost, and calls wait for replies that do not come.
Span judged_part(const History& history, const Fault& fault) {
  constexpr Nanos longest = 20'000 * millisecond;
  const Nanos settled = fault.begun + (fault.has(impairs) ? history.limits.recovery : 0);
  return {std::max(settled, fault.ends - longest), fault.ends};
}

Pace pace_of(const History& history, const Span& whole, const Fault* itself) {
  std::vector<Span> held;
  for (const Visit& visit : history.visits) {
    if (visit.key != 0 || visit.outcome != Outcome::granted) continue;
    held.push_back({visit.entered, std::max(visit.held_until, visit.left)});
  }
  Pace pace;
  for (const Span& calm : calm_spans(history, whole, itself)) {
    for (const Span& free : spans_outside(calm, held)) pace.free += free.to - free.from;
    pace.grants += std::ranges::count_if(
        held, [&](const Span& each) { return each.from >= calm.from && each.from < calm.to; });
  }
  return pace;
}

}  // namespace

// Threads of each worker ask for key 0 all the time. Some hold it for seconds, so the time counts
// in which nobody does. A busy machine makes some hand-overs slow, but not all of a second.
void judge_pace(const History& history, Violations& found) {
  constexpr std::int64_t slower = 5, fewest = 100;
  constexpr Nanos shortest = 200 * millisecond;
  const Pace usual = pace_of(history, {history.began, history.calm}, nullptr);
  if (usual.grants < fewest) return;  // a machine that is too busy to say anything
  for (const Fault& fault : history.faults) {
    if (!keeps_pace(fault.kind)) continue;
    const Pace pace = pace_of(history, judged_part(history, fault), &fault);
    if (pace.free < shortest || pace.time() <= slower * usual.time()) continue;
    const auto micros = [](Nanos time) { return std::to_string(time / 1'000) + " us"; };
    found.push_back({"slow: a fault that concerns no lock delays each grant",
                     std::string(traits(fault.kind).name) + " at " + at(history, fault.begins) +
                         ": a hand-over takes " + micros(pace.time()) +
                         ", before the first fault " + micros(usual.time())});
  }
}

}  // namespace latchkey::chaos
