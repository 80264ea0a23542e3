// `latchkey once`: a command for each scheduled instant.
#include <gmock/gmock.h>

#include <chrono>
#include <string>
#include <vector>

#include "cli/run_fixture.hpp"
#include "support/stalls.hpp"

namespace latchkey::tests {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class CliOnce : public CliRun {
 protected:
  /// Runs a shell script for the current day, with further options.
  int once(std::vector<std::string> options, const std::string& script) {
    std::vector<std::string> words{"once", uri(), "-k", "job"};
    words.insert(words.end(), options.begin(), options.end());
    for (const char* const word : {"--", "/bin/sh", "-c"}) words.emplace_back(word);
    words.push_back(script);
    return run(latchkey(words));
  }
  [[nodiscard]] std::string touch(const std::string& name) const {
    return "touch " + folder_.file(name);
  }
};

TEST_F(CliOnce, SecondRunOfAnInstantDoesNothingAndIsNoError) {
  EXPECT_EQ(once({"--every", "1d"}, touch("first")), 0);
  EXPECT_EQ(once({"--every", "1d"}, touch("second")), 0);
  EXPECT_TRUE(folder_.has("first"));
  EXPECT_FALSE(folder_.has("second"));
  EXPECT_EQ(log(), "") << "cron would mail it";
  EXPECT_EQ(once({"--every", "1d", "--conflict-exit-code", "9"}, "true"), 9);
}

TEST_F(CliOnce, FailedRunFreesItsInstantUnlessItIsSkipped) {
  EXPECT_EQ(once({"--every", "1d"}, "exit 3"), 3);
  EXPECT_EQ(once({"--every", "1d", "--on-failure", "skip"}, "exit 4"), 4);
  EXPECT_EQ(once({"--every", "1d"}, touch("third")), 0);
  EXPECT_FALSE(folder_.has("third")) << "the second run has taken the instant for good";
}

TEST_F(CliOnce, CommandFindsItsInstant) {
  EXPECT_EQ(once({"--cron", "@daily", "--zone", "+01:00"},
                 "case $LATCHKEY_KEY in latchkey_once:job:$LATCHKEY_INSTANT) ;; *) exit 1; esac; "
                 "case $LATCHKEY_INSTANT in *T23:00:00Z) ;; *) exit 2; esac"),
            0);
}

TEST_F(CliOnce, LateRunDoesNothing) {
  EXPECT_EQ(once({"--every", "365d", "--start-within", "1ms"}, "exit 5"), 0);
  EXPECT_TRUE(keys().empty());
}

// It waited past the end of its instant, and could then miss the next one.
TEST_F(CliOnce, WaitEndsWhenItIsTooLateForTheInstant) {
  Process holder(latchkey({"once", uri(), "-k", "job", "--every", "365d", "--", "/bin/sh", "-c",
                           touch("held") + "; exec sleep 60"}),
                 folder_.file("holder"));
  await_file("held");
  const auto since = std::chrono::system_clock::now().time_since_epoch() % std::chrono::days(365);
  const auto within = std::chrono::ceil<std::chrono::milliseconds>(since) + 5s;
  const Stalls stalls;
  const auto before = std::chrono::steady_clock::now();
  EXPECT_EQ(once({"--every", "365d", "--start-within", std::to_string(within.count()) + "ms",
                  "--wait", "40s", "--conflict-exit-code", "9"},
                 "true"),
            9);
  EXPECT_LT(std::chrono::steady_clock::now() - before, 20s + stalls.total());
  EXPECT_THAT(log(), AllOf(HasSubstr("whole wait of"), Not(HasSubstr("40000 ms"))));
}

TEST_F(CliOnce, WrongScheduleIsNamed) {
  const auto said = [&](std::vector<std::string> options) {
    EXPECT_EQ(once(std::move(options), "true"), 64);
    return log();
  };
  EXPECT_THAT(said({}), HasSubstr("expected one of --every, as in --every 15m, and --cron"));
  EXPECT_THAT(said({"--cron", "61 * * * *"}), HasSubstr("the minute '61' of a cron expression"));
  EXPECT_THAT(said({"--every", "1d", "--on-failure", "ignore"}),
              HasSubstr("--on-failure 'ignore': expected retry or skip"));
  EXPECT_THAT(said({"--every", "1h", "--start-within", "2h"}),
              HasSubstr("OncePerOptions::start_within is 7200000 ms; expected 1 to 3600000 ms"));
}

}  // namespace
}  // namespace latchkey::tests
