// Tests of the tool's messages about a command line that somebody mistyped, and of keys that look
// like something else.
#include <gmock/gmock.h>

#include <filesystem>
#include <string>
#include <vector>

#include "cli/run_fixture.hpp"

namespace latchkey::tests {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class CliCommandLine : public CliRun {
 protected:
  /// Returns the text that the tool prints; it ends with this status.
  std::string said(const std::vector<std::string>& words, int status = 64) const {
    std::filesystem::remove(folder_.file("log"));
    EXPECT_EQ(run(latchkey(words)), status) << log();
    return log();
  }
  std::string said_in_shell(const std::string& line, int status) const {
    std::filesystem::remove(folder_.file("log"));
    EXPECT_EQ(run(std::vector<std::string>{"/bin/sh", "-c", line}), status) << log();
    return log();
  }
};

TEST_F(CliCommandLine, NamesTheCommandThatHasNoDashesBeforeIt) {
  const std::string missing = "no -- before 'tar'; expected -- between the options and the command";
  EXPECT_THAT(said({"run", "-k", "a", uri(), "tar", "-czf", "/tmp/x", "/home"}),
              HasSubstr(missing));
  EXPECT_THAT(
      said_in_shell("LATCHKEY_URI=" + uri() + " " LATCHKEY_TOOL " run -k a tar -czf /tmp/x /home",
                    64),
      HasSubstr(missing));
  EXPECT_THAT(said({"run", "--kye", "a", uri(), "--", "true"}),
              HasSubstr("run: unknown option '--kye'"));
  EXPECT_THAT(said({"run", "-k", "a", uri(), "redis://b", "--", "true"}),
              HasSubstr("run: unexpected 'redis://b' before --"));
}

TEST_F(CliCommandLine, RecognisesACommandLineInQuotes) {
  EXPECT_THAT(said({"run", "-k", "a", uri(), "--", "echo one two"}, 127),
              HasSubstr("it is one word, and no shell reads it: expected -- echo one two, or -- sh "
                        "-c 'echo one two'"));
  EXPECT_THAT(said({"run", "-k", "a", uri(), "--", "no-such-program"}, 127),
              Not(HasSubstr("one word")));
}

TEST_F(CliCommandLine, NamesTheFirstUnexpectedWord) {
  const std::string text = said({"show", "a", uri(), "first", "second"});
  EXPECT_THAT(text, HasSubstr("show: unexpected 'first'; expected the options"));
}

TEST_F(CliCommandLine, QuotesAnAddressWithoutAScheme) {
  const std::string cure =
      "'127.0.0.1:6379' has no scheme; expected a URI, as in redis://127.0.0.1:6379";
  EXPECT_THAT(said({"ls", "127.0.0.1:6379"}), HasSubstr(cure));
  EXPECT_THAT(said({"ls", "127.0.0.1:6379", "order:*"}), HasSubstr(cure));
  EXPECT_THAT(said({"ls", "order:*", "127.0.0.1:6379"}), HasSubstr(cure));
  EXPECT_THAT(said({"show", "a", "127.0.0.1:6379"}), HasSubstr(cure));
  EXPECT_THAT(said({"run", "-k", "a", "127.0.0.1:6379", "--", "true"}), HasSubstr(cure));
  // With a URI, "order:42" is a pattern.
  EXPECT_EQ(said({"ls", "order:42", uri()}, 0), "");
  EXPECT_EQ(said_in_shell("LATCHKEY_URI=" + uri() + " " LATCHKEY_TOOL " ls order:42", 0), "");
}

TEST_F(CliCommandLine, AKeyThatBeginsWithADashComesAfterTwo) {
  Process other = start({"--key=-x"}, "touch " + folder_.file("held") + "; exec sleep 60");
  await_file("held");
  EXPECT_THAT(said({"show", "--", "-x", uri()}, 0), HasSubstr("-x: locked"));
  EXPECT_EQ(said({"unlock", "--force", "--", "-x", uri()}, 0).find("latchkey:"), std::string::npos);
  EXPECT_THAT(said({"show", "--", "-x", uri()}, 1), HasSubstr("-x: not locked"));
}

TEST_F(CliCommandLine, ACommaInAKeyHasABackslashBeforeIt) {
  const std::string print =
      "echo $LATCHKEY_KEY; redis-cli -s " + server().socket() + " keys '*' | sort";
  EXPECT_EQ(run({"-k", "a\\,b,c"}, print), 0);
  EXPECT_EQ(log(), "a\\,b,c\na,b\nc\n");
  // The command may take the same keys again.
  EXPECT_EQ(
      run({"-k", "a\\,b,c"}, std::string(LATCHKEY_TOOL) + " run --wait 0 -k \"$LATCHKEY_KEY\" " +
                                 uri() + " -- true 2> " + folder_.file("inner") + "; exit $?"),
      75);
}

TEST_F(CliCommandLine, SpellsALineFeedOfTheUri) {
  const std::string text =
      said_in_shell("LATCHKEY_URI='redis://127.0.0.1:1\n' " LATCHKEY_TOOL " ls", 64);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1) << text;
  EXPECT_THAT(text, HasSubstr("\\n"));
}

TEST_F(CliCommandLine, NamesItsOwnOptionsAndNotThoseOfTheLibrary) {
  EXPECT_THAT(said({"run", "-k", "a", "--watchdog", "1ms", uri(), "--", "true"}),
              HasSubstr("--watchdog is between 30 ms and 1 day"));
  EXPECT_THAT(said({"run", "-k", "a", "--prefix", std::string(2000, 'x'), uri(), "--", "true"}),
              HasSubstr("--prefix is shorter than 1 KiB"));
}

}  // namespace
}  // namespace latchkey::tests
