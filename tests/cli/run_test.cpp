// `latchkey run` as a shell sees it: exit statuses, environment, stdin.
#include <sys/stat.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <sstream>
#include <string>

#include "cli/run_fixture.hpp"

namespace latchkey::tests {
namespace {

using CliRunStatus = CliRun;

TEST_F(CliRunStatus, IsThatOfTheCommand) {
  EXPECT_EQ(run({"-k", "a"}, "exit 0"), 0);
  EXPECT_EQ(run({"-k", "a"}, "exit 3"), 3);
  EXPECT_EQ(run({"-k", "a"}, "kill -KILL $$"), 128 + SIGKILL);
  EXPECT_EQ(log(), "");
  EXPECT_TRUE(keys().empty());
}

TEST_F(CliRunStatus, Is75WhenTheLockIsBusyForTheWholeWait) {
  const Holder other(*this, "a", "reentrant");
  EXPECT_EQ(run({"-k", "a", "--wait", "0"}, "touch " + folder_.file("ran")), 75);
  EXPECT_NE(log().find("the REENTRANT lock 'a'"), std::string::npos) << log();
  EXPECT_EQ(run({"-k", "a", "--wait", "50ms", "--conflict-exit-code", "0"}, "exit 9"), 0);
  EXPECT_FALSE(folder_.has("ran"));
}

TEST_F(CliRunStatus, Is75ForOneBusyKeyOfSeveral) {
  const Holder other(*this, "b", "reentrant");
  EXPECT_EQ(run({"-k", "a,b", "-k", "c", "--wait", "0"}, "exit 0"), 75);
  EXPECT_EQ(run({"-k", "a", "-k", "c", "--wait", "0"}, "exit 0"), 0);
}

TEST_F(CliRunStatus, Is69WhenTheServerIsDown) {
  EXPECT_EQ(run(latchkey({"run", "-k", "a", "redis://127.0.0.1:1", "--", "true"})), 69);
  EXPECT_NE(log().find("127.0.0.1:1"), std::string::npos) << log();
}

TEST_F(CliRunStatus, Is77WhenTheServerRefuses) {
  server().client()({"ACL", "SETUSER", "reader", "on", ">secret", "~*", server().all_channels(),
                     "+@all", "-hset"});
  const std::string address = "redis://reader:secret@127.0.0.1:" + std::to_string(server().port());
  EXPECT_EQ(run(latchkey({"run", "-k", "a", address, "--", "true"})), 77);
  EXPECT_NE(log().find("lacks a permission"), std::string::npos) << log();
  EXPECT_EQ(log().find("secret"), std::string::npos) << log();
}

TEST_F(CliRunStatus, Is76WhenTheLockIsLost) {
  Process tool = start({"-k", "a", "--watchdog", "600ms"},
                       "touch " + folder_.file("held") + "; exec sleep 60");
  await_file("held");
  server().client()({"DEL", "a"});
  EXPECT_EQ(tool.wait(), 76);
  EXPECT_NE(log().find("the lock was lost; ending the command"), std::string::npos) << log();
}

TEST_F(CliRunStatus, IsThatOfTheShellWhenTheCommandCannotBeRun) {
  EXPECT_EQ(run(latchkey({"run", "-k", "a", uri(), "--", "/no/such/file"})), 127);
  std::ofstream(folder_.file("data")) << "text";
  EXPECT_EQ(run(latchkey({"run", "-k", "a", uri(), "--", folder_.file("data")})), 126);
  EXPECT_TRUE(keys().empty());
}

TEST_F(CliRunStatus, Is64ForAnInvalidCommandLine) {
  struct Case {
    std::vector<std::string> words;
    const char* sentence;
  };
  const Case cases[] = {
      {{"run", "-k", "a", uri()}, "expected -- and a command"},
      {{"run", uri(), "--", "true"}, "--key is required"},
      {{"run", "-k", "a", "--", "true"}, "no backend is named"},
      {{"run", "-k", "a,,b", uri(), "--", "true"}, "an empty key"},
      {{"run", "-k", "a", "-t", "shared", uri(), "--", "true"}, "unknown lock type"},
      {{"run", "-k", "a", "-w", "3", uri(), "--", "true"},
       "--wait: missing unit in '3'; expected 3s"},
      {{"run", "-k", "a", "-l", "1ms", uri(), "--", "true"}, "at least 10 ms"},
      {{"run", "-k", "a", "--on-lost", "cry", uri(), "--", "true"}, "expected term or report"},
      {{"run", "-k", "a", "--hold-for", "1m", uri(), "--", "true"}, "--lease 1m"},
      {{"run", "-k", "a", "--on-revoke", "cry", uri(), "--", "true"}, "expected ignore or term"},
      {{"run", "-k", "a", "--held-at-most", "1ms", uri(), "--", "true"}, "from 10ms to 10 years"},
      {{"run", "-k", "a", "--held-at-most", "5s", "--lease", "10s", uri(), "--", "true"},
       "or --lease watchdog"},
      {{"run", "-k", "a", "--held-at-most", "5s", "--hold-for", "6s", uri(), "--", "true"},
       "expected a longer --held-at-most"},
      {{"run", "-k", "a", "--lock-delay", "1ms", uri(), "--", "true"}, "from 10ms to 24h"},
      {{"run", "-k", "a", "nobody://x", "--", "true"}, "nobody"},
      {{"run", "-k", "a", "--config", folder_.file("none"), "--", "true"}, "cannot read"},
  };
  for (const Case& each : cases) {
    std::filesystem::remove(folder_.file("log"));
    EXPECT_EQ(run(latchkey(each.words)), 64) << each.sentence;
    EXPECT_NE(log().find(each.sentence), std::string::npos) << each.sentence << "\n" << log();
  }
}

TEST_F(CliRun, KeepsStandardErrorQuietWhenToldTo) {
  const Holder other(*this, "a", "reentrant");
  EXPECT_EQ(run({"-k", "a", "--wait", "0", "--quiet"}, "exit 0"), 75);
  EXPECT_EQ(log(), "");
}

// Cron mails what a job prints. A machine whose job another one runs has nothing to say.
TEST_F(CliRun, SaysNothingOfABusyLockIfTheJobMayBeSkipped) {
  const Holder other(*this, "a", "reentrant");
  EXPECT_EQ(run({"-k", "a", "--wait", "0", "--conflict-exit-code", "0"}, "exit 9"), 0);
  EXPECT_EQ(log(), "");
  EXPECT_EQ(run(latchkey({"run", "-k", "a", "--wait", "0", "--conflict-exit-code", "0",
                          "redis://127.0.0.1:1", "--", "true"})),
            69);
  EXPECT_NE(log(), "") << "a failure is reported";
}

TEST_F(CliRun, NamesTheWaitThatWasAskedFor) {
  const Holder other(*this, "a", "reentrant");
  EXPECT_EQ(run({"-k", "a", "--wait", "300ms"}, "exit 0"), 75);
  EXPECT_NE(log().find("for the whole wait of 300 ms"), std::string::npos) << log();
}

// The time in which the name was looked up was left out.
TEST_F(CliRun, NamesTheWholeTimeThatItWaitedForAServer) {
  EXPECT_EQ(run(latchkey(
                {"run", "-k", "a", "--wait", "1s", "redis://no-such-host.invalid", "--", "true"})),
            69);
  const std::string text = log();
  const std::size_t at = text.rfind("; waited ");
  ASSERT_NE(at, std::string::npos) << text;
  EXPECT_GE(std::stoi(text.substr(at + std::string("; waited ").size())), 1'000) << text;
}

TEST_F(CliRun, PassesTheHeldKeysToTheCommand) {
  EXPECT_EQ(run({"-k", "a", "-t", "fenced"},
                "echo $LATCHKEY_KEY $LATCHKEY_FENCE $LATCHKEY_OWNER $LATCHKEY_DEADLINE"),
            0);
  std::istringstream words(log());
  std::string key;
  std::string owner;
  unsigned long long fence = 0;
  long long deadline = 0;
  ASSERT_TRUE(words >> key >> fence >> owner >> deadline) << log();
  EXPECT_EQ(key, "a");
  EXPECT_EQ(std::to_string(fence), server().client()({"GET", "redisson_lock_token:{a}"}).text());
  EXPECT_EQ(owner.size(), owner.find(':') + owner.substr(owner.find(':')).size());
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  EXPECT_GT(deadline, std::chrono::duration_cast<std::chrono::seconds>(now).count());
  server().client()({"DEL", "redisson_lock_token:{a}"});
}

TEST_F(CliRun, TakesItsBackendFromTheEnvironmentOrAPolicyFile) {
  std::ofstream(folder_.file("latchkey.yaml"))
      << "backends:\n  main: " << uri()
      << "\nprefix: \"shop:\"\nrules:\n  Bank::*:\n    wait: 1s\n";
  const std::string list = "redis-cli -s " + server().socket() + " keys '*:b'";
  EXPECT_EQ(run(latchkey({"run", "-k", "b", "--config", folder_.file("latchkey.yaml"), "--",
                          "/bin/sh", "-c", list})),
            0);
  EXPECT_EQ(log(), "shop:b\n");
  EXPECT_EQ(run({"/bin/sh", "-c",
                 "LATCHKEY_URI=" + uri() +
                     " " LATCHKEY_TOOL " run -k b --prefix x: -- /bin/sh -c \"" + list + "\""}),
            0);
  EXPECT_EQ(log(), "shop:b\nx:b\n");
}

TEST_F(CliRun, PassesStandardInputOnByteForByte) {
  const std::string script = "head -c 10000000 /dev/urandom > " + folder_.file("in") + " && cat " +
                             folder_.file("in") + " | " + LATCHKEY_TOOL + " run -k a " + uri() +
                             " -- cmp - " + folder_.file("in");
  EXPECT_EQ(run({"/bin/sh", "-c", script}), 0) << log();
}

TEST_F(CliRun, KeepsTheLockForTheGivenTimeAtLeast) {
  for (const char* word : {"--hold-for", "--at-least"}) {
    EXPECT_EQ(run({"-k", "a", word, "20s"}, "exit 0"), 0);
    const long long left = server().client()({"PTTL", "a"}).integer();
    EXPECT_GT(left, 10'000);
    EXPECT_LE(left, 30'000);
    EXPECT_EQ(run({"-k", "a", "--wait", "0"}, "exit 0"), 75);
    server().client()({"DEL", "a"});
  }
}

TEST_F(CliRun, LosesNoUpdateOfEightProcessesThatIncrementAFile) {
  std::ofstream(folder_.file("n")) << "0\n";
  const std::string increment = "read n < n; echo $((n + 1)) > n";
  const std::string loop = "cd " + folder_.file("") + "; i=0; while [ $i -lt 50 ]; do " +
                           LATCHKEY_TOOL + " run -k counter " + uri() + " -- /bin/sh -c '" +
                           increment + "' || exit 1; i=$((i + 1)); done";
  std::vector<std::unique_ptr<Process>> processes;
  for (int process = 0; process < 8; ++process) {
    processes.push_back(std::make_unique<Process>(std::vector<std::string>{"/bin/sh", "-c", loop},
                                                  folder_.file("log")));
  }
  for (const auto& process : processes) EXPECT_EQ(process->wait(), 0) << log();
  EXPECT_EQ(folder_.read("n"), "400\n");
}

}  // namespace
}  // namespace latchkey::tests
