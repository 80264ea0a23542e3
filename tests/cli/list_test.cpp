// `latchkey ls` and `latchkey top --once`: lists of locks for people and for programs.
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <sstream>
#include <string>
#include <vector>

#include "cli/run_fixture.hpp"
#include "cli/terminal_emulator.hpp"

namespace latchkey::tests {
namespace {

using nlohmann::json;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

class CliList : public CliRun {
 protected:
  /// The lines that the tool prints, on stderr too, in alphabetical order.
  std::vector<std::string> lines(std::vector<std::string> words, int status = 0) {
    std::filesystem::remove(folder_.file("log"));
    EXPECT_EQ(run(latchkey(std::move(words))), status) << log();
    std::istringstream text(log());
    std::vector<std::string> all;
    for (std::string line; std::getline(text, line);) all.push_back(line);
    std::ranges::sort(all);
    return all;
  }
  static void make_locks(int count) {
    server().client()({"EVAL",
                       "for i = 1, ARGV[1] do redis.call('HSET', 'order:' .. i, "
                       "'6ad76760-e86c-4273-a5a4-ad3e58e61a2b:' .. i, 1) end",
                       "0", std::to_string(count)});
  }
  static void make_hashes(int count) {
    server().client()({"EVAL",
                       "for i = 1, ARGV[1] do redis.call('HSET', 'customer:' .. i, 'name', i) end",
                       "0", std::to_string(count)});
  }
};

TEST_F(CliList, PrintsTheKeysThatMatch) {
  make_locks(3);
  make_hashes(3);
  EXPECT_THAT(lines({"ls", uri()}), ElementsAre("order:1", "order:2", "order:3"));
  EXPECT_THAT(lines({"ls", "order:[12]", uri()}), ElementsAre("order:1", "order:2"));
  EXPECT_THAT(lines({"ls", uri(), "order:[12]"}), ElementsAre("order:1", "order:2"));
  EXPECT_THAT(lines({"ls", "customer:*", uri()}), IsEmpty());
  EXPECT_THAT(lines({"ls", "1", "--prefix", "order:", uri()}), ElementsAre("1"));
  EXPECT_THAT(lines({"ls", "--json", "order:1", uri()}), ElementsAre(R"({"key":"order:1"})"));
}

// Redisson accepts such a name, and latchkey does not.
TEST_F(CliList, ALockWithANameThatIsRefusedDoesNotEndALongList) {
  make_locks(1);
  server().client()({"HSET", "ord}er", "6ad76760-e86c-4273-a5a4-ad3e58e61a2b:9", "1"});
  const std::vector<std::string> both = lines({"ls", "--long", uri()}, 77);
  EXPECT_THAT(both, Contains(HasSubstr("order:1")));
  EXPECT_THAT(both, Contains(HasSubstr("the name 'ord}er' has braces that make no hash tag")));
}

TEST_F(CliList, PrintsEachLockOfManyOnce) {
  make_locks(2'000);
  EXPECT_THAT(lines({"ls", uri()}), SizeIs(2'000));
}

TEST_F(CliList, PrintsHoldersAndWaitersIfTold) {
  const Holder other(*this, "a", "fair");
  Process waiter(latchkey_run(uri(), {"-k", "a", "-t", "fair"}, "true"), folder_.file("waiter"));
  await("a place in the queue", [] {
    return server().client()({"LLEN", "redisson_lock_queue:{a}"}).integer() == 1 ? "" : "none";
  });
  const json lock = json::parse(lines({"ls", "--long", "--json", "--prefix", "", uri()}).at(0));
  EXPECT_EQ(lock["key"], "a");
  EXPECT_EQ(lock["waiters"], 1);
  EXPECT_EQ(lock["queue"].size(), 1U);
  EXPECT_EQ(lock["holders"].size(), 1U);
  EXPECT_THAT(lines({"ls", "-l", uri()}).back(), HasSubstr("a: locked"));
}

TEST_F(CliList, StopsAtItsLimitAndSaysHowToGoOn) {
  make_hashes(3'000);
  const std::vector<std::string> said = lines({"ls", "--limit", "600", uri()});
  ASSERT_THAT(said, SizeIs(1));
  EXPECT_THAT(said[0], HasSubstr("scanned 20% of about 3000 keys"));
  EXPECT_THAT(said[0], HasSubstr("expected --all"));
  EXPECT_THAT(lines({"ls", "--limit", "600", "--all", uri()}), IsEmpty());
}

TEST_F(CliList, ExaminesAtMostSoManyKeysInASecond) {
  make_hashes(3'000);
  const auto start = std::chrono::steady_clock::now();
  EXPECT_THAT(lines({"ls", "--rate", "1000", uri()}), IsEmpty());
  EXPECT_GT(std::chrono::steady_clock::now() - start, std::chrono::seconds(2));
}

TEST_F(CliList, ShowsItsProgressAtATerminal) {
  make_hashes(3'000);
  const TerminalEmulator terminal(
      folder_, 80, 24, LATCHKEY_TOOL " ls --rate 300 " + uri() + "; echo status=$?; exec cat");
  terminal.await_text("% of about 3000 keys");
  terminal.press({"C-c"});
}

TEST_F(CliList, ABackendThatCannotListIsAnErrorInOneLine) {
  RedisServer second;
  RedisServer third;
  const std::string quorum = "quorum:" + uri() + ' ' + second.unix_uri() + ' ' + third.unix_uri();
  const std::vector<std::string> said = lines({"ls", quorum}, 77);
  ASSERT_THAT(said, SizeIs(1));
  EXPECT_THAT(said[0], HasSubstr(" refused: a quorum offers no list: ask its servers one by one"));
  EXPECT_THAT(lines({"top", "--once", quorum}, 77), SizeIs(1));
  EXPECT_THAT(lines({"ls", "memory:"}), IsEmpty());
}

TEST_F(CliList, TopOnceIsOneTable) {
  make_locks(3);
  const Holder other(*this, "a", "reentrant");
  Process waiter(latchkey_run(uri(), {"-k", "a"}, "true"), folder_.file("waiter"));
  await("a waiter", [] {
    return server().client()({"PUBSUB", "CHANNELS", "redisson_lock__channel:*"}).list().empty()
               ? "none"
               : "";
  });
  EXPECT_EQ(run(latchkey({"top", "--once", uri()})), 0);
  std::istringstream table(log());
  std::string line;
  std::getline(table, line);
  EXPECT_THAT(line, StartsWith("KEY "));
  std::getline(table, line);
  EXPECT_THAT(line, StartsWith("a "));
  EXPECT_THAT(line, HasSubstr("REENTRANT     1 100%"));
  EXPECT_THAT(lines({"top", "--once", "--rows", "2", "--sort", "key", uri()}), SizeIs(3));
  const json row = json::parse(lines({"top", "--json", "--filter", "a", uri()}).at(0));
  for (const char* name : {"key", "type", "holder", "holders", "held_ms", "held_longer",
                           "lease_left_ms", "waiters", "contention_percent"}) {
    EXPECT_TRUE(row.contains(name)) << name;
  }
  EXPECT_EQ(row["waiters"], 1);
}

TEST_F(CliList, TopOnceFiltersByTheHolderToo) {
  make_locks(3);
  const Holder other(*this, "a", "reentrant");
  const std::string holder =
      json::parse(lines({"show", "a", "--json", uri()}).at(0))["holders"][0]["announced"];
  const std::vector<std::string> rows = lines({"top", "--json", "--filter", holder, uri()});
  ASSERT_THAT(rows, SizeIs(1));
  EXPECT_EQ(json::parse(rows[0])["key"], "a");
}

TEST_F(CliList, APatternMayLookLikeAUri) {
  make_locks(1);
  EXPECT_THAT(lines({"ls", "memory:*", uri()}), IsEmpty());
  EXPECT_THAT(lines({"ls", uri()}), SizeIs(1));
}

TEST_F(CliList, InvalidOptionsOfTopExitWith64) {
  EXPECT_THAT(lines({"top", uri()}, 64).at(0), HasSubstr("expected --once or --json"));
  EXPECT_THAT(lines({"top", "--once", "--sort", "age", uri()}, 64).at(0),
              HasSubstr("expected contention, waiters, held, left or key"));
  EXPECT_THAT(lines({"top", "--once", "--sort", "held", uri()}, 64).at(0),
              HasSubstr("expected contention, waiters, left or key"));
  EXPECT_THAT(lines({"top", "--interval", "10ms", uri()}, 64).at(0),
              HasSubstr("expected 500ms or more"));
  EXPECT_THAT(lines({"top", "redis://127.0.0.1:1", "--once"}, 69), SizeIs(1));
}

}  // namespace
}  // namespace latchkey::tests
