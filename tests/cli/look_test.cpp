// `latchkey ping`, `show` and `unlock`, the operator's commands.
#include <nlohmann/json.hpp>

#include <filesystem>
#include <string>

#include <latchkey/hold.hpp>
#include <latchkey/locks.hpp>

#include "cli/run_fixture.hpp"

namespace latchkey::tests {
namespace {

using nlohmann::json;

class CliLook : public CliRun {
 protected:
  json run_json(std::vector<std::string> words) {
    std::filesystem::remove(folder_.file("log"));
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

TEST_F(CliLook, ShowSaysWhichCommandHoldsSinceWhenAndWhenItWouldNotice) {
  const Holder other(*this, "a", "write");
  EXPECT_EQ(run(latchkey({"show", "a", uri()})), 0);
  const std::string said = log();
  EXPECT_NE(said.find(" (latchkey run sh), since 20"), std::string::npos) << said;
  EXPECT_NE(
      said.find("\n    it would notice an unlock usually within milliseconds, at the latest in "),
      std::string::npos)
      << said;
}

// The hash of the lock does not contain its type; it was called REENTRANT, but FENCED by top.
TEST_F(CliLook, ShowAndListCallAFencedLockFenced) {
  const Holder other(*this, "a", "fenced");
  EXPECT_EQ(run_json({"show", "a", uri()})["type"], "FENCED");
  EXPECT_EQ(run_json({"ls", "--long", uri()})["type"], "FENCED");
  EXPECT_EQ(run(latchkey({"show", "a", uri()})), 0);
  EXPECT_NE(log().find("a: locked, FENCED"), std::string::npos) << log();
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

TEST_F(CliLook, UnlockTakesTheLockFromTheNamedOwnerOnly) {
  for (const char* type : {"reentrant", "fair", "read", "write", "fenced"}) {
    const Holder other(*this, "a", type);
    const std::string owner = run_json({"show", "a", uri()})["holders"][0]["id"];
    const std::string stranger = "6ad76760-e86c-8273-a5a4-ad3e58e61a2b:7";
    EXPECT_EQ(run_json({"unlock", "a", "--owner", stranger, uri()})["released"], false);
    EXPECT_EQ(status_, 1) << type;
    EXPECT_EQ(server().client()({"EXISTS", "a"}).integer(), 1) << type;
    EXPECT_EQ(run_json({"unlock", "a", "--owner", owner, uri()})["released"], true);
    EXPECT_EQ(status_, 0) << type;
    EXPECT_EQ(server().client()({"EXISTS", "a"}).integer(), 0) << type;
    EXPECT_EQ(run(latchkey({"unlock", "a", "--owner", owner, uri()})), 1) << type;
    EXPECT_NE(log().find("'a' is not locked by " + owner), std::string::npos) << log();
    std::filesystem::remove(folder_.file("held"));
  }
}

TEST_F(CliLook, UnlockSaysWhoLosesTheLockAndUntilWhenItMayWork) {
  const Holder other(*this, "a", "reentrant");
  EXPECT_EQ(run(latchkey({"unlock", "a", "--force", uri()})), 0);
  EXPECT_TRUE(log().starts_with("a: taken from a program on ")) << log();
  EXPECT_NE(log().find(", which notices it usually within milliseconds, at the latest in "),
            std::string::npos)
      << log();
  EXPECT_NE(log().find(" s; then its hold is lost: a program gets a LockLost and the stop of "
                       "its stop token, a command of latchkey run is ended\n"),
            std::string::npos)
      << log();
}

TEST_F(CliLook, UnlockByOwnerLetsTheNextWaiterIn) {
  const Holder other(*this, "a", "fair");
  Process next = start({"-k", "a", "-t", "fair", "--watchdog", "5m"}, "exit 0");
  await("a place in the queue", [] {
    return server().client()({"LLEN", "redisson_lock_queue:{a}"}).integer() == 1 ? "" : "none";
  });
  const std::string owner = run_json({"show", "a", uri()})["holders"][0]["id"];
  EXPECT_EQ(run(latchkey({"unlock", "a", "--owner", owner, uri()})), 0);
  EXPECT_EQ(next.wait(), 0);
}

TEST_F(CliLook, UnlockNeedsExactlyOneOfOwnerAndForce) {
  EXPECT_EQ(run(latchkey({"unlock", "a", "--force", "--owner", "x:1", uri()})), 64);
  EXPECT_NE(log().find("expected --force, or --owner ID"), std::string::npos) << log();
  EXPECT_EQ(run(latchkey({"unlock", "a", "--owner", "me", uri()})), 64);
  EXPECT_NE(log().find("--owner 'me' is not the id of a holder; expected <uuid>:<number>"),
            std::string::npos)
      << log();
}

TEST_F(CliLook, RevokeExitsWith1IfTheLockIsFreeOrNoHolderListens) {
  EXPECT_EQ(run(latchkey({"revoke", "a", uri()})), 1);
  EXPECT_EQ(log(), "latchkey: 'a' is not locked\n");
  const Holder other(*this, "a", "reentrant");
  const json lock = run_json({"revoke", "a", uri()});
  EXPECT_EQ(status_, 1);
  EXPECT_EQ(lock, (json{{"key", "a"}, {"locked", true}, {"told", 0}}));
  std::filesystem::remove(folder_.file("log"));
  EXPECT_EQ(run(latchkey({"revoke", "a", uri()})), 1);
  EXPECT_EQ(log(),
            "latchkey: 'a' is locked, and no holder listens: nobody was asked; latchkey unlock "
            "takes the lock from its holder\n");
  EXPECT_EQ(run(latchkey({"revoke", "a", "memory:"})), 1);
}

TEST_F(CliLook, RevokeAsksACommandThatRunsWithOnRevokeTermToEnd) {
  Process holder =
      start({"-k", "a", "--on-revoke", "term"},
            "trap 'exit 5' TERM; touch " + folder_.file("held") + "; while :; do sleep 0.05; done");
  await_file("held");
  await("a holder that listens", [&] {
    std::filesystem::remove(folder_.file("revoke"));
    return Process(latchkey({"revoke", "a", uri()}), folder_.file("revoke")).wait() == 0 ? ""
                                                                                         : "none";
  });
  EXPECT_TRUE(
      folder_.read("revoke").starts_with("a: asked 1 process to release it; nobody is forced\n"
                                         "  held by "))
      << folder_.read("revoke");
  EXPECT_EQ(holder.wait(), 5) << "its own status";
  EXPECT_NE(log().find("somebody asked for the lock; ending the command"), std::string::npos)
      << log();
  EXPECT_EQ(keys(), std::vector<std::string>{"latchkey_revoke:{a}"}) << "it ends by itself";
}

TEST_F(CliLook, ShowAndTopTellThatALockWasAskedFor) {
  const Locks locks = Locks::connect(uri());
  Hold hold = locks.lock("a").acquire(forever);
  EXPECT_EQ(run_json({"show", "a", uri()})["holders"][0]["revoked_ms"], json(nullptr));
  EXPECT_EQ(run_json({"top", "--once", uri()})["revoked_ms"], json(nullptr));
  EXPECT_FALSE(hold.revoked());
  await("a holder that listens",
        [&] { return run(latchkey({"revoke", "a", uri()})) == 0 ? "" : "none"; });
  EXPECT_GE(run_json({"show", "a", uri()})["holders"][0]["revoked_ms"], 0);
  EXPECT_GE(run_json({"ls", "--long", uri()})["holders"][0]["revoked_ms"], 0);
  EXPECT_GE(run_json({"top", "--once", uri()})["revoked_ms"], 0);
  std::filesystem::remove(folder_.file("log"));
  EXPECT_EQ(run(latchkey({"show", "a", uri()})), 0);
  EXPECT_NE(log().find(" left, asked to release it "), std::string::npos) << log();
  EXPECT_TRUE(hold.release());
  hold = locks.lock("a").acquire(forever);
  EXPECT_EQ(run_json({"top", "--once", uri()})["revoked_ms"], json(nullptr));
}

TEST_F(CliLook, RevokeIsRefusedForABackendThatCannotAsk) {
  EXPECT_EQ(run(latchkey({"revoke", "a", "redis+set://" + server().tcp_uri().substr(8)})), 64);
  EXPECT_NE(log().find("cannot ask a holder to release its lock; expected redis://"),
            std::string::npos)
      << log();
}

TEST_F(CliLook, HelpHasExamplesAndExitStatuses) {
  for (const char* command :
       {"run", "once", "ls", "show", "top", "revoke", "unlock", "ping", "check", "explain"}) {
    std::filesystem::remove(folder_.file("log"));
    EXPECT_EQ(run(latchkey({command, "--help"})), 0);
    EXPECT_NE(log().find("Examples:"), std::string::npos) << command << "\n" << log();
  }
  EXPECT_EQ(run(latchkey({"--help"})), 0);
  EXPECT_NE(log().find("70 a system call failed"), std::string::npos) << log();
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
