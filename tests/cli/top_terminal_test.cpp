// `latchkey top` at a terminal: what it shows, how it is resized, and how it ends.
#include <gmock/gmock.h>

#include <string>
#include <vector>

#include <latchkey/locks.hpp>

#include "cli/run_fixture.hpp"
#include "cli/terminal_emulator.hpp"

namespace latchkey::tests {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

class CliTopTerminal : public CliRun {
 protected:
  /// A shell that runs the tool, prints its exit status and the terminal's modes, and stays.
  [[nodiscard]] static std::string script(const std::string& options = {}) {
    return "echo before; " LATCHKEY_TOOL " top --interval 500ms " + options + " " + uri() +
           "; echo status=$?; stty -a; exec cat";
  }
  static void expect_restored(const TerminalEmulator& terminal, int status) {
    terminal.await_text("status=" + std::to_string(status));
    terminal.await_text("iexten");  // the end of stty's output
    EXPECT_THAT(terminal.text(), AllOf(HasSubstr("before"), Not(HasSubstr("-icanon")),
                                       Not(HasSubstr("-echo ")), Not(HasSubstr("latchkey top"))));
  }
  void hold_locks() {
    for (int number = 0; number < 30; ++number) {
      const std::string name = "order:" + std::to_string(number);
      server().client()({"HSET", name, "6ad76760-e86c-4273-a5a4-ad3e58e61a2b:7", "1"});
      server().client()({"PEXPIRE", name, std::to_string(3'600'000 + number * 60'000)});
    }
  }
  /// The id of the tool that runs in the terminal.
  static pid_t tool_in(const TemporaryFolder& folder) {
    const std::string pattern = "top --interval 500ms .*" + server().socket();
    std::filesystem::remove(folder.file("pid"));
    EXPECT_EQ(Process({"pgrep", "-nf", "^" LATCHKEY_TOOL " " + pattern}, folder.file("pid")).wait(),
              0);
    return std::stoi(folder.read("pid"));
  }
};

TEST_F(CliTopTerminal, ShowsALockWithItsHolderAndItsWaitersAt80By24) {
  hold_locks();
  const Holder other(*this, "contended", "reentrant");
  Process first = start({"-k", "contended"}, "true");
  Process second = start({"-k", "contended"}, "true");
  // Before `top` looks for the first time: it shows in how many of its looks somebody waited.
  await("two who wait", [] {
    const auto waiting = Locks::connect(uri()).inspect("contended").subscribers.value_or(0);
    return waiting == 2 ? std::string() : std::to_string(waiting) + " wait";
  });
  const TerminalEmulator terminal(folder_, 80, 24, script());
  terminal.await_text("awaited: 1, waiters: 2; scanned all");
  terminal.await_text("contended        REENTRANT     2 100%");
  terminal.await_text("process");  // the holder as announced
  const std::vector<std::string> lines = terminal.screen();
  ASSERT_THAT(lines, SizeIs(24));
  EXPECT_THAT(lines[0], StartsWith("latchkey top, every 500ms: redis+unix://"));
  EXPECT_THAT(lines[1], StartsWith("locks: 31"));
  EXPECT_THAT(lines[2], StartsWith("sorted by contention"));
  EXPECT_THAT(lines[3], HasSubstr("WAIT CONT    HELD    LEFT HOLDER"));
  EXPECT_THAT(lines[4], StartsWith("contended"));
  EXPECT_THAT(lines[5], StartsWith("order:"));
  EXPECT_THAT(lines[23], StartsWith("q quit"));
  for (const std::string& line : lines) EXPECT_LE(line.size(), 80U);
  EXPECT_THAT(lines[4], HasSubstr(", process ")) << "not the method, with its end cut off";
  terminal.press({"Enter"});
  terminal.await_text("Enter back");
  EXPECT_THAT(terminal.text(),
              AllOf(HasSubstr("key         contended"), HasSubstr("(latchkey run "),
                    HasSubstr(", since 20"), Not(HasSubstr("order:"))));
  terminal.press({"Enter"});
  terminal.await_text("order:");
}

TEST_F(CliTopTerminal, UsesAllOfAScreenOf200By60AndFollowsItsSize) {
  hold_locks();
  const TerminalEmulator terminal(folder_, 200, 60, script());
  // 30 rows, each with the whole id of its holder.
  std::vector<std::string> lines;
  await("30 rows", [&] {
    lines = terminal.screen();
    const bool all = lines.size() == 60 && lines[33].ends_with("ad3e58e61a2b:7");
    return all ? std::string() : "only:\n" + terminal.text();
  });
  EXPECT_THAT(lines[33], StartsWith("order:"));
  EXPECT_EQ(lines[34], "");
  EXPECT_THAT(lines[59], StartsWith("q quit"));
  terminal.resize(80, 24);
  terminal.await_text("6ad76760-e86c-4273-a5a4-a+");
  lines = terminal.screen();
  ASSERT_THAT(lines, SizeIs(24));
  EXPECT_THAT(lines[22], StartsWith("order:"));
  EXPECT_THAT(lines[23], StartsWith("q quit"));
  terminal.resize(200, 60);
  terminal.await_text("6ad76760-e86c-4273-a5a4-ad3e58e61a2b:7");
  EXPECT_THAT(terminal.screen()[59], StartsWith("q quit"));
}

TEST_F(CliTopTerminal, SortsFiltersScrollsAndPauses) {
  hold_locks();
  const TerminalEmulator terminal(folder_, 80, 24, script());
  terminal.await_text("order:0 ");
  terminal.press({"l"});
  terminal.await_text("sorted by left");
  EXPECT_THAT(terminal.screen()[4], StartsWith("order:0 "));
  terminal.press({"r"});
  terminal.await_text("sorted by left, reversed");
  EXPECT_THAT(terminal.screen()[4], StartsWith("order:29 "));
  terminal.press({"Down", "Down"});
  terminal.await_no_text("order:28 ");
  EXPECT_THAT(terminal.screen()[4], StartsWith("order:27 "));
  terminal.press({"PPage"});
  terminal.await_text("order:29 ");
  terminal.type("/r:12x");
  terminal.await_text("filter: r:12x_");
  terminal.press({"BSpace", "Enter"});
  terminal.await_text("; filter: r:12");
  terminal.await_text("order:12 ");
  EXPECT_EQ(terminal.screen()[5], "");
  terminal.press({"p"});
  terminal.await_text("latchkey top, paused:");
  server().client()({"DEL", "order:12"});
  terminal.press({"p"});
  terminal.await_no_text("order:12 ");
}

TEST_F(CliTopTerminal, RestoresTheTerminalWhenItEnds) {
  const auto ends = [&](const std::string& key, int signal, int status) {
    const TerminalEmulator terminal(folder_, 100, 30, script());
    terminal.await_text("q quit");
    if (signal == 0) terminal.press({key});
    if (signal != 0) ::kill(tool_in(folder_), signal);
    expect_restored(terminal, status);
  };
  ends("q", 0, 0);
  ends("C-c", 0, 0);
  ends("", SIGTERM, 128 + SIGTERM);
  ends("", SIGHUP, 128 + SIGHUP);
}

TEST_F(CliTopTerminal, RestoresTheTerminalWhileItIsStopped) {
  const std::string shell = "PS1='ready ' exec /bin/sh -i";
  const TerminalEmulator terminal(folder_, 100, 30, shell);
  terminal.await_text("ready");
  terminal.type(LATCHKEY_TOOL " top " + uri() + "\n");
  terminal.await_text("q quit");
  terminal.press({"C-z"});
  terminal.await_no_text("q quit");
  terminal.type("stty -a\n");
  terminal.await_text("iexten");
  EXPECT_THAT(terminal.text(), Not(HasSubstr("-icanon")));
  terminal.type("clear; fg\n");
  terminal.await_text("q quit");
  terminal.press({"q"});
  terminal.await_text("ready");
}

TEST_F(CliTopTerminal, ShowsThatTheServerIsGoneAndGoesOnWhenItIsBack) {
  RedisServer own;
  const TerminalEmulator terminal(
      folder_, 100, 30, LATCHKEY_TOOL " top --interval 500ms " + own.unix_uri() + "; exec cat");
  terminal.await_text("q quit");
  own.kill();
  terminal.await_text("cannot be used now: ");
  own.start();
  terminal.await_text("q quit");
}

}  // namespace
}  // namespace latchkey::tests
