// Prints what the users of keys saw in runs of the simulator, as the module that
// docs/spec/Trace.tla reads. `make spec` runs it.
//
//   latchkey_histories <first seed> <seeds>    the histories of these seeds
//   latchkey_histories --planted               the names of planted violations, and their promises
//   latchkey_histories --plant <name>          one history with this violation
#include <cstdint>
#include <cstdio>
#include <exception>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "sim/spec/planted.hpp"
#include "sim/spec/tla_text.hpp"

namespace {

namespace sim = latchkey::sim;

constexpr std::uint64_t steps = 1'000;
constexpr std::uint64_t most_seeds = 5'000;  // to find one that has what a violation needs

int print_histories(std::uint64_t first, std::uint64_t count) {
  std::vector<sim::KeyObservations> histories;
  std::size_t events = 0;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    for (sim::KeyObservations& each : sim::observe_seed(seed, steps)) {
      events += each.steps.size();
      histories.push_back(std::move(each));
    }
  }
  std::cout << sim::module_of(histories);
  std::cerr << histories.size() << " histories, " << events << " events\n";
  return 0;
}

int print_planted(const sim::Planted& planted) {
  for (std::uint64_t seed = 1; seed <= most_seeds; ++seed) {
    for (sim::KeyObservations& each : sim::observe_seed(seed, steps)) {
      if (!planted.plant(each.steps)) continue;
      std::cout << sim::module_of({each});
      return 0;
    }
  }
  std::cerr << "no history of " << most_seeds << " seeds has a place for '" << planted.name
            << "'\n";
  return 1;
}

int run(const std::vector<std::string_view>& words) {
  if (words.size() == 1 && words[0] == "--planted") {
    for (const sim::Planted& each : sim::all_planted()) {
      std::cout << each.name << ' ' << each.promise << '\n';
    }
    return 0;
  }
  if (words.size() == 2 && words[0] == "--plant") {
    for (const sim::Planted& each : sim::all_planted()) {
      if (each.name == words[1]) return print_planted(each);
    }
  }
  if (words.size() == 2 && words[0] != "--plant") {
    return print_histories(std::stoull(std::string(words[0])), std::stoull(std::string(words[1])));
  }
  std::cerr << "expected <first seed> <seeds>, --planted, or --plant and one of their names\n";
  return 2;
}

}  // namespace

int main(int count, char** words) {
  try {
    return run({words + 1, words + count});
  } catch (const std::exception& error) {
    std::cerr << "latchkey_histories: " << error.what() << '\n';
    return 1;
  }
}
