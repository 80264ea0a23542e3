// Prints histories of the simulator as a TLA+ module.
#include "sim/spec/tla_text.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <variant>

#include "testing/simulator/simulation.hpp"

namespace latchkey::inline v1::sim {
namespace {

std::string text_of(bool value) { return value ? "TRUE" : "FALSE"; }

std::string text_of(std::int64_t value) {
  if (value > std::numeric_limits<std::int32_t>::max() ||
      value < std::numeric_limits<std::int32_t>::min()) {
    throw std::range_error("a history has the number " + std::to_string(value) +
                           ", and TLC's integers have 32 bits");
  }
  return std::to_string(value);
}

std::string text_of(std::string_view value) { return '"' + std::string(value) + '"'; }

/// `<<a, b>>`
template <class List, class Text>
std::string sequence_of(const List& list, Text text) {
  std::string joined = "<<";
  for (const auto& each : list) {
    if (joined.size() > 2) joined += ',';
    joined += text(each);
  }
  return joined + ">>";
}

std::string step_of(const Observation& step) {
  std::string text = "<<" + text_of(step.kind) + ',' + text_of(step.at) + ',' +
                     sequence_of(step.clocks, [](std::int64_t time) { return text_of(time); });
  for (const Observation::Argument& each : step.arguments) {
    text += ',' + std::visit([](auto value) { return text_of(value); }, each);
  }
  return text + ">>";
}

/// The store's tokens are microseconds of its clock. Those of a history count from its first one.
void shorten_tokens(std::vector<Observation>& steps) {
  constexpr std::size_t first = 0, last = 1, token = 6;
  const auto number = [](Observation& step, std::size_t argument) -> std::int64_t& {
    return std::get<std::int64_t>(step.arguments[argument]);
  };
  std::int64_t base = 0;
  for (Observation& step : steps) {
    if (step.kind == "issued") {
      if (base == 0) base = number(step, first) - 1;
      number(step, first) -= base;
      number(step, last) -= base;
    } else if (step.kind == "acquired" && number(step, token) != 0) {
      number(step, token) -= base;
    }
  }
}

}  // namespace

std::vector<KeyObservations> observe_seed(std::uint64_t seed, std::uint64_t steps) {
  Simulation simulation(seed, false);
  if (simulation.limits_holds() || simulation.delays_grants()) return {};
  simulation.observe();
  const Report report = simulation.run(steps);
  if (!report.violation.empty()) {
    throw std::runtime_error("seed " + std::to_string(seed) + ": " + report.violation);
  }
  const History& history = simulation.history();
  std::vector<KeyObservations> seen;
  for (std::size_t key = 0; key < history.keys.size(); ++key) {
    if (history.keys[key].grants == 0) continue;
    seen.push_back({seed, key, history.clients.size(), history.keys[key].observations});
    shorten_tokens(seen.back().steps);
  }
  return seen;
}

std::string module_of(const std::vector<KeyObservations>& histories) {
  std::string text = "---- MODULE Histories ----\nEXTENDS Integers\n";
  std::string names;
  for (std::size_t index = 0; index < histories.size(); ++index) {
    const KeyObservations& history = histories[index];
    const std::string name = "H" + std::to_string(index + 1);
    names += (index == 0 ? "" : ",") + name;
    text += name + " == [seed |-> " + std::to_string(history.seed) + ", key |-> " +
            std::to_string(history.key) + ", clients |-> " + std::to_string(history.clients) +
            ", events |-> ";
    text +=
        sequence_of(history.steps, [](const Observation& step) { return '\n' + step_of(step); });
    text += "]\n";
  }
  return text + "Histories == <<" + names + ">>\n====\n";
}

}  // namespace latchkey::inline v1::sim
