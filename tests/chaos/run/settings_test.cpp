// The options of latchkey_chaos.
// SPDX-License-Identifier: BSL-1.0
#include "chaos/run/settings.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace latchkey::chaos {
namespace {

using namespace std::chrono_literals;

TEST(ChaosSettings, OptionsAreRead) {
  const Settings settings = read_settings({"--for", "8h", "--seed", "5", "--only", "3,7"});
  EXPECT_EQ(settings.length, 8h);
  EXPECT_EQ(settings.shorten, 12);
  EXPECT_EQ(settings.seed, 5U);
  EXPECT_EQ(*settings.only, (std::set<std::size_t>{3, 7}));
}

TEST(ChaosSettings, WorkersAreLeftOutByTheirNumber) {
  EXPECT_TRUE(read_settings({}).without.empty());
  EXPECT_EQ(read_settings({"--without", "1,3"}).without, (std::set<std::uint32_t>{1, 3}));
  EXPECT_EQ(read_settings({"--without", "7", "--workers", "8"}).without,
            (std::set<std::uint32_t>{7}));
}

TEST(ChaosSettings, ARoundWithoutFaultsIsNone) {
  EXPECT_EQ(read_settings({}).only, std::nullopt);
  EXPECT_TRUE(read_settings({"--only", "none"}).only->empty());
}

TEST(ChaosSettings, AKindIsChosenByAnyOfTheTexts) {
  EXPECT_TRUE(is_chosen("busy script", "busy"));
  EXPECT_TRUE(is_chosen("connection reset", "busy,reset"));
  EXPECT_FALSE(is_chosen("FLUSHALL", "busy,reset"));
}

TEST(ChaosSettings, WrongWordsAreNamed) {
  const auto message = [](const std::vector<std::string>& words) -> std::string {
    try {
      read_settings(words);
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "accepted";
  };
  EXPECT_EQ(message({"--fro", "8h"}), "unknown option '--fro'");
  EXPECT_EQ(message({"--for"}), "no value for '--for'");
  EXPECT_EQ(message({"--workers", "9"}), "expected 1 to 8, not '9'");
  EXPECT_EQ(
      message({"--deployment", "x"}),
      "unknown deployment 'x'; expected all, stores, single, cluster, sentinel, confirmed, "
      "quorum, tool, idle, idle-cluster, redisson, etcd, mongodb, mysql, postgresql or zookeeper");
  EXPECT_EQ(message({"--deployment", "tool", "--workers", "2"}),
            "--deployment tool needs --workers 3 or more");
  EXPECT_EQ(message({"--deployment", "tool"}), "accepted");
  EXPECT_EQ(message({"--without", "0,4"}), "unknown worker '4'; expected 0 to 3");
  EXPECT_EQ(message({"--without", "0,1", "--workers", "2"}), "--without leaves no worker");
  EXPECT_EQ(message({"--without", "4294967297"}), "unknown worker '4294967297'; expected 0 to 7");
  EXPECT_EQ(message({"--without", "one"}), "expected a number, not 'one'");
  EXPECT_EQ(message({"--seed", "x"}), "expected a number, not 'x'");
  EXPECT_EQ(message({"--for", "10"}), "expected a time such as 500ms, 20s, 10min or 8h, not '10'");
}

TEST(ChaosSettings, TheCommandThatReplaysARoundHasItsSeedAndFaults) {
  const Settings settings = read_settings({"--seed", "5", "--only", "3,7"});
  EXPECT_EQ(replay_command(settings, 9),
            "build/test/tests/latchkey_chaos --seed 9 --for 1s --shorten 0 --workers 4 --threads 6 "
            "--only 3,7");
  EXPECT_EQ(replay_command(read_settings({"--deployment", "redisson"}), 9),
            "scripts/chaos_redisson.sh build/test --seed 9 --for 1s --shorten 0 --workers 4 "
            "--threads 6 --deployment redisson");
}

}  // namespace
}  // namespace latchkey::chaos
