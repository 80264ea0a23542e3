// The file that replays a round.
// SPDX-License-Identifier: BSL-1.0
#include "chaos/reproduction/replay_file.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <stdexcept>
#include <string>

namespace latchkey::chaos {
namespace {

class ReplayFile : public ::testing::Test {
 protected:
  ~ReplayFile() override { std::filesystem::remove(file_); }

  void write(const std::string& text) const { std::ofstream(file_) << text; }
  [[nodiscard]] Settings read() const { return read_settings({"--replay", file_.string()}); }
  /// With FILE for the name of the file.
  [[nodiscard]] std::string message() const {
    try {
      (void)read();
    } catch (const std::invalid_argument& error) {
      std::string text = error.what();
      const std::size_t at = text.find(file_.string());
      return at == std::string::npos ? text : text.replace(at, file_.string().size(), "FILE");
    }
    return "accepted";
  }

  const std::filesystem::path file_ =
      std::filesystem::temp_directory_path() / ("latchkey_replay." + std::to_string(::getpid()));
};

TEST_F(ReplayFile, RunsTheSameRoundAgain) {
  const Settings settings =
      read_settings({"--workers", "5", "--threads", "3", "--deployment", "quorum", "--kind",
                     "client stopped,busy", "--only", "3,7", "--without", "0,4", "--for", "8h"});
  write_replay(file_, settings, 9);
  const Settings again = read();
  EXPECT_EQ(again.seed, 9U);
  EXPECT_LE(again.length, std::chrono::seconds(1)) << "one round";
  EXPECT_EQ(again.shorten, 0);
  EXPECT_EQ(again.workers, 5U);
  EXPECT_EQ(again.threads, 3U);
  EXPECT_EQ(again.client, Client::latchkey);
  EXPECT_EQ(again.deployment, DeploymentKind::quorum);
  EXPECT_EQ(again.kind, "client stopped,busy");
  EXPECT_EQ(again.only, settings.only);
  EXPECT_EQ(again.without, settings.without);
}

TEST_F(ReplayFile, NamesTheClientAndARoundWithoutFaults) {
  write_replay(file_, read_settings({"--client", "thread-id", "--only", "none"}), 9);
  EXPECT_EQ(read().client, Client::thread_id);
  EXPECT_TRUE(read().only.value().empty());
}

TEST_F(ReplayFile, LaterOptionsOfTheCommandReplaceItsOwn) {
  write_replay(file_, read_settings({}), 9);
  const Settings settings = read_settings({"--replay", file_.string(), "--shorten", "5"});
  EXPECT_EQ(settings.shorten, 5);
  EXPECT_EQ(settings.seed, 9U);
}

TEST_F(ReplayFile, WrongWordsAreNamed) {
  EXPECT_EQ(message(), "cannot read 'FILE'");
  write("# a comment\n\n--sed 9\n");
  EXPECT_EQ(message(), "FILE:3: unknown option '--sed'");
  write("--seed 9\n--only\n");
  EXPECT_EQ(message(), "FILE:2: no value for '--only'");
  write("--seed nine\n");
  EXPECT_EQ(message(), "FILE:1: expected a number, not 'nine'");
  write("--replay FILE\n");
  EXPECT_EQ(message(), "FILE:1: unknown option '--replay'");
}

}  // namespace
}  // namespace latchkey::chaos
