// `latchkey ping`, `show` and `unlock`, the operator's commands.
#include <nlohmann/json.hpp>

#include <string>

#include "cli/run_fixture.hpp"

namespace latchkey::tests {
namespace {

using nlohmann::json;

class CliLook : public CliRun {
 protected:
  json run_json(std::vector<std::string> words) {
    words.emplace_back("--json");
    status_ = run(latchkey(std::move(words)));
    return json::parse(log());
  }
  int status_ = -1;
};

TEST_F(CliLook, ShowNamesTheHolderOfALockAndItsLease) {
  const Holder other(*this, "a", "fenced");
  const json lock = run_json({"show", "a", uri()});
  EXPECT_EQ(status_, 0);
  EXPECT_EQ(lock["key"], "a");
  EXPECT_EQ(lock["locked"], true);
  ASSERT_EQ(lock["holders"].size(), 1U);
  EXPECT_GT(lock["holders"][0]["lease_left_ms"], 10'000);
  EXPECT_EQ(lock["holders"][0]["count"], 1);
  EXPECT_NE(lock["holders"][0]["announced"].get<std::string>().find("process"), std::string::npos);
  EXPECT_GT(lock["fencing_token"], 0);
}

TEST_F(CliLook, ShowIsReadableWithoutJson) {
  const Holder other(*this, "a", "write");
  EXPECT_EQ(run(latchkey({"show", "a", uri()})), 0);
  EXPECT_TRUE(log().starts_with("a: locked, WRITE\n  held by ")) << log();
}

TEST_F(CliLook, ShowExitsWith1ForALockThatNobodyHolds) {
  const json lock = run_json({"show", "a", uri()});
  EXPECT_EQ(status_, 1);
  EXPECT_EQ(lock["locked"], false);
  EXPECT_TRUE(lock["type"].is_null());
  EXPECT_TRUE(lock["fencing_token"].is_null());
}

TEST_F(CliLook, ShowReplacesBytesOfAKeyThatAreNotUtf8) {
  EXPECT_EQ(run_json({"show", "a\xff", uri()})["key"], "a\xef\xbf\xbd");
}

TEST_F(CliLook, UnlockNeedsForceToReleaseTheLock) {
  const Holder other(*this, "a", "reentrant");
  EXPECT_EQ(run(latchkey({"unlock", "a", uri()})), 64);
  EXPECT_NE(log().find("expected --force"), std::string::npos) << log();
  EXPECT_EQ(server().client()({"EXISTS", "a"}).integer(), 1);
  EXPECT_EQ(run(latchkey({"unlock", "a", "--force", uri()})), 0);
  EXPECT_EQ(server().client()({"EXISTS", "a"}).integer(), 0);
  EXPECT_EQ(run(latchkey({"unlock", "a", "--force", uri()})), 1);
}

TEST_F(CliLook, PingTakesAndReleasesALock) {
  const json times = run_json({"ping", "-n", "5", uri()});
  EXPECT_EQ(status_, 0);
  EXPECT_LE(times["lock_and_unlock_ms"]["min"], times["lock_and_unlock_ms"]["max"]);
  EXPECT_TRUE(keys().empty());
}

TEST_F(CliLook, PingExitsWith69WithoutAReply) {
  EXPECT_EQ(run(latchkey({"ping", "redis://127.0.0.1:1"})), 69);
}

TEST_F(CliLook, VersionAndHelpExitWith0) {
  EXPECT_EQ(run(latchkey({"--version"})), 0);
  EXPECT_EQ(run(latchkey({"run", "--help"})), 0);
  EXPECT_EQ(run(latchkey({})), 64);
  EXPECT_EQ(run(latchkey({"jump"})), 64);
}

}  // namespace
}  // namespace latchkey::tests
