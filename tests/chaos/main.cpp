// latchkey_chaos: workers, faults, and a judge. See docs/reliability.md.
// SPDX-License-Identifier: BSL-1.0
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "chaos/reproduction/reproduction.hpp"
#include "chaos/run/campaign.hpp"
#include "chaos/run/settings.hpp"
#include "chaos/worker/held_command.hpp"
#include "chaos/worker/worker.hpp"

namespace latchkey::chaos {
namespace {

std::filesystem::path make_folder(std::uint64_t seed) {
  std::filesystem::path folder = std::filesystem::temp_directory_path();
  folder /= "latchkey_chaos." + std::to_string(seed) + '.' + std::to_string(::getpid());
  std::filesystem::create_directories(folder);
  return folder;
}

/// At most three of each rule; the log has all.
void report(const Violations& found) {
  std::map<std::string, int> times;
  for (const Violation& each : found) {
    if (++times[each.rule] <= 3) std::printf("%s: %s\n", each.rule.c_str(), each.text.c_str());
  }
  for (const auto& [rule, count] : times) std::printf("%d times: %s\n", count, rule.c_str());
}

int run_campaign(const Settings& settings) {
  std::printf("seed %llu, deployment %s\n", static_cast<unsigned long long>(settings.seed),
              name_of(settings.deployment));
  if (settings.porcupine.empty()) std::printf("Porcupine checks nothing: Go was not found\n");
  const std::filesystem::path folder = make_folder(settings.seed);
  FailedRound failed{.settings = settings};
  {
    Campaign campaign(settings, folder);
    const Violations found = campaign.run();
    std::printf("\n%s\n", campaign.totals().table().c_str());
    if (found.empty()) {
      std::filesystem::remove_all(folder);
      std::printf("no violation\n");
      return 0;
    }
    report(found);
    for (const PlannedFault& each : campaign.last_plan()) {
      std::printf("fault %zu at %s\n", each.number, describe(each).c_str());
    }
    failed.seed = campaign.seed_of_last_round();
    failed.plan = campaign.last_plan();
    for (const Violation& each : found) failed.rules.insert(each.rule);
    std::printf("\n%zu violations; log: %s\n", found.size(), folder.c_str());
  }
  reproduce(failed, folder);
  return 1;
}

constexpr bool has_tool = !std::string_view(LATCHKEY_TOOL).empty();

int run_campaigns(Settings settings) {
  if (settings.deployment == DeploymentKind::tool && !has_tool) {
    throw std::invalid_argument("the command line tool was not built (LATCHKEY_CLI)");
  }
  // A worker that is killed leaves a file of libmongoc in /dev/shm otherwise
  // (docs/stores/mongodb.md).
  ::setenv("MONGOC_DISABLE_SHM", "1", 0);
  const std::vector<DeploymentKind> each = deployments_of(settings.deployment);
  settings.length /= static_cast<std::chrono::milliseconds::rep>(each.size());
  for (const DeploymentKind kind : each) {
    if (kind == DeploymentKind::tool && !has_tool) {
      std::printf("deployment tool is left out: the command line tool was not built\n");
      continue;
    }
    settings.deployment = kind;
    if (const int result = run_campaign(settings); result != 0) return result;
    ++settings.seed;  // other faults on each
  }
  return 0;
}

int main_of(const std::vector<std::string>& words) {
  if (!words.empty() && words.front() == "--worker") {
    return run_worker(WorkerArguments::parse({words.begin() + 1, words.end()}));
  }
  if (!words.empty() && words.front() == "--held") return run_held_command();
  if (std::ranges::find(words, "--help") != words.end()) {
    std::printf("%s", usage);
    return 0;
  }
  Settings settings = read_settings(words);
  if (!settings.simulate.empty()) return run_simulator(settings);
  settings.porcupine = LATCHKEY_PORCUPINE;
  return run_campaigns(settings);
}

}  // namespace
}  // namespace latchkey::chaos

int main(int count, char** words) {
  try {
    return latchkey::chaos::main_of({words + 1, words + count});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "latchkey_chaos: %s\n", error.what());
    return 2;
  }
}
