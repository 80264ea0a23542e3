// `latchkey run` ends the command and all its descendants after the lock was lost.
#include <poll.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "cli/run_fixture.hpp"
#include "support/stalls.hpp"

namespace latchkey::tests {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

/// A command that ignores SIGTERM, with a child in another session that does the same. Their ids
/// are in the files `<name>.parent` and `<name>.child`.
std::string stubborn(const TemporaryFolder& folder, const std::string& name) {
  const std::string child = "trap \"\" TERM HUP; echo $$ > " + folder.file(name + ".child") +
                            "; while :; do sleep 0.2; done";
  return "trap '' TERM; setsid /bin/sh -c '" + child + "' & echo $$ > " +
         folder.file(name + ".parent") + "; while :; do sleep 0.2; done";
}

struct Victim {
  std::unique_ptr<Process> tool;
  std::vector<pid_t> processes;
};

class CliRunLoss : public CliRun {
 protected:
  Victim start_stubborn(RedisServer& at, const std::string& name,
                        const std::vector<std::string>& options) {
    Victim victim;
    victim.tool = std::make_unique<Process>(
        latchkey_run(at.unix_uri(), options, stubborn(folder_, name)), folder_.file("log"));
    for (const char* end : {".parent", ".child"}) {
      await(name + end, [&] {
        return folder_.read(name + end).ends_with('\n') ? std::string() : "not there; " + log();
      });
      victim.processes.push_back(std::stoi(folder_.read(name + end)));
    }
    return victim;
  }
};

TEST_F(CliRunLoss, EndsGrandchildrenInSessionsOfTheirOwnWhenTheCommandEnds) {
  const std::string script = "setsid /bin/sh -c 'echo $$ > " + folder_.file("child") +
                             "; exec sleep 60' & while [ ! -s " + folder_.file("child") +
                             " ]; do sleep 0.02; done; exit 7";
  EXPECT_EQ(run({"-k", "a"}, script), 7);
  EXPECT_FALSE(alive(std::stoi(folder_.read("child"))));
  EXPECT_TRUE(keys().empty());
}

TEST_F(CliRunLoss, LetsTheCommandContinueIfOnLostIsReport) {
  Process tool = start({"-k", "a", "--watchdog", "600ms", "--on-lost", "report"},
                       "touch " + folder_.file("held") + "; while [ ! -e " + folder_.file("go") +
                           " ]; do sleep 0.05; done; exit 8");
  await_file("held");
  server().client()({"DEL", "a"});
  await("the report", [&] {
    return log().find("runs on without it") == std::string::npos ? "no report" : std::string();
  });
  std::ofstream(folder_.file("go"));
  EXPECT_EQ(tool.wait(), 8);
}

TEST_F(CliRunLoss, KillsACommandThatIgnoresTermBeforeItsLeaseEnds) {
  const Stalls stalls;
  const auto before = steady_clock::now();
  Victim victim = start_stubborn(server(), "v", {"-k", "a", "--lease", "3s"});
  EXPECT_EQ(victim.tool->wait(), 76);
  EXPECT_LT(steady_clock::now() - before, std::chrono::seconds(4) + stalls.total());
  for (const pid_t process : victim.processes) EXPECT_FALSE(alive(process));
}

/// A hundred commands in batches; in each the server is done something to, and after the last
/// lease nothing of them is alive, while the tools may not even have ended.
TEST_F(CliRunLoss, LeavesNoProcessAliveAfterTheDeadlineWhateverHappensToTheServer) {
  constexpr int rounds = 10;
  constexpr int together = 10;
  constexpr milliseconds lease{2000};
  for (int round = 0; round < rounds; ++round) {
    RedisServer own;
    std::vector<Victim> victims;
    for (int each = 0; each < together; ++each) {
      const std::string name = std::to_string(round) + "-" + std::to_string(each);
      // Every other one is renewed, and so has more time than it was first granted.
      const std::string how = each % 2 == 0 ? "--lease" : "--watchdog";
      victims.push_back(start_stubborn(own, name, {"-k", name, "-q", how, "2s"}));
    }
    const char* const what = round % 3 == 0 ? "killed" : round % 3 == 1 ? "frozen" : "flushed";
    if (round % 3 == 0) own.kill();
    if (round % 3 == 1) own.stop();
    if (round % 3 == 2) own.client()({"FLUSHALL"});
    const Stalls stalls;
    const auto last_deadline = steady_clock::now() + lease;
    while (steady_clock::now() < last_deadline) ::poll(nullptr, 0, 10);
    // On a busy machine a tool may be late, and a process that was killed be there for a moment.
    const auto none_alive = [&] {
      return std::ranges::none_of(victims, [](const Victim& victim) {
        return std::ranges::any_of(victim.processes, [](pid_t process) { return alive(process); });
      });
    };
    const auto limit = [&] { return last_deadline + std::chrono::seconds(1) + stalls.total(); };
    while (!none_alive() && steady_clock::now() < limit()) {
      ::poll(nullptr, 0, 10);
    }
    EXPECT_TRUE(none_alive()) << what;
    if (round % 3 == 1) own.resume();
    for (Victim& victim : victims) EXPECT_EQ(victim.tool->wait(), 76) << what;
  }
}

TEST_F(CliRunLoss, NeverStartsTheCommandAfterASignal) {
  // The signal is there before the tool has looked for the first time.
  for (int attempt = 0; attempt < 20; ++attempt) {
    Process tool = start({"-k", "a"}, "touch " + folder_.file("ran") + "; exec sleep 60");
    tool.signal(SIGTERM);
    EXPECT_EQ(tool.wait(), 128 + SIGTERM);
  }
  EXPECT_TRUE(keys().empty());
}

}  // namespace
}  // namespace latchkey::tests
