// `latchkey run` ends the command and all its descendants after the lock was lost.
#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <fstream>
#include <memory>
#include <sstream>
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

  /// A command that leaves a file when it gets SIGTERM.
  [[nodiscard]] std::string reporting_command() const {
    return "trap 'touch " + folder_.file("told") + "' TERM; echo $$ > " + folder_.file("pid") +
           "; touch " + folder_.file("held") + "; while :; do sleep 0.05; done";
  }
  [[nodiscard]] pid_t id_of_command() const { return std::stoi(folder_.read("pid")); }
};

TEST_F(CliRunLoss, EndsGrandchildrenInSessionsOfTheirOwnWhenTheCommandEnds) {
  const std::string script = "setsid /bin/sh -c 'echo $$ > " + folder_.file("child") +
                             "; exec sleep 60' & while [ ! -s " + folder_.file("child") +
                             " ]; do sleep 0.02; done; exit 7";
  EXPECT_EQ(run({"-k", "a"}, script), 7);
  EXPECT_FALSE(alive(std::stoi(folder_.read("child"))));
  EXPECT_TRUE(keys().empty());
}

// /proc calls such a process a zombie: it was taken for one, and worked on without the lock.
TEST_F(CliRunLoss, EndsAProcessWhoseMainThreadHasEndedAndItsChildren) {
  Process tool = start({"-k", "a", "--watchdog", "1500ms", "--kill-after", "200ms"},
                       LATCHKEY_ENDED_MAIN_THREAD " " + folder_.file("pids") + " & exec sleep 60");
  await("its processes", [&] {
    return folder_.read("pids").ends_with('\n') ? std::string() : "not there; " + log();
  });
  server().client()({"DEL", "a"});
  EXPECT_EQ(tool.wait(), 76) << log();
  std::istringstream ids(folder_.read("pids"));
  for (pid_t process = 0; ids >> process;) EXPECT_EQ(::kill(process, 0), -1) << process;
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

// No renewal had found it: the tool ended with the status of the command.
TEST_F(CliRunLoss, Is76IfTheReleaseFindsThatTheLockWasLostBefore) {
  const std::string lose = "redis-cli -s " + server().socket() + " del a > " + folder_.file("out");
  EXPECT_EQ(run({"-k", "a"}, lose + "; exit 3"), 76);
  EXPECT_NE(log().find("the lock was lost while the command ran"), std::string::npos) << log();
  EXPECT_EQ(run({"-k", "a", "--on-lost", "report"}, lose + "; exit 3"), 3);
}

// It could not list the processes below it, so it took them for ended, and told none.
TEST_F(CliRunLoss, EndsTheCommandWithoutAFreeDescriptor) {
  Process tool =
      start({"-k", "a", "--watchdog", "600ms"},
            "trap 'exit 9' TERM; touch " + folder_.file("held") + "; while :; do sleep 0.05; done");
  await_file("held");
  const rlimit none{.rlim_cur = 3, .rlim_max = 3};
  ASSERT_EQ(::prlimit(tool.id(), RLIMIT_NOFILE, &none, nullptr), 0);
  server().client()({"DEL", "a"});
  EXPECT_EQ(tool.wait(), 76) << log();
}

// It waited for room for its message, and signalled nobody.
TEST_F(CliRunLoss, EndsTheCommandAlthoughNobodyReadsItsMessages) {
  ASSERT_EQ(::mkfifo(folder_.file("messages").c_str(), 0600), 0);
  const int messages = ::open(folder_.file("messages").c_str(), O_RDWR | O_NONBLOCK);
  const std::array<char, 4096> page{};
  while (::write(messages, page.data(), page.size()) > 0) continue;
  const std::string command = "touch " + folder_.file("held") + "; exec sleep 60";
  Process tool({"/bin/sh", "-c",
                "exec " LATCHKEY_TOOL " run -k a --watchdog 600ms " + uri() + " -- /bin/sh -c '" +
                    command + "' 2> " + folder_.file("messages")},
               folder_.file("log"));
  await_file("held");
  server().client()({"DEL", "a"});
  EXPECT_EQ(tool.wait(), 76);
  ::close(messages);
}

// The kernel kills it. It gets no SIGTERM, which it would report.
TEST_F(CliRunLoss, TheCommandEndsWithAToolThatIsKilled) {
  Process tool = start({"-k", "a", "--watchdog", "600ms"}, reporting_command());
  await_file("held");
  tool.signal(SIGKILL);
  EXPECT_EQ(tool.wait(), 128 + SIGKILL);
  await("the end of the command",
        [&] { return std::string(alive(id_of_command()) ? "it runs" : ""); });
  EXPECT_FALSE(folder_.has("told"));
  EXPECT_EQ(run({"-k", "a", "--wait", "20s"}, "exit 0"), 0) << "the lock ends with its lease";
}

TEST_F(CliRunLoss, NobodyGetsTheLockOfAToolThatIsKilledBeforeTheLockDelayIsOver) {
  const auto before = steady_clock::now();
  Process tool = start({"-k", "a", "--watchdog", "1500ms", "--lock-delay", "3s"}, "exec sleep 60");
  await("the lock", [] { return std::string(keys().empty() ? "it is free" : ""); });
  tool.signal(SIGKILL);
  EXPECT_EQ(tool.wait(), 128 + SIGKILL);
  EXPECT_EQ(run({"-k", "a", "--wait", "20s"}, "exit 0"), 0);
  EXPECT_GE(steady_clock::now() - before, milliseconds(4'500)) << "the lease, and the delay";
}

TEST_F(CliRunLoss, TheEndOfACommandFreesALockThatHasALockDelayAtOnce) {
  EXPECT_EQ(run({"-k", "a", "--lock-delay", "1h"}, "exit 3"), 3);
  EXPECT_TRUE(keys().empty());
}

TEST_F(CliRunLoss, AToolThatWasStoppedBeyondTheLeaseKillsItsCommandWhenItContinues) {
  Process tool = start({"-k", "a", "--watchdog", "600ms"}, reporting_command());
  await_file("held");
  tool.stop();
  EXPECT_EQ(run({"-k", "a", "--wait", "20s"}, "exit 0"), 0);
  EXPECT_TRUE(alive(id_of_command())) << "nobody ends it";
  tool.resume();
  EXPECT_EQ(tool.wait(), 76);
  EXPECT_FALSE(alive(id_of_command()));
  EXPECT_FALSE(folder_.has("told"));
}

TEST_F(CliRunLoss, KillsACommandThatIgnoresTermBeforeItsLeaseEnds) {
  const Stalls stalls;
  const auto before = steady_clock::now();
  Victim victim = start_stubborn(server(), "v", {"-k", "a", "--lease", "3s"});
  EXPECT_EQ(victim.tool->wait(), 76);
  EXPECT_LT(steady_clock::now() - before, std::chrono::seconds(4) + stalls.total());
  for (const pid_t process : victim.processes) EXPECT_FALSE(alive(process));
}

TEST_F(CliRunLoss, EndsTheCommandBeforeTheLimitThatHeldAtMostSets) {
  const Stalls stalls;
  const auto before = steady_clock::now();
  const std::string script =
      "trap 'touch " + folder_.file("told") + "; exit 3' TERM; while :; do sleep 0.05; done";
  EXPECT_EQ(run({"-k", "a", "--held-at-most", "3s"}, script), 76) << log();
  EXPECT_LT(steady_clock::now() - before, std::chrono::seconds(4) + stalls.total());
  EXPECT_TRUE(folder_.has("told"));
  EXPECT_NE(log().find("the lock is about to end"), std::string::npos) << log();
  EXPECT_TRUE(keys().empty());
}

/// The time that ended children of this process, and theirs, ran on a processor.
milliseconds processor_time_of_children() {
  rusage used{};
  ::getrusage(RUSAGE_CHILDREN, &used);
  const auto length = [](const timeval& time) {
    return std::chrono::seconds(time.tv_sec) + std::chrono::microseconds(time.tv_usec);
  };
  return std::chrono::duration_cast<milliseconds>(length(used.ru_utime) + length(used.ru_stime));
}

// It asked for the loss, which it knew of, again and again without sleeping.
TEST_F(CliRunLoss, SleepsIfTheLockIsLostWhileOnlyDescendantsOfTheCommandRun) {
  const milliseconds before = processor_time_of_children();
  const std::string script = "redis-cli -s " + server().socket() + " del a > " +
                             folder_.file("out") +
                             "; (trap \"\" TERM; while :; do sleep 0.2; done) & sleep 1.2; exit 3";
  // The first renewal, after 2 s, finds the loss; the descendant is killed 2 s after the command.
  EXPECT_EQ(run({"-k", "a", "--watchdog", "6s", "--kill-after", "5s"}, script), 76) << log();
  EXPECT_LT(processor_time_of_children() - before, milliseconds(600));
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
