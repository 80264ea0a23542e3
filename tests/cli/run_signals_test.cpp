// `latchkey run` and signals: while it waits, and while its command runs.
#include <sys/wait.h>

#include <csignal>
#include <fstream>
#include <string>

#include "cli/run_fixture.hpp"

namespace latchkey::tests {
namespace {

struct Named {
  int number;
  const char* name;
};
void PrintTo(const Named& signal, std::ostream* out) { *out << signal.name; }

class CliRunSignal : public CliRun, public ::testing::WithParamInterface<Named> {};

INSTANTIATE_TEST_SUITE_P(, CliRunSignal,
                         ::testing::Values(Named{SIGTERM, "TERM"}, Named{SIGINT, "INT"},
                                           Named{SIGHUP, "HUP"}, Named{SIGQUIT, "QUIT"},
                                           Named{SIGUSR1, "USR1"}),
                         [](const auto& named) { return named.param.name; });

TEST_P(CliRunSignal, DuringTheWaitGivesUpThePlaceInTheQueue) {
  const Holder other(*this, "a", "fair");
  Process waiting = start({"-k", "a", "-t", "fair"}, "touch " + folder_.file("ran"));
  await("a place in the queue", [] {
    const bool queued = server().client()({"LLEN", "redisson_lock_queue:{a}"}).integer() == 1;
    return queued ? std::string() : "nobody waits";
  });
  waiting.signal(GetParam().number);
  EXPECT_EQ(waiting.wait(), 128 + GetParam().number);
  await("an empty queue", [] {
    const bool empty = server().client()({"LLEN", "redisson_lock_queue:{a}"}).integer() == 0;
    return empty ? std::string() : "a place is left";
  });
  EXPECT_FALSE(folder_.has("ran"));
}

TEST_P(CliRunSignal, WhileTheCommandRunsIsForwarded) {
  const std::string name = GetParam().name;
  Process tool = start({"-k", "a"}, "trap 'echo got " + name + "; exit 42' " + name + "; touch " +
                                        folder_.file("ready") + "; while :; do sleep 0.05; done");
  await_file("ready");
  tool.signal(GetParam().number);
  EXPECT_EQ(tool.wait(), 42);
  EXPECT_NE(log().find("got " + name), std::string::npos) << log();
}

TEST_P(CliRunSignal, EndsACommandThatDoesNotCatchIt) {
  Process tool = start({"-k", "a"}, "touch " + folder_.file("ready") + "; exec sleep 60");
  await_file("ready");
  tool.signal(GetParam().number);
  EXPECT_EQ(tool.wait(), 128 + GetParam().number);
  EXPECT_TRUE(keys().empty());
}

char state_of(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string line;
  std::getline(file, line);
  return line.empty() ? '-' : line[line.rfind(") ") + 2];
}
void await_state(pid_t process, char state) {
  await(std::string("state ") + state, [&] {
    const char now = state_of(process);
    return now == state ? std::string() : std::string("it is ") + now;
  });
}

class CliRunStop : public CliRun {};

TEST_F(CliRunStop, DuringTheWaitStopsAndContinuesTheWait) {
  Holder other(*this, "a", "reentrant");
  Process waiting = start({"-k", "a"}, "exit 5");
  await_state(waiting.id(), 'S');
  waiting.signal(SIGTSTP);
  await_state(waiting.id(), 'T');
  waiting.signal(SIGCONT);
  other.release();
  EXPECT_EQ(waiting.wait(), 5) << log();
}

TEST_F(CliRunStop, WhileTheCommandRunsIsForwardedAndTheLockIsKept) {
  // The shell blocks in open(2): a shell that is stopped within vfork(2) is not in state T.
  Process tool =
      start({"-k", "a", "--watchdog", "600ms"},
            "mkfifo " + folder_.file("go") + "; echo $$ > " + folder_.file("pid") + "; touch " +
                folder_.file("ready") + "; read line < " + folder_.file("go") + "; exit 6");
  await_file("ready");
  const pid_t child = std::stoi(folder_.read("pid"));
  tool.signal(SIGTSTP);
  await_state(child, 'T');
  // Longer than the lease: it is renewed although the command is stopped.
  EXPECT_EQ(run({"-k", "a", "--wait", "1s"}, "exit 0"), 75);
  tool.signal(SIGCONT);
  std::ofstream(folder_.file("go")) << "go\n";
  EXPECT_EQ(tool.wait(), 6) << log();
}

TEST_F(CliRun, IgnoresSignalsThatItsParentIgnores) {
  const std::string script = "trap '' HUP; exec " LATCHKEY_TOOL " run -k a " + uri() +
                             " -- /bin/sh -c 'touch " + folder_.file("ready") + "; while [ ! -e " +
                             folder_.file("go") + " ]; do sleep 0.05; done'";
  Process tool({"/bin/sh", "-c", script}, folder_.file("log"));
  await_file("ready");
  tool.signal(SIGHUP);
  std::ofstream(folder_.file("go"));
  EXPECT_EQ(tool.wait(), 0) << log();
}

}  // namespace
}  // namespace latchkey::tests
