// Semaphores in the command line tool.
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <string>
#include <vector>

#include "cli/run_fixture.hpp"

namespace latchkey::tests {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class CliSemaphore : public CliRun {
 protected:
  std::string printed(const std::vector<std::string>& words, int status = 0) const {
    std::filesystem::remove(folder_.file("log"));
    EXPECT_EQ(run(latchkey(words)), status) << log();
    return log();
  }
  /// Starts a command that holds one of two permits.
  [[nodiscard]] std::unique_ptr<Process> start_holder(const std::string& name) const {
    auto holder =
        std::make_unique<Process>(latchkey_run(uri(), {"-k", "exports", "--permits", "2"},
                                               "touch " + folder_.file(name) + "; exec sleep 60"),
                                  folder_.file("holder"));
    await_file(name);
    return holder;
  }
};

TEST_F(CliSemaphore, RunLetsSoManyCommandsRunAtOnce) {
  const auto one = start_holder("one");
  const auto two = start_holder("two");
  EXPECT_THAT(
      printed({"run", "-k", "exports", "--permits", "2", "--wait", "0", uri(), "--", "true"}, 75),
      HasSubstr("the semaphore 'exports'"));
  one->signal(SIGTERM);
  one->wait();
  EXPECT_EQ(run({"-k", "exports", "--permits", "2", "--wait", "0"}, "exit 3"), 3);
}

TEST_F(CliSemaphore, ShowCountsThePermits) {
  const auto one = start_holder("one");
  const json state = json::parse(printed({"show", "exports", "--json", uri()}));
  EXPECT_EQ(state["type"], "PERMIT");
  EXPECT_EQ(state["permits"]["available"], 1);
  EXPECT_EQ(state["permits"]["total"], 2);
  EXPECT_EQ(state["holders"].size(), 1U);
  EXPECT_THAT(printed({"show", "exports", uri()}),
              HasSubstr("exports: a semaphore, 1 of 2 permits are taken\n  held by "));
  one->signal(SIGTERM);
  one->wait();
  EXPECT_THAT(printed({"show", "exports", uri()}, 1), HasSubstr("0 of 2 permits are taken"));
}

TEST_F(CliSemaphore, AreListedWithTheLocksWhileAPermitIsTaken) {
  const auto one = start_holder("one");
  server().client()({"HSET", "order", "6ad76760-e86c-4273-a5a4-ad3e58e61a2b:1", "1"});
  server().client()({"ZADD", "{other}:timeout", "99999999999999", "no permit"});
  EXPECT_EQ(printed({"ls", "e*", uri()}), "exports\n");
  EXPECT_THAT(printed({"ls", "--long", uri()}),
              AllOf(HasSubstr("exports: a semaphore, 1 of 2"),
                    HasSubstr("order: locked, REENTRANT"), Not(HasSubstr("other"))));
  EXPECT_THAT(printed({"top", "--once", uri()}), HasSubstr("exports"));
  EXPECT_EQ(json::parse(printed({"top", "--json", "--pattern", "exports", uri()}))["type"],
            "PERMIT");
  one->signal(SIGTERM);
  one->wait();
  EXPECT_EQ(printed({"ls", "e*", uri()}), "");
}

TEST_F(CliSemaphore, UnlockTakesAllPermitsAndKeepsTheirNumber) {
  const auto one = start_holder("one");
  EXPECT_THAT(
      printed({"unlock", "exports", "--owner", "6ad76760-e86c-8273-a5a4-ad3e58e61a2b:7", uri()},
              64),
      HasSubstr("'exports' is a semaphore, whose permits are taken from all holders"));
  EXPECT_EQ(json::parse(printed({"unlock", "exports", "--force", "--json", uri()}))["released"],
            true);
  const json state = json::parse(printed({"show", "exports", "--json", uri()}, 1));
  EXPECT_EQ(state["permits"]["available"], 2);
  EXPECT_EQ(state["permits"]["total"], 2);
}

TEST_F(CliSemaphore, PermitsAreOfOneKeyAndOfNoLock) {
  EXPECT_THAT(printed({"run", "-k", "a,b", "--permits", "2", uri(), "--", "true"}, 64),
              HasSubstr("a semaphore is taken alone; expected one --key"));
  EXPECT_THAT(printed({"run", "-k", "a", "-t", "fair", "--permits", "2", uri(), "--", "true"}, 64),
              HasSubstr("expected one of the two"));
  EXPECT_THAT(printed({"run", "-k", "a", "--permits", "0", uri(), "--", "true"}, 64),
              HasSubstr("--permits"));
}

}  // namespace
}  // namespace latchkey::tests
