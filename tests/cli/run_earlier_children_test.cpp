// `latchkey run` in a process that had children before it became the tool, as after
// `agent & exec latchkey run ...`.
#include <csignal>
#include <fstream>
#include <string>
#include <vector>

#include "cli/run_fixture.hpp"

namespace latchkey::tests {
namespace {

class CliRunEarlierChildren : public CliRun {
 protected:
  /// The command line of a shell that starts `agent` and becomes `latchkey run` with `script`.
  [[nodiscard]] std::vector<std::string> after_agent(const std::string& agent,
                                                     const std::string& script) const {
    std::ofstream(folder_.file("agent.sh")) << agent << '\n';
    std::ofstream(folder_.file("command.sh")) << script << '\n';
    return {"/bin/sh", "-c",
            "/bin/sh " + folder_.file("agent.sh") + " & exec " LATCHKEY_TOOL " run -k a " + uri() +
                " -- /bin/sh " + folder_.file("command.sh")};
  }
  /// The agent leaves a file when it gets SIGTERM, and another one when it has ended by itself.
  [[nodiscard]] std::string agent() const {
    return "trap 'touch " + folder_.file("told") + "; exit' TERM; touch " + folder_.file("agent") +
           "; while [ ! -e " + folder_.file("go") + " ]; do sleep 0.05; done; touch " +
           folder_.file("finished");
  }
  [[nodiscard]] std::string await_in_shell(const std::string& name) const {
    return "while [ ! -e " + folder_.file(name) + " ]; do sleep 0.02; done; ";
  }
  void expect_finished() const {
    std::ofstream(folder_.file("go"));
    await_file("finished");
    EXPECT_FALSE(folder_.has("told"));
  }
};

TEST_F(CliRunEarlierChildren, AreNotEndedWithTheCommand) {
  EXPECT_EQ(run(after_agent(agent(), await_in_shell("agent") + "exit 5")), 5) << log();
  expect_finished();
  EXPECT_TRUE(keys().empty());
}

TEST_F(CliRunEarlierChildren, AreNotEndedWhenTheLockIsLost) {
  const std::string lose = "redis-cli -s " + server().socket() + " del a > " + folder_.file("out");
  EXPECT_EQ(run(after_agent(agent(), await_in_shell("agent") + lose + "; exit 5")), 76) << log();
  expect_finished();
}

// The parent of the daemon has ended, so the tool becomes its parent, as of any child of its
// command.
TEST_F(CliRunEarlierChildren, StartDaemonsThatAreNotEndedEither) {
  const std::string daemonize =
      await_in_shell("held") + "setsid /bin/sh " + folder_.file("daemon.sh") + " &";
  std::ofstream(folder_.file("daemon.sh")) << agent() << '\n';
  const std::string command =
      "touch " + folder_.file("held") + "; " + await_in_shell("agent") + "exit 5";
  EXPECT_EQ(run(after_agent(daemonize, command)), 5) << log();
  expect_finished();
}

TEST_F(CliRunEarlierChildren, DoNotChangeWhereSignalsGo) {
  Process tool(after_agent(agent(), "trap 'exit 42' TERM; touch " + folder_.file("held") +
                                        "; while :; do sleep 0.05; done"),
               folder_.file("log"));
  await_file("held");
  await_file("agent");
  tool.signal(SIGTERM);
  EXPECT_EQ(tool.wait(), 42) << log();
  expect_finished();
}

TEST_F(CliRunEarlierChildren, DoNotKeepTheCommandAliveWhenTheToolIsKilled) {
  Process tool(after_agent(agent(), "echo $$ > " + folder_.file("pid") + "; touch " +
                                        folder_.file("held") + "; exec sleep 60"),
               folder_.file("log"));
  await_file("held");
  await_file("agent");
  tool.signal(SIGKILL);
  EXPECT_EQ(tool.wait(), 128 + SIGKILL);
  const pid_t command = std::stoi(folder_.read("pid"));
  await("the end of the command", [&] { return std::string(alive(command) ? "it runs" : ""); });
  expect_finished();
}

}  // namespace
}  // namespace latchkey::tests
