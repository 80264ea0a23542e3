// The conversation with a server that comes and goes: handshake, loss, the next connection.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "link_fixture.hpp"

namespace latchkey::detail::redis {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr const char* nobody = "9223372036854775807";

TEST_F(LinkTest, TheFirstWordsAreTheHandshakeAndRequestsWaitForItsEnd) {
  submit(Verb::acquire, "a");
  connect();
  EXPECT_THAT(heard(), ElementsAre(ElementsAre("HELLO", "3", "SETNAME", "tester"),
                                   ElementsAre("INFO", "server")));
  say(testing::hello_answer(11, "run"));
  EXPECT_THAT(heard(), ElementsAre(ElementsAre("CLIENT", "KILL", "ID", nobody)));
  say(":0\r\n");
  EXPECT_EQ(link.stage(), Link::Stage::up);
  EXPECT_TRUE(link.may_kill());
  EXPECT_THAT(names(), ElementsAre("EVALSHA a"));
  EXPECT_THAT(sink.notes, IsEmpty()) << "the first connection is no news";
}

class LoginTest : public LinkTest {
 protected:
  LoginTest()
      : LinkTest({.user = "me", .password = "secret", .client_name = "tester", .database = 3}) {}
};

TEST_F(LoginTest, UserPasswordAndDatabase) {
  connect();
  EXPECT_THAT(heard()[0], ElementsAre("HELLO", "3", "AUTH", "me", "secret", "SETNAME", "tester"));
  say(testing::hello_answer(11, "run"));
  EXPECT_THAT(names(), ElementsAre("SELECT", "CLIENT"));
  say("+OK\r\n:0\r\n");
  EXPECT_EQ(link.stage(), Link::Stage::up);
}

TEST_F(LoginTest, AWrongPasswordIsARefusalWithoutIt) {
  connect();
  heard();
  say("-WRONGPASS invalid username-password pair or user is disabled.\r\n");
  ASSERT_TRUE(link.trouble());
  EXPECT_TRUE(link.trouble()->refused);
  EXPECT_THAT(link.trouble()->text, HasSubstr("user or password is wrong"));
  EXPECT_THAT(link.trouble()->text, Not(HasSubstr("secret")));
}

TEST_F(LoginTest, ADatabaseThatIsNotThere) {
  connect();
  heard();
  say(testing::hello_answer(11, "run"));
  heard();
  say("-ERR DB index is out of range\r\n:0\r\n");
  ASSERT_TRUE(link.trouble());
  EXPECT_TRUE(link.trouble()->refused);
  EXPECT_THAT(link.trouble()->text, HasSubstr("refused database 3: ERR DB index"));
}

class PasswordTest : public LinkTest {
 protected:
  PasswordTest()
      : LinkTest({.user = "", .password = "secret", .client_name = "tester", .database = 0}) {}
};

TEST_F(PasswordTest, APasswordAloneIsTheDefaultUsers) {
  connect();
  EXPECT_THAT(heard()[0],
              ElementsAre("HELLO", "3", "AUTH", "default", "secret", "SETNAME", "tester"));
}

struct Greeting {
  const char* answer;
  const char* text;
  bool refused;
};

TEST_F(LinkTest, EachGreetingThatIsNoneHasItsSentence) {
  constexpr Greeting greetings[] = {
      {"-NOAUTH HELLO must be called with the client already authenticated\r\n",
       "asks for a password, and the URI has none", true},
      {"-ERR unknown command `HELLO`, with args beginning with: `3`,\r\n", "speaks no RESP3", true},
      {"-NOPROTO unsupported protocol version\r\n", "speaks no RESP3", true},
      {"-NOPERM User bob has no permissions to run the 'hello' command\r\n",
       "NOPERM this user has no permissions", true},
      {"-ERR max number of clients reached\r\n", "takes no more clients", false},
      {"HTTP/1.1 400 Bad Request\r\n\r\n", "is no Redis server", true},
      {"SSH-2.0-OpenSSH_9.2\r\n", "is no Redis server", true},
      {"+OK\r\n", "is no Redis server", true},
      {"*1\r\n$5\r\nhello\r\n", "is no Redis server", true},
  };
  for (const Greeting& greeting : greetings) {
    SCOPED_TRACE(greeting.answer);
    connect_after_pause();
    heard();
    say(greeting.answer);
    ASSERT_TRUE(link.trouble());
    EXPECT_THAT(link.trouble()->text, HasSubstr(greeting.text));
    EXPECT_THAT(link.trouble()->text, Not(HasSubstr("bob")));
    EXPECT_EQ(link.trouble()->refused, greeting.refused);
    link.failed(*link.trouble(), now);
  }
}

TEST_F(LinkTest, AReplicaIsNotSpokenTo) {
  connect();
  heard();
  say(testing::hello_answer(11, "run", "replica"));
  ASSERT_TRUE(link.trouble());
  EXPECT_THAT(link.trouble()->text, HasSubstr("is a replica"));
}

TEST_F(LinkTest, AHandshakeThatTakesTooLongIsGivenUp) {
  connect();
  pass(1999ms);
  EXPECT_FALSE(link.trouble());
  pass(1ms);
  EXPECT_TRUE(link.trouble());
}

TEST_F(LinkTest, WhatWasSentIsUnknownAndWhatWasNotWaitsForTheNextConnection) {
  bring_up();
  const Request& whole = submit(Verb::acquire, "whole");
  const std::string_view first = link.to_send();
  const std::size_t first_size = first.size();
  link.sent(first_size);
  submit(Verb::acquire, "half");
  submit(Verb::acquire, "none");
  static_cast<void>(link.to_send());
  link.sent(5);
  lose("the cable");
  ASSERT_EQ(sink.told.size(), 1U);
  EXPECT_EQ(sink.told[0].request, &whole);
  EXPECT_EQ(sink.told[0].kind, Kind::unknown);
  EXPECT_EQ(sink.told[0].text, "the cable");
  ASSERT_EQ(sink.notes.size(), 1U);
  EXPECT_EQ(sink.notes[0].kind, Notification::Kind::link_down);
  submit(Verb::acquire, "later");
  connect_after_pause();
  settle();
  EXPECT_THAT(names(), ElementsAre("EVALSHA half", "EVALSHA none", "EVALSHA later"));
  EXPECT_EQ(sink.notes.back().kind, Notification::Kind::link_up);
  say(":0\r\n:0\r\n:0\r\n");
  EXPECT_EQ(sink.told.size(), 4U);
}

TEST_F(LinkTest, TheNextConnectionEndsTheOneBefore) {
  bring_up();
  lose();
  connect_after_pause();
  heard();
  say(testing::hello_answer(12, "run"));
  EXPECT_THAT(heard(), ElementsAre(ElementsAre("CLIENT", "KILL", "ID", "11")));
}

TEST_F(LinkTest, TheOneBeforeIsEndedEvenIfAnotherCameBetween) {
  bring_up();
  lose();
  connect_after_pause();
  heard();
  say(testing::hello_answer(12, "run"));
  heard();
  lose();
  connect_after_pause();
  heard();
  say(testing::hello_answer(13, "run"));
  EXPECT_THAT(heard(), ElementsAre(ElementsAre("CLIENT", "KILL", "ID", "11")));
}

// A number of another run belongs to somebody else's connection.
TEST_F(LinkTest, AServerStartedAnewIsToldToEndNobody) {
  bring_up();
  lose();
  connect_after_pause();
  heard();
  say(testing::hello_answer(12, "another run"));
  EXPECT_THAT(heard(), ElementsAre(ElementsAre("CLIENT", "KILL", "ID", nobody)));
}

TEST_F(LinkTest, WithoutPermissionForClientKillThereIsNoOrderAcrossConnections) {
  connect();
  heard();
  say(testing::hello_answer(11, "run"));
  heard();
  say("-NOPERM no\r\n");
  EXPECT_EQ(link.stage(), Link::Stage::up);
  EXPECT_FALSE(link.may_kill());
  lose();
  connect_after_pause();
  heard();
  say(testing::hello_answer(12, "run"));
  heard();
  say("-NOPERM no\r\n");
  EXPECT_EQ(link.stage(), Link::Stage::up);
}

TEST_F(LinkTest, APermissionThatWasTakenAwayIsSaid) {
  bring_up();
  lose();
  connect_after_pause();
  heard();
  say(testing::hello_answer(12, "run"));
  heard();
  say("-NOPERM User bob has no permissions to run the 'client|kill' command\r\n");
  ASSERT_TRUE(link.trouble());
  EXPECT_THAT(link.trouble()->text, HasSubstr("no longer permits CLIENT KILL"));
}

TEST_F(LinkTest, SubscriptionsAreMadeAnewBeforeRequestsGoOut) {
  bring_up();
  submit(Verb::subscribe, "k", 0);
  heard();
  say("+PONG\r\n");
  lose();
  submit(Verb::acquire, "a");
  connect_after_pause();
  heard();
  say(testing::hello_answer(12, "run"));
  EXPECT_THAT(names(), ElementsAre("CLIENT", "SUBSCRIBE", "PING"));
  say(":1\r\n" + testing::push("subscribe", "redisson_lock__channel:{k}", 1) +
      testing::push("subscribe", "redisson_rwlock:{k}", 2));
  EXPECT_NE(link.stage(), Link::Stage::up);
  say("+PONG\r\n");
  EXPECT_EQ(link.stage(), Link::Stage::up);
  EXPECT_THAT(names(), ElementsAre("EVALSHA a"));
  say(testing::message("redisson_rwlock:{k}", "1"));
  EXPECT_EQ(sink.notes.back().key, "k");
}

TEST_F(LinkTest, SubscriptionsThatAreRefusedLaterDoNotKeepTheLinkDown) {
  bring_up();
  submit(Verb::subscribe, "k", 0);
  heard();
  say("+PONG\r\n");
  lose();
  connect_after_pause();
  heard();
  say(testing::hello_answer(12, "run"));
  heard();
  say(":1\r\n-NOPERM no channels\r\n");
  EXPECT_NE(link.stage(), Link::Stage::up);
  say("+PONG\r\n");
  EXPECT_EQ(link.stage(), Link::Stage::up);
}

TEST_F(LinkTest, ASubscriptionThatWasUnderWayIsUnknown) {
  bring_up();
  submit(Verb::subscribe, "k", 0);
  heard();
  lose();
  ASSERT_EQ(sink.told.size(), 1U);
  EXPECT_EQ(sink.told[0].kind, Kind::unknown);
}

TEST_F(LinkTest, WhatWaitsForAConnectionHasItsDeadlineAndIsToldWhyThereIsNone) {
  submit(Verb::acquire, "a");
  connect();
  link.failed(Failure{false, "connect: Connection refused"}, now);
  pass(timeout);
  ASSERT_EQ(sink.told.size(), 1U);
  EXPECT_EQ(sink.told[0].kind, Kind::unknown);
  EXPECT_EQ(sink.told[0].text, "connect: Connection refused");
  // It never goes out.
  connect_after_pause();
  settle();
  EXPECT_THAT(names(), IsEmpty());
  EXPECT_FALSE(link.waits_for_answers());
}

TEST_F(LinkTest, PausesBetweenAttemptsGrowAndStayShortWhileSomebodyWaits) {
  submit(Verb::acquire, "a");
  Clock::duration longest{};
  for (int attempt = 0; attempt < 12; ++attempt) {
    connect_after_pause();
    link.failed(Failure{false, "refused"}, now);
    EXPECT_FALSE(link.wants_connection(now));
    requests.back().sent = now;
    submit(Verb::acquire, "a");  // somebody waits all the time
    drain();
    longest = std::max(longest, link.due() - now);
  }
  EXPECT_GE(longest, 80ms);
  EXPECT_LE(longest, 240ms);
}

TEST_F(LinkTest, PausesAreLongerWhileNobodyWaitsAndEndWhenSomebodyComes) {
  for (int attempt = 0; attempt < 12; ++attempt) {
    connect_after_pause();
    link.failed(Failure{false, "refused"}, now);
  }
  EXPECT_GE(link.due() - now, 500ms);
  submit(Verb::acquire, "a");
  EXPECT_LE(link.due() - now, 240ms);
}

TEST_F(LinkTest, AConnectionThatLivedIsFollowedByAnotherAtOnce) {
  for (int attempt = 0; attempt < 8; ++attempt) {
    connect_after_pause();
    link.failed(Failure{false, "refused"}, now);
  }
  connect_after_pause();
  settle();
  pass(1s);
  lose();
  EXPECT_LE(link.due() - now, 15ms);
}

TEST_F(LinkTest, ALatePageOfAListStartsAnewElsewhere) {
  bring_up();
  std::vector<std::string> found;
  request(Verb::list, "*").names = &found;
  Request* const one[] = {&requests.back()};
  link.submit(one, sink, now);
  heard();
  say("*2\r\n$2\r\n42\r\n$1\r\nb\r\n");
  lose();  // before the question for page 42 was sent
  connect_after_pause();
  settle();
  const auto commands = heard();
  ASSERT_EQ(commands.size(), 1U);
  EXPECT_EQ(commands[0][3], "0");
}

TEST_F(LinkTest, AForkedChildKnowsNothingOfItsParentsConnection) {
  bring_up();
  submit(Verb::acquire, "a");
  submit(Verb::subscribe, "k", 0);
  heard();
  link.forget();
  drain();
  EXPECT_THAT(sink.told, IsEmpty());
  EXPECT_FALSE(link.waits_for_answers());
  EXPECT_FALSE(link.listens());
  connect();
  heard();
  say(testing::hello_answer(12, "run"));
  EXPECT_THAT(heard(), ElementsAre(ElementsAre("CLIENT", "KILL", "ID", nobody)))
      << "never the parent's";
}

}  // namespace
}  // namespace latchkey::detail::redis
