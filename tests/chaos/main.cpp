// latchkey_chaos: workers, faults, and a judge. See docs/reliability.md.
// SPDX-License-Identifier: BSL-1.0
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "chaos/run/campaign.hpp"
#include "chaos/run/settings.hpp"
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
void print(const Violations& found) {
  std::map<std::string, int> times;
  for (const Violation& each : found) {
    if (++times[each.rule] <= 3) std::printf("%s: %s\n", each.rule.c_str(), each.text.c_str());
  }
  for (const auto& [rule, count] : times) std::printf("%d times: %s\n", count, rule.c_str());
}

int run_campaign(const Settings& settings) {
  std::printf("seed %llu\n", static_cast<unsigned long long>(settings.seed));
  const std::filesystem::path folder = make_folder(settings.seed);
  Campaign campaign(settings, folder);
  const Violations found = campaign.run();
  std::printf("\n%s\n", campaign.totals().table().c_str());
  if (found.empty()) {
    std::filesystem::remove_all(folder);
    std::printf("no violation\n");
    return 0;
  }
  print(found);
  const std::vector<PlannedFault>& plan = campaign.last_plan();
  for (std::size_t index = 0; index < plan.size(); ++index) {
    std::printf("fault %zu at %s\n", index, describe(plan[index]).c_str());
  }
  std::printf("\n%zu violations; log: %s\nreplay: %s\n", found.size(), folder.c_str(),
              replay_command(settings, campaign.seed_of_last_round()).c_str());
  return 1;
}

int main_of(const std::vector<std::string>& words) {
  if (!words.empty() && words.front() == "--worker") {
    return run_worker(WorkerArguments::parse({words.begin() + 1, words.end()}));
  }
  if (std::ranges::find(words, "--help") != words.end()) {
    std::printf("%s", usage);
    return 0;
  }
  return run_campaign(read_settings(words));
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
