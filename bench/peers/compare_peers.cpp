// Runs the same workloads in latchkey, Redisson, rueidislock and redsync, and writes the tables and
// plots of docs/benchmarks.md.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "machine.hpp"
#include "measure.hpp"
#include "page.hpp"
#include "plan.hpp"
#include "results.hpp"
#include "words.hpp"

namespace {

using namespace latchkey::bench;
using latchkey::LockType;
using std::chrono::milliseconds;

struct Settings {
  explicit Settings(const Words& words)
      : commands{words.at("--latchkey"), words.at("--go"), words.at("--classpath")},
        timing{milliseconds(200), milliseconds(number(words.at("--measure-ms"))),
               milliseconds(number(words.at("--jvm-warm-up-ms")))},
        rounds(static_cast<int>(number(words.at("--rounds")))),
        groups(words.at("--groups")),
        page(words.at("--page")) {
    std::ifstream file(words.at("--versions"));
    std::getline(file, versions);
  }

  [[nodiscard]] bool wants(Group group) const {
    return fmt::format(",{},", groups).find(fmt::format(",{},", to_string(group))) !=
           std::string::npos;
  }

  Commands commands;
  Timing timing;
  int rounds;
  std::string groups;  ///< with commas between them
  std::filesystem::path page;
  std::string versions{};
};

std::string describe(const Workload& load) {
  std::string libraries;
  for (const Library library : load.processes) {
    if (libraries.find(to_string(library)) != std::string::npos) continue;
    libraries += fmt::format("{}{}", libraries.empty() ? "" : " + ", to_string(library));
  }
  return fmt::format("{:<9} {:<10} {:<14} {}", to_string(load.group), to_string(load.type),
                     load.load(), libraries);
}

/// A failure shows in the measurements, too: it need not end the run.
void warm_up(Contest& contest, const Workload& load) {
  fmt::print("warming up {}\n", describe(load));
  std::fflush(stdout);
  try {
    contest.warm_up(load);
  } catch (const WorkerFailed& failure) {
    fmt::print("  {}\n", failure.what());
  }
}

/// Every process uses every lock type once, so that Java's compiler has seen all of it.
void warm_up(Contest& contest) {
  for (const Library library : all_libraries) {
    warm_up(contest, {Group::own, LockType::REENTRANT, {library}, 32, 0});
    for (const LockType type :
         {LockType::REENTRANT, LockType::WRITE, LockType::FENCED, LockType::FAIR}) {
      if (has(library, type)) {
        warm_up(contest, {Group::hot, type, std::vector<Library>(4, library), 4, 0});
      }
    }
  }
}

void measure(Contest& contest, Result& result, int round) {
  fmt::print("{} {:<44}", round + 1, describe(result.load));
  std::fflush(stdout);
  try {
    const Sample sample = contest.measure(result.load);
    fmt::print(" {:>8.0f}/s  p99 {:>8.0f} us  share {:.2f}  longest waits {::.1f} ms\n",
               sample.rate, sample.p99_us, sample.share, sample.waits_ms);
    result.samples.push_back(sample);
  } catch (const WorkerFailed& failure) {
    fmt::print(" {}\n", failure.what());
    result.failures.emplace_back(failure.what());
  }
}

void write(const Settings& settings, const std::string& server_version, double others,
           const std::vector<GroupResults>& groups) {
  replace_part(
      settings.page, "machine",
      fmt::format("* Machine: {}\n* Versions: Redis {}, {}\n* Other programs used {:.0f} % of "
                  "the processors during the run\n",
                  machine(), server_version, settings.versions, 100 * others));
  const std::string caption = fmt::format("Medians of {} rounds of {} ms:\n\n", settings.rounds,
                                          settings.timing.measured.count());
  for (const GroupResults& group : groups) {
    replace_part(settings.page, to_string(group.group), caption + table_of(group));
  }
}

/// Each round measures everything once, with the libraries of a workload one after another.
void run(const Settings& settings) {
  const OtherPrograms others;
  auto contest = std::make_unique<Contest>(settings.commands, settings.timing);
  warm_up(*contest);
  std::vector<GroupResults> groups;
  for (const Group group : all_groups) {
    if (!settings.wants(group)) continue;
    groups.push_back({group});
    for (const Workload& load : plan(group)) groups.back().results.push_back({load});
  }
  for (int round = 0; round < settings.rounds; ++round) {
    for (GroupResults& group : groups) {
      for (Result& result : group.results) measure(*contest, result, round);
    }
  }
  const std::string server_version = contest->server_version();
  contest.reset();  // its processes end, so that their time counts as our own
  write(settings, server_version, others.part(), groups);
}

}  // namespace

int main(int count, char** arguments) try {
  std::signal(SIGPIPE, SIG_IGN);  // a worker that ended is an exception
  std::stringstream words;
  for (int each = 1; each < count; ++each) words << arguments[each] << ' ';
  run(Settings(words_of(words)));
  return 0;
} catch (const std::exception& error) {
  fmt::print(stderr, "compare_peers: {}\n", error.what());
  return 1;
}
