// Parses replies into outcomes, including replies that no script returns.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "redis/protocol/script_call.hpp"
#include "support/allocations.hpp"

namespace latchkey::detail::redis {
namespace {

using Kind = Outcome::Kind;
using std::chrono::milliseconds;

struct FreeReply {
  void operator()(redisReply* reply) const { freeReplyObject(reply); }
};
using ReplyPointer = std::unique_ptr<redisReply, FreeReply>;

/// Parses a server's reply with hiredis.
ReplyPointer parse(std::string_view bytes) {
  redisReader* const reader = redisReaderCreate();
  void* reply = nullptr;
  redisReaderFeed(reader, bytes.data(), bytes.size());
  EXPECT_EQ(redisReaderGetReply(reader, &reply), REDIS_OK) << bytes;
  redisReaderFree(reader);
  EXPECT_NE(reply, nullptr) << bytes;
  return ReplyPointer(static_cast<redisReply*>(reply));
}

Outcome read(std::string_view bytes, Verb verb = Verb::acquire) {
  LockInfo info;
  std::vector<std::string> names;
  Request request;
  request.verb = verb;
  request.key = "k";
  request.info = &info;
  request.names = &names;
  return read_outcome(request, *parse(bytes));
}

Outcome error(std::string_view text) { return read("-" + std::string(text) + "\r\n"); }

TEST(ScriptReply, IntegersNilAndPairsAreParsed) {
  EXPECT_EQ(read(":0\r\n").kind, Kind::granted);
  EXPECT_EQ(read(":0\r\n").token, 0U);
  EXPECT_EQ(read(":1792000000000001\r\n").token, 1'792'000'000'000'001U);
  EXPECT_EQ(read("$-1\r\n", Verb::release).kind, Kind::gone);
  EXPECT_EQ(read("_\r\n", Verb::release).kind, Kind::gone);
  const Outcome busy = read("*2\r\n:1500\r\n$7\r\nowner:1\r\n");
  EXPECT_EQ(busy.kind, Kind::busy);
  EXPECT_EQ(busy.retry_after, milliseconds(1'500));
  EXPECT_EQ(busy.holder, "owner:1");
  EXPECT_EQ(read("*2\r\n:-1\r\n$13\r\nowner:1:write\r\n").retry_after, std::nullopt);
  EXPECT_EQ(read("*2\r\n:-1\r\n$13\r\nowner:1:write\r\n").holder, "owner:1");
  EXPECT_EQ(read("*2\r\n:0\r\n$0\r\n\r\n").retry_after, milliseconds(1));
}

TEST(ScriptReply, BusyTellsThePlaceAndWhetherItIsNearTheFront) {
  const auto busy = [](std::string_view place, std::string_view near) {
    return read("*4\r\n:1500\r\n$7\r\nowner:1\r\n:" + std::string(place) +
                "\r\n:" + std::string(near) + "\r\n");
  };
  EXPECT_EQ(busy("7", "1").place, 7U);
  EXPECT_TRUE(busy("7", "1").near_front);
  EXPECT_FALSE(busy("7", "0").near_front);
  EXPECT_FALSE(busy("0", "1").near_front) << "it has no place";
  EXPECT_FALSE(read("*3\r\n:1500\r\n$7\r\nowner:1\r\n:7\r\n").near_front) << "FAIR";
}

// The owner's UUID of a Redisson client has version 4, latchkey's has version 8.
TEST(ScriptReply, BusyTellsWhetherTheHolderIsARedissonClient) {
  const auto held_by = [](std::string_view uuid) {
    return read("*2\r\n:30000\r\n$38\r\n" + std::string(uuid) + ":7\r\n");
  };
  const Outcome redisson = held_by("4f1c2d3e-0a1b-4c2d-8e3f-001122334455");
  EXPECT_TRUE(redisson.holder_is_foreign);
  EXPECT_EQ(redisson.retry_after, milliseconds(1'000));
  const Outcome latchkey = held_by("4f1c2d3e-0a1b-8c2d-8e3f-001122334455");
  EXPECT_FALSE(latchkey.holder_is_foreign);
  EXPECT_EQ(latchkey.retry_after, milliseconds(30'000));
}

TEST(ScriptReply, ErrorsAreExplainedAndQuoteTheServersText) {
  const auto expect = [](std::string_view reply, Kind kind, std::string_view text) {
    const Outcome outcome = error(reply);
    EXPECT_EQ(outcome.kind, kind) << reply;
    EXPECT_EQ(outcome.reason, text);
  };
  expect(
      "WRONGTYPE Operation against a key holding the wrong kind of value", Kind::refused,
      "the key holds something that is not a lock (WRONGTYPE Operation against a key holding the "
      "wrong kind of value)");
  expect("NOAUTH Authentication required.", Kind::refused,
         "the server demands a password (NOAUTH Authentication required)");
  expect("MOVED 3999 127.0.0.1:6381", Kind::refused,
         "the server is one node of a cluster and another has this key (MOVED 3999 "
         "127.0.0.1:6381)");
  expect("ERR unknown command 'EVALSHA', with args beginning with: ", Kind::refused,
         "the server does not offer a command that locks need, EVALSHA (ERR unknown command "
         "'EVALSHA')");
  expect("", Kind::refused, "the server said: ");
}

TEST(ScriptReply, TheScriptsDigestAndLineAreRemoved) {
  // Redis 7 appends them to the error, Redis 6 prepends them.
  for (const std::string_view text :
       {"OOM command not allowed when used memory > 'maxmemory'. script: "
        "0123456789012345678901234567890123456789, on @user_script:12.",
        "ERR Error running script (call to f_0123456789012345678901234567890123456789): "
        "@user_script:12: OOM command not allowed when used memory > 'maxmemory'",
        "ERR Error running script (call to f_0123456789012345678901234567890123456789): "
        "@user_script:12: @user_script: 12: -OOM command not allowed when used memory > "
        "'maxmemory'. "}) {
    const Outcome outcome = error(text);
    EXPECT_EQ(outcome.kind, Kind::refused);
    EXPECT_TRUE(outcome.reason.starts_with("the server is out of memory (")) << outcome.reason;
    EXPECT_TRUE(outcome.reason.ends_with("OOM command not allowed when used memory > 'maxmemory')"))
        << outcome.reason;
  }
}

TEST(ScriptReply, ScriptErrorsOfRedis6MeanTheSame) {
  const std::string before =
      "ERR Error running script (call to f_0123456789012345678901234567890123456789): "
      "@user_script:12: @user_script: 12: ";
  const Outcome replica = error(before + "-READONLY You can't write against a read only replica. ");
  EXPECT_EQ(replica.kind, Kind::unknown);
  EXPECT_EQ(replica.reason,
            "the server is a replica, which grants nothing (READONLY You can't write against a "
            "read only replica)");
  const Outcome forbidden =
      error(before + "The user executing the script can't run this command or subcommand ");
  EXPECT_EQ(forbidden.kind, Kind::refused);
  EXPECT_EQ(forbidden.reason,
            "the user of this connection lacks a permission (The user executing the script can't "
            "run this command or subcommand)");
}

TEST(ScriptReply, TransientErrorsAreUnknown) {
  for (const std::string_view text :
       {"LOADING Redis is loading the dataset in memory",
        "BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.",
        "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.",
        "CLUSTERDOWN Hash slot not served", "TRYAGAIN Multiple keys request during rehashing",
        "ASK 3999 127.0.0.1:6381", "READONLY You can't write against a read only replica.",
        "NOREPLICAS Not enough good replicas to write.",
        "MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist",
        "NOSCRIPT No matching script. Please use EVAL."}) {
    const Outcome outcome = error(text);
    EXPECT_EQ(outcome.kind, Kind::unknown) << text;
    EXPECT_NE(outcome.reason.find(text.substr(0, text.find(' '))), std::string::npos);
    EXPECT_FALSE(outcome.reason.ends_with('.'));
  }
}

TEST(ScriptReply, OnlyAMissingScriptIsNoscript) {
  EXPECT_TRUE(is_noscript(*parse("-NOSCRIPT No matching script. Please use EVAL.\r\n")));
  EXPECT_FALSE(is_noscript(*parse("-ERR NOSCRIPT\r\n")));
  EXPECT_FALSE(is_noscript(*parse("+NOSCRIPT\r\n")));
}

TEST(ScriptReply, MalformedRepliesHaveAnOutcome) {
  for (const std::string_view bytes :
       {"+OK\r\n", "$2\r\nab\r\n", "*0\r\n", "*1\r\n:1\r\n", "*3\r\n:1\r\n:2\r\n:3\r\n",
        "*2\r\n$1\r\na\r\n$1\r\nb\r\n", "%1\r\n:1\r\n:2\r\n", ",1.5\r\n", "#t\r\n",
        "~1\r\n:1\r\n"}) {
    for (const Verb verb : {Verb::acquire, Verb::release, Verb::inspect}) {
      const Outcome outcome = read(bytes, verb);
      EXPECT_EQ(outcome.kind, Kind::unknown) << bytes;
      EXPECT_EQ(outcome.reason, "the server answered with what no script of latchkey's returns");
    }
  }
  EXPECT_EQ(read("*2\r\n:1\r\n$1\r\na\r\n", Verb::release).kind, Kind::unknown);
  // The outer array is like that of an inspect, its elements are not.
  EXPECT_EQ(read("*4\r\n:1\r\n:2\r\n:3\r\n:4\r\n", Verb::inspect).kind, Kind::granted);
}

TEST(ScriptReply, ATokenIsTheLastOfThoseThatWereReserved) {
  Request request;
  request.verb = Verb::acquire;
  request.key = "k";
  request.type = LockType::FENCED;
  request.tokens = 64;
  for (const std::string_view bytes : {":0\r\n", ":-1\r\n", ":63\r\n"}) {
    EXPECT_EQ(read_outcome(request, *parse(bytes)).kind, Kind::unknown) << bytes;
  }
  EXPECT_EQ(read_outcome(request, *parse(":64\r\n")).token, 64U);
}

TEST(ScriptReply, APageOfAListHasTheNextCursor) {
  std::vector<std::string> names;
  Request request;
  request.verb = Verb::list;
  request.names = &names;
  const auto first = parse("*3\r\n$2\r\n17\r\n$1\r\nb\r\n$1\r\na\r\n");
  EXPECT_EQ(read_outcome(request, *first).kind, Kind::granted);
  EXPECT_EQ(list_cursor(*first), 17U);
  const auto last = parse("*3\r\n$1\r\n0\r\n$1\r\nc\r\n$1\r\nb\r\n");
  EXPECT_EQ(read_outcome(request, *last).kind, Kind::granted);
  EXPECT_EQ(list_cursor(*last), 0U);
  EXPECT_EQ(names, (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ(list_cursor(*parse("-ERR no\r\n")), 0U);
}

TEST(ScriptReply, APartOfAListHasTheNumberOfKeys) {
  std::vector<std::string> names;
  ListPart part;
  Request request;
  request.verb = Verb::list;
  request.names = &names;
  request.part = &part;
  EXPECT_EQ(read_outcome(request, *parse("*3\r\n$2\r\n17\r\n:900\r\n$1\r\nb\r\n")).kind,
            Kind::granted);
  EXPECT_EQ(part.cursor.position, 17U);
  EXPECT_EQ(part.examined, 256U);
  EXPECT_EQ(part.total, 900U);
  part.awaited = true;
  EXPECT_EQ(read_outcome(request, *parse("*4\r\n$1\r\n0\r\n:1\r\n$1\r\na\r\n:7\r\n")).kind,
            Kind::granted);
  EXPECT_EQ(part.cursor, ListCursor{});
  EXPECT_EQ(part.waiters, std::vector<std::uint64_t>{7});
  EXPECT_EQ(names, (std::vector<std::string>{"b", "a"}));
  EXPECT_EQ(read_outcome(request, *parse("*1\r\n$1\r\n0\r\n")).kind, Kind::unknown);
}

TEST(ScriptReply, GrantedAndGoneAllocateNothing) {
  if (!tests::counts_allocations()) GTEST_SKIP() << "the sanitizer's heap is not counted";
  const auto granted = parse(":1792000000000001\r\n"), gone = parse("_\r\n");
  const Request request;
  const std::size_t before = tests::allocations();
  const bool right = read_outcome(request, *granted).kind == Kind::granted &&
                     read_outcome(request, *gone).kind == Kind::gone;
  EXPECT_EQ(tests::allocations(), before);
  EXPECT_TRUE(right);
}

}  // namespace
}  // namespace latchkey::detail::redis
