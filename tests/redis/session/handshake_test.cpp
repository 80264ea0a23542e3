// The handshake, and the error messages of handshakes that fail.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "session_fixture.hpp"

namespace latchkey::detail::redis {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

TEST_F(SessionTest, RequestsWaitUntilTheHandshakeHasSettled) {
  submit(Verb::acquire, "a");
  connect();
  EXPECT_THAT(sent(),
              ElementsAre(ElementsAre("HELLO", "3", "SETNAME", "tester"), ElementsAre("INFO")));
  say(testing::hello_answer(11, "run"));
  EXPECT_THAT(sent(), ElementsAre(ElementsAre("CLIENT", "KILL", "ID", no_client),
                                  ElementsAre("HDEL", "latchkey_probe", "")));
  say(":0\r\n:0\r\n");
  EXPECT_EQ(session.stage(), Session::Stage::up);
  EXPECT_TRUE(session.may_kill());
  EXPECT_THAT(names(), ElementsAre("EVALSHA a"));
  EXPECT_THAT(sink.notifications, IsEmpty()) << "the first connection is not reported";
}

TEST_F(SessionTest, AServerThatMayEvictHeldLocksIsReportedByAWarning) {
  const auto warning_for = [this](std::string_view memory) {
    connect_after_pause();
    sent();
    say(testing::hello_answer(11, "run", "master", memory));
    lose();
    return session.warning();
  };
  EXPECT_EQ(warning_for("maxmemory:0\r\nmaxmemory_policy:allkeys-lru\r\n"), "");
  EXPECT_EQ(warning_for("maxmemory:1000\r\nmaxmemory_policy:noeviction\r\n"), "");
  EXPECT_EQ(warning_for("maxmemory:1000\r\n"), "");
  EXPECT_THAT(
      warning_for("maxmemory:1000\r\nmaxmemory_policy:volatile-ttl\r\n"),
      AllOf(HasSubstr("may evict held locks"), HasSubstr("volatile-ttl"), HasSubstr("noeviction")));
}

class LoginTest : public SessionTest {
 protected:
  LoginTest()
      : SessionTest({.user = "me", .password = "secret", .client_name = "tester", .database = 3}) {}
};

TEST_F(LoginTest, UserPasswordAndDatabase) {
  connect();
  EXPECT_THAT(sent()[0], ElementsAre("HELLO", "3", "AUTH", "me", "secret", "SETNAME", "tester"));
  say(testing::hello_answer(11, "run"));
  EXPECT_THAT(names(), ElementsAre("SELECT", "CLIENT", "HDEL"));
  say("+OK\r\n:0\r\n:0\r\n");
  EXPECT_EQ(session.stage(), Session::Stage::up);
}

TEST_F(LoginTest, AWrongPasswordIsAPermanentFailureThatDoesNotContainIt) {
  connect();
  sent();
  say("-WRONGPASS invalid username-password pair or user is disabled.\r\n");
  ASSERT_TRUE(session.trouble());
  EXPECT_TRUE(session.trouble()->permanent);
  EXPECT_THAT(session.trouble()->text, HasSubstr("user or password is wrong"));
  EXPECT_THAT(session.trouble()->text, Not(HasSubstr("secret")));
}

TEST_F(LoginTest, AMissingDatabaseIsAPermanentFailure) {
  connect();
  sent();
  say(testing::hello_answer(11, "run"));
  sent();
  say("-ERR DB index is out of range\r\n:0\r\n");
  ASSERT_TRUE(session.trouble());
  EXPECT_TRUE(session.trouble()->permanent);
  EXPECT_THAT(session.trouble()->text, HasSubstr("refused database 3: ERR DB index"));
}

class PasswordTest : public SessionTest {
 protected:
  PasswordTest()
      : SessionTest({.user = "", .password = "secret", .client_name = "tester", .database = 0}) {}
};

TEST_F(PasswordTest, APasswordWithoutUserLogsInAsDefault) {
  connect();
  EXPECT_THAT(sent()[0],
              ElementsAre("HELLO", "3", "AUTH", "default", "secret", "SETNAME", "tester"));
}

struct HelloReply {
  const char* answer;
  const char* text;
  bool refused;
};

TEST_F(SessionTest, EachUnusableGreetingHasItsMessage) {
  constexpr HelloReply replies[] = {
      {"-NOAUTH HELLO must be called with the client already authenticated\r\n",
       "asks for a password, and the URI has none", true},
      {"-ERR unknown command `HELLO`, with args beginning with: `3`,\r\n", "not support RESP3",
       true},
      {"-NOPROTO unsupported protocol version\r\n", "not support RESP3", true},
      {"-NOPERM User bob has no permissions to run the 'hello' command\r\n",
       "NOPERM this user has no permissions", true},
      {"-ERR max number of clients reached\r\n", "takes no more clients", false},
      {"HTTP/1.1 400 Bad Request\r\n\r\n", "does not speak the Redis protocol", true},
      {"SSH-2.0-OpenSSH_9.2\r\n", "does not speak the Redis protocol", true},
      {"+OK\r\n", "does not speak the Redis protocol", true},
      {"*1\r\n$5\r\nhello\r\n", "does not speak the Redis protocol", true},
  };
  for (const HelloReply& reply : replies) {
    SCOPED_TRACE(reply.answer);
    connect_after_pause();
    sent();
    say(reply.answer);
    ASSERT_TRUE(session.trouble());
    EXPECT_THAT(session.trouble()->text, HasSubstr(reply.text));
    EXPECT_THAT(session.trouble()->text, Not(HasSubstr("bob")));
    EXPECT_EQ(session.trouble()->permanent, reply.refused);
    session.failed(*session.trouble(), now);
  }
}

TEST_F(SessionTest, AUserWithoutHdelIsRejectedAndOneWithoutTheProbesKeyIsNot) {
  for (const auto& [answer, refused] :
       {std::pair("-NOPERM User bob has no permissions to run the 'hdel' command\r\n", true),
        std::pair("-NOPERM No permissions to access a key\r\n", false)}) {
    SCOPED_TRACE(answer);
    Session one({.login = {}, .timeout = timeout, .calls = {}, .seed = 7});
    one.connecting(now);
    one.connected();
    Delivery delivery;
    one.received(testing::hello_answer(11, "run"), now);
    static_cast<void>(one.next(delivery));
    one.received(std::string(":0\r\n") + answer, now);
    static_cast<void>(one.next(delivery));
    EXPECT_EQ(one.stage() == Session::Stage::up, !refused);
    ASSERT_EQ(one.trouble().has_value(), refused);
    if (!refused) continue;
    EXPECT_TRUE(one.trouble()->permanent);
    EXPECT_THAT(one.trouble()->text, AllOf(HasSubstr("+hdel"), Not(HasSubstr("bob"))));
  }
}

TEST_F(SessionTest, AReplicaEndsTheHandshake) {
  connect();
  sent();
  say(testing::hello_answer(11, "run", "replica"));
  ASSERT_TRUE(session.trouble());
  EXPECT_THAT(session.trouble()->text, HasSubstr("is a replica"));
}

TEST_F(SessionTest, AHandshakeThatTakesTooLongFails) {
  connect();
  pass(1999ms);
  EXPECT_FALSE(session.trouble());
  pass(1ms);
  EXPECT_TRUE(session.trouble());
}

}  // namespace
}  // namespace latchkey::detail::redis
