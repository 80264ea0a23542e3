// `latchkey run` at a terminal: the command is in its foreground, and job control works.
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <stdexcept>
#include <string>

#include "cli/run_fixture.hpp"

namespace latchkey::tests {
namespace {

/// A program that controls its own pseudo-terminal.
class AtTerminal {
 public:
  explicit AtTerminal(const std::vector<std::string>& arguments) {
    std::vector<char*> pointers;
    for (const std::string& each : arguments) pointers.push_back(const_cast<char*>(each.c_str()));
    pointers.push_back(nullptr);
    id_ = ::forkpty(&terminal_, nullptr, nullptr, nullptr);
    if (id_ == -1) throw std::runtime_error("no pseudo-terminal: is /dev/pts mounted?");
    if (id_ == 0) {
      ::execvp(pointers[0], pointers.data());
      ::_exit(127);
    }
  }
  AtTerminal(const AtTerminal&) = delete;
  AtTerminal& operator=(const AtTerminal&) = delete;
  ~AtTerminal() {
    ::kill(id_, SIGKILL);
    ::waitpid(id_, nullptr, 0);
    ::close(terminal_);
  }

  void type(const std::string& text) const {
    ASSERT_EQ(::write(terminal_, text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  int wait(int options = 0) const {
    int status = 0;
    ::waitpid(id_, &status, options);
    return status;
  }
  [[nodiscard]] pid_t id() const { return id_; }

 private:
  pid_t id_ = -1;
  int terminal_ = -1;
};

using CliRunTerminal = CliRun;

TEST_F(CliRunTerminal, PutsTheCommandInTheForeground) {
  AtTerminal tool(latchkey_run(uri(), {"-k", "a"},
                               "ps -o stat= -p $$ > " + folder_.file("state") +
                                   "; read line; echo $line > " + folder_.file("line")));
  await_file("state");
  tool.type("typed\n");
  EXPECT_EQ(tool.wait(), 0);
  EXPECT_NE(folder_.read("state").find('+'), std::string::npos) << folder_.read("state");
  EXPECT_EQ(folder_.read("line"), "typed\n");
}

TEST_F(CliRunTerminal, InterruptsTheCommandByCtrlC) {
  AtTerminal tool(
      latchkey_run(uri(), {"-k", "a"}, "touch " + folder_.file("ready") + "; exec sleep 60"));
  await_file("ready");
  tool.type("\x03");
  EXPECT_EQ(WEXITSTATUS(tool.wait()), 128 + SIGINT);
}

TEST_F(CliRunTerminal, StopsAndContinuesWithTheCommandByCtrlZ) {
  // The shell waits by itself: a child that is stopped between vfork and exec would keep it from
  // stopping.
  run({"mkfifo", folder_.file("go")});
  AtTerminal tool(latchkey_run(
      uri(), {"-k", "a"},
      "touch " + folder_.file("ready") + "; read line < " + folder_.file("go") + "; exit 4"));
  await_file("ready");
  tool.type("\x1a");
  EXPECT_TRUE(WIFSTOPPED(tool.wait(WUNTRACED)));
  ::kill(tool.id(), SIGCONT);
  run({"/bin/sh", "-c", "echo > " + folder_.file("go")});
  EXPECT_EQ(WEXITSTATUS(tool.wait()), 4);
}

// A child that the tool had before it became the tool: the command is a job of another process.
TEST_F(CliRunTerminal, StopsAndContinuesWithTheCommandBesideAnEarlierChild) {
  run({"mkfifo", folder_.file("go")});
  AtTerminal tool({"/bin/sh", "-c",
                   "sleep 60 & exec " LATCHKEY_TOOL " run -k a " + uri() +
                       " -- /bin/sh -c 'touch " + folder_.file("ready") + "; read line < " +
                       folder_.file("go") + "; read line; echo $line > " + folder_.file("line") +
                       "; exit 4'"});
  await_file("ready");
  tool.type("\x1a");
  EXPECT_TRUE(WIFSTOPPED(tool.wait(WUNTRACED)));
  ::kill(tool.id(), SIGCONT);
  run({"/bin/sh", "-c", "echo > " + folder_.file("go")});
  tool.type("typed\n");
  EXPECT_EQ(WEXITSTATUS(tool.wait()), 4);
  EXPECT_EQ(folder_.read("line"), "typed\n");
}

}  // namespace
}  // namespace latchkey::tests
