// The tool on locks of one machine, and its command `host`.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "cli/tool.hpp"
#include "support/temporary_folder.hpp"

namespace latchkey::tests {
namespace {

class CliHost : public ::testing::Test {
 protected:
  /// The exit status; the file "log" has the output of this run.
  int run(const std::vector<std::string>& words) {
    std::filesystem::remove(folder.file("log"));
    return Process(latchkey(words), folder.file("log")).wait();
  }
  [[nodiscard]] std::string said() const { return folder.read("log"); }

  const TemporaryFolder folder;
  const std::string file = folder.file("segment");
  const std::string uri = "host:" + file;
};

TEST_F(CliHost, RunLsShowAndUnlockWork) {
  const std::vector<std::string> inner =
      latchkey_run(uri, {"--key", "k", "--lease", "60s", "--hold-for", "60s"}, "exit 7");
  EXPECT_EQ(Process(inner, folder.file("log")).wait(), 7) << said();
  EXPECT_EQ(run({"ls", uri}), 0);
  EXPECT_NE(said().find("k\n"), std::string::npos) << said();
  EXPECT_EQ(run({"show", "k", uri}), 0);
  EXPECT_NE(said().find("locked"), std::string::npos) << said();
  EXPECT_EQ(run({"unlock", "k", "--force", uri}), 0) << said();
  EXPECT_EQ(run({"ls", uri}), 0);
  EXPECT_EQ(said().find("k\n"), std::string::npos) << said();
}

TEST_F(CliHost, ASoundSegmentIsLeftAlone) {
  EXPECT_EQ(run({"ls", uri}), 0);
  EXPECT_EQ(run({"host", "check", uri}), 0);
  EXPECT_EQ(said(), uri + ": sound\n");
  EXPECT_EQ(run({"host", "repair", uri}), 0);
  EXPECT_EQ(said(), uri + ": sound, nothing is done\n");
}

TEST_F(CliHost, ADamagedSegmentIsRepaired) {
  EXPECT_EQ(run({"ls", uri}), 0);
  std::ofstream(file) << "no segment any more";
  EXPECT_EQ(run({"ls", uri}), 77);
  EXPECT_NE(said().find("run latchkey host repair"), std::string::npos) << said();
  EXPECT_EQ(run({"host", "check", uri}), 1);
  EXPECT_EQ(run({"host", "repair", uri}), 0);
  EXPECT_EQ(said(), uri + ": replaced by a new segment\n");
  EXPECT_EQ(run({"ls", uri}), 0);
}

TEST_F(CliHost, AnotherWordIsAnErrorThatNamesTheRightOnes) {
  EXPECT_EQ(run({"host", "mend", uri}), 64);
  EXPECT_NE(said().find("host 'mend': expected check or repair"), std::string::npos) << said();
  EXPECT_EQ(run({"host", "check", "redis://h"}), 64);
  EXPECT_NE(said().find("invalid host URI"), std::string::npos) << said();
}

}  // namespace
}  // namespace latchkey::tests
