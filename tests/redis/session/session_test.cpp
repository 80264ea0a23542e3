// Order, deadlines and scripts of an established session.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "session_fixture.hpp"

namespace latchkey::detail::redis {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST_F(SessionTest, RequestsAreSentAtOnceAndRepliesArriveInOrder) {
  bring_up();
  const Request& first = submit(Verb::acquire, "a");
  const Request& second = submit(Verb::acquire, "b");
  EXPECT_THAT(names(), ElementsAre("EVALSHA a", "EVALSHA b"));
  say("_\r\n:0\r\n");
  ASSERT_EQ(sink.outcomes.size(), 2U);
  EXPECT_EQ(sink.outcomes[0].request, &first);
  EXPECT_EQ(sink.outcomes[0].kind, Kind::gone);
  EXPECT_EQ(sink.outcomes[1].request, &second);
  EXPECT_EQ(sink.outcomes[1].kind, Kind::granted);
  EXPECT_EQ(session.unanswered(), 0U);
}

TEST_F(SessionTest, RepliesMayBeSplitAnywhere) {
  bring_up();
  const std::string answers = "*2\r\n:30000\r\n$5\r\nowner\r\n:0\r\n-OOM no\r\n";
  for (std::size_t cut = 1; cut < answers.size(); ++cut) {
    for (const char* key : {"a", "b", "c"}) submit(Verb::acquire, key);
    sent();
    sink.outcomes.clear();
    say(answers.substr(0, cut));
    say(answers.substr(cut));
    ASSERT_EQ(sink.outcomes.size(), 3U) << cut;
    EXPECT_EQ(sink.outcomes[0].kind, Kind::busy);
    EXPECT_EQ(sink.outcomes[0].text, "owner");
    EXPECT_EQ(sink.outcomes[1].kind, Kind::granted);
    EXPECT_EQ(sink.outcomes[2].kind, Kind::refused);
  }
}

TEST_F(SessionTest, BytesBeingSentStayInPlace) {
  bring_up();
  submit(Verb::acquire, "a");
  const std::string_view leaving = session.to_send();
  const std::string before(leaving);
  for (int more = 0; more < 100; ++more) submit(Verb::acquire, "b");
  EXPECT_EQ(leaving, before);
  EXPECT_EQ(session.to_send().data(), leaving.data());
  session.sent(10);
  EXPECT_EQ(session.to_send(), before.substr(10));
  parser.feed(before.substr(0, 10));
  EXPECT_EQ(names().size(), 101U);
}

TEST_F(SessionTest, AnOverdueRequestIsUnknownAndItsReplyIsDropped) {
  bring_up();
  submit(Verb::acquire, "a");
  sent();
  pass(1999ms);
  EXPECT_TRUE(sink.outcomes.empty());
  EXPECT_EQ(session.due(), now + 1ms);
  pass(1ms);
  ASSERT_EQ(sink.outcomes.size(), 1U);
  EXPECT_EQ(sink.outcomes[0].kind, Kind::unknown);
  EXPECT_EQ(sink.outcomes[0].text, "no answer within 2000 ms");
  const Request& later_one = submit(Verb::verify, "a");
  sent();
  say(":0\r\n");  // the reply to the overdue request
  EXPECT_EQ(sink.outcomes.size(), 1U);
  say("_\r\n");
  ASSERT_EQ(sink.outcomes.size(), 2U);
  EXPECT_EQ(sink.outcomes[1].request, &later_one);
  EXPECT_EQ(sink.outcomes[1].kind, Kind::gone);
}

TEST_F(SessionTest, ASilentServerIsGivenUpAfterTwoTimeouts) {
  bring_up();
  submit(Verb::acquire, "a");
  sent();
  pass(3999ms);
  EXPECT_FALSE(session.trouble());
  EXPECT_EQ(session.due(), now + 1ms);
  pass(1ms);
  ASSERT_TRUE(session.trouble());
  EXPECT_EQ(session.trouble()->text, "the server has said nothing for 4000 ms");
}

TEST_F(SessionTest, ASlowServerIsNotGivenUp) {
  bring_up();
  submit(Verb::acquire, "a");
  submit(Verb::acquire, "b");
  sent();
  pass(3s);
  say(":0\r\n");
  pass(3s);
  EXPECT_FALSE(session.trouble());
  pass(1s);
  EXPECT_TRUE(session.trouble());
}

TEST_F(SessionTest, AnIdleServerIsNotGivenUp) {
  bring_up();
  pass(24h);
  EXPECT_FALSE(session.trouble());
  EXPECT_EQ(session.due(), Clock::never());
}

TEST_F(SessionTest, AfterNoscriptTheScriptsTextIsSent) {
  bring_up();
  const Request& request = submit(Verb::acquire, "a");
  sent();
  say("-NOSCRIPT No matching script. Please use EVAL.\r\n");
  const auto commands = sent();
  ASSERT_EQ(commands.size(), 1U);
  EXPECT_EQ(commands[0][0], "EVAL");
  EXPECT_EQ(commands[0][1], script_for(request).text);
  EXPECT_TRUE(sink.outcomes.empty());
  say(":0\r\n");
  ASSERT_EQ(sink.outcomes.size(), 1U);
  EXPECT_EQ(sink.outcomes[0].kind, Kind::granted);
}

TEST_F(SessionTest, AfterSeveralNoscriptsEachTextIsSent) {
  bring_up();
  for (const char* key : {"a", "b", "c"}) submit(Verb::acquire, key);
  sent();
  say("-NOSCRIPT x\r\n-NOSCRIPT x\r\n-NOSCRIPT x\r\n");
  EXPECT_THAT(names(), ElementsAre("EVAL a", "EVAL b", "EVAL c"));
  say("-NOSCRIPT still\r\n:0\r\n:0\r\n");  // no third attempt
  ASSERT_EQ(sink.outcomes.size(), 3U);
  EXPECT_EQ(sink.outcomes[0].kind, Kind::unknown);
}

TEST_F(SessionTest, AfterNoscriptAnAcquireIsNotRepeatedAfterItsRelease) {
  bring_up();
  submit(Verb::acquire, "a", 7);
  submit(Verb::acquire, "a", 8);
  submit(Verb::leave, "a", 7);
  sent();
  say("-NOSCRIPT x\r\n-NOSCRIPT x\r\n-NOSCRIPT x\r\n");
  EXPECT_THAT(names(), ElementsAre("EVAL a", "EVAL a"));
  ASSERT_EQ(sink.outcomes.size(), 1U);
  EXPECT_EQ(sink.outcomes[0].kind, Kind::unknown);
  EXPECT_THAT(sink.outcomes[0].text, HasSubstr("a release followed"));
}

TEST_F(SessionTest, AListContinuesUntilItsLastPage) {
  bring_up();
  std::vector<std::string> found;
  request(Verb::list, "*").names = &found;
  Request* const one[] = {&requests.back()};
  session.submit(one, sink, now);
  sent();
  pass(1900ms);
  say("*2\r\n$2\r\n42\r\n$1\r\nb\r\n");
  EXPECT_TRUE(sink.outcomes.empty());
  const auto commands = sent();
  ASSERT_EQ(commands.size(), 1U);
  EXPECT_EQ(commands[0][3], "42");
  pass(1900ms);  // each page has its own timeout
  say("*3\r\n$1\r\n0\r\n$1\r\na\r\n$1\r\nb\r\n");
  ASSERT_EQ(sink.outcomes.size(), 1U);
  EXPECT_THAT(found, ElementsAre("a", "b"));
}

TEST_F(SessionTest, InvalidNamesAreRejectedInOrder) {
  bring_up();
  submit(Verb::acquire, "a");
  const Request& bad = submit(Verb::acquire, "{}x");
  submit(Verb::acquire, "b");
  EXPECT_THAT(names(), ElementsAre("EVALSHA a", "EVALSHA b"));
  say(":0\r\n:0\r\n");
  ASSERT_EQ(sink.outcomes.size(), 3U);
  const auto refused =
      std::ranges::find(sink.outcomes, &bad, &RecordingSink::RecordedOutcome::request);
  EXPECT_EQ(refused->kind, Kind::refused);
  EXPECT_FALSE(refused->text.empty());
  EXPECT_EQ(session.unanswered(), 0U);
}

TEST_F(SessionTest, ARejectedRequestIsNotSent) {
  bring_up();
  const Member members[] = {{"a", LockType::REENTRANT, {{1, 2}, 3}},
                            {"redisson_lock_queue:{a}", LockType::REENTRANT, {{1, 2}, 4}}};
  Request& all = request(Verb::acquire_all, "a");
  all.members = members;
  Request* const one[] = {&all};
  session.submit(one, sink, now);
  drain();
  ASSERT_EQ(sink.outcomes.size(), 1U);
  EXPECT_THAT(sink.outcomes[0].text, HasSubstr("the name 'redisson_lock_queue:{a}' begins with"));
  EXPECT_EQ(session.unanswered(), 0U);
  pass(24h);
  EXPECT_FALSE(session.trouble());
}

TEST_F(SessionTest, AnUnexpectedReplyEndsTheConnection) {
  bring_up();
  say("+OK\r\n");
  ASSERT_TRUE(session.trouble());
  EXPECT_THAT(session.trouble()->text, HasSubstr("nobody asked for"));
}

TEST_F(SessionTest, MalformedBytesEndTheConnection) {
  bring_up();
  submit(Verb::acquire, "a");
  sent();
  say("hello\r\n");
  ASSERT_TRUE(session.trouble());
  EXPECT_FALSE(session.trouble()->permanent);
  EXPECT_THAT(session.trouble()->text, HasSubstr("not RESP3"));
  EXPECT_TRUE(sink.outcomes.empty()) << "malformed bytes decide no outcome";
}

TEST_F(SessionTest, AnOversizedReplyEndsTheConnectionWithoutAllocating) {
  bring_up();
  submit(Verb::acquire, "a");
  sent();
  say("*2000000000\r\n");
  EXPECT_TRUE(session.trouble());
}

TEST_F(SessionTest, ReportsUnsentBytesAndTheServersBacklog) {
  connect();
  EXPECT_GT(session.unsent(), 0U) << "the handshake counts, too";
  settle();
  EXPECT_EQ(session.unsent(), 0U);
  submit(Verb::acquire, "a");
  EXPECT_FALSE(session.is_working());
  const std::size_t one = session.unsent();
  EXPECT_GT(one, 0U);
  sent();
  EXPECT_EQ(session.unsent(), 0U);
  EXPECT_TRUE(session.is_working());
  EXPECT_EQ(session.backlog(), 0U) << "it works on that one";
  submit(Verb::acquire, "b", 2);
  EXPECT_EQ(session.backlog(), 0U);
  sent();
  EXPECT_EQ(session.backlog(), one);
  say(":0\r\n");
  EXPECT_TRUE(session.is_working());
  EXPECT_EQ(session.backlog(), 0U);
  say(":0\r\n");
  EXPECT_FALSE(session.is_working());
}

class SessionWithAReplica : public SessionTest,
                            public ::testing::WithParamInterface<const char*> {};

TEST_P(SessionWithAReplica, ReadonlyEndsTheConnection) {
  bring_up();
  submit(Verb::acquire, "k");
  sent();
  say(GetParam());
  ASSERT_EQ(sink.outcomes.size(), 1U);
  EXPECT_EQ(sink.outcomes[0].kind, Kind::unknown);
  ASSERT_TRUE(session.trouble());
  EXPECT_THAT(session.trouble()->text, HasSubstr("a replica, which grants no locks"));
}

INSTANTIATE_TEST_SUITE_P(
    Redis, SessionWithAReplica,
    ::testing::Values("-READONLY You can't write against a read only replica. script: f00, on "
                      "@user_script:1.\r\n",
                      "-ERR Error running script (call to f_f00): @user_script:1: @user_script: 1: "
                      "-READONLY You can't write against a read only replica. \r\n"));

// Such as a quorum sends if a server was slow: none of them leaves a hold.
TEST_F(SessionTest, AReleaseWithAnotherBehindItIsRepeatedIfItsScriptIsLost) {
  bring_up();
  Request& first = request(Verb::release, "k");
  Request& second = request(Verb::leave, "k");
  second.id = first.id;
  Request* const both[] = {&first, &second};
  session.submit(both, sink, now);
  sent();
  say("-NOSCRIPT x\r\n-NOSCRIPT x\r\n");
  EXPECT_THAT(names(), ElementsAre("EVAL k", "EVAL k"));
  EXPECT_TRUE(sink.outcomes.empty());
}

}  // namespace
}  // namespace latchkey::detail::redis
