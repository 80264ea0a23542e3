// A session that has the server watch keys.
// tidy: long-file because each thing that such a server says is one test
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "session_fixture.hpp"

namespace latchkey::detail::redis {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using Change = Notification::Kind;

constexpr std::string_view invalidation = ">2\r\n$10\r\ninvalidate\r\n";

/// The push that says that a key has changed.
std::string changed(std::string_view key) {
  return std::string(invalidation) + "*1\r\n" + testing::bulk(key);
}

/// The reply to PUBSUB NUMSUB, with these numbers of subscribers.
std::string listening(const std::vector<int>& subscribers) {
  std::string text = "*" + std::to_string(2 * subscribers.size()) + "\r\n";
  for (const int count : subscribers) {
    text += testing::bulk("channel") + ":" + std::to_string(count) + "\r\n";
  }
  return text;
}

class SessionWatch : public SessionTest {
 protected:
  SessionWatch()
      : SessionTest(Handshake::Login{
            .user = "", .password = "", .client_name = "tester", .database = 0, .watches = true}) {}

  /// `replies` are those to CLIENT TRACKING, CLIENT CACHING and EXISTS.
  void bring_up_with(std::string_view replies) {
    connect_after_pause();
    sent();
    say(testing::hello_answer(11, "run"));
    std::string all;
    for (const Command& command : sent()) {
      if (command[1] == "KILL" || command[0] == "HDEL") all += ":0\r\n";
    }
    say(all + std::string(replies));
  }
  void bring_up() { bring_up_with("+OK\r\n+OK\r\n:0\r\n"); }
  Request& watch(Verb verb, std::string_view key, std::uint64_t number = 1) {
    Request& made = request(verb, key, number);
    made.watch = true;
    return made;
  }
  void submit_all(std::vector<Request*> all) { session.submit(all, sink, now); }
  /// Nobody waits for `key`, whose hold is not used.
  void become_idle(std::string_view key) {
    Request& idle = request(Verb::expire, key);
    idle.recall = true;
    submit_all({&idle});
    sent();
    say("+OK\r\n:0\r\n");
  }
};

TEST_F(SessionWatch, TheHandshakeAsksWhetherKeysCanBeWatched) {
  connect();
  sent();
  say(testing::hello_answer(11, "run"));
  EXPECT_THAT(sent(), ElementsAre(ElementsAre("CLIENT", "KILL", "ID", no_client),
                                  ElementsAre("HDEL", "latchkey_probe", ""),
                                  ElementsAre("CLIENT", "TRACKING", "ON", "OPTIN", "NOLOOP"),
                                  ElementsAre("CLIENT", "CACHING", "YES"),
                                  ElementsAre("EXISTS", "latchkey_probe")));
  say(":0\r\n:0\r\n+OK\r\n+OK\r\n:0\r\n");
  EXPECT_EQ(session.stage(), Session::Stage::up);
  EXPECT_TRUE(session.watches());
  EXPECT_EQ(session.warning(), "");
}

TEST_F(SessionWatch, TheKeyIsReadAfterTheCheck) {
  bring_up();
  submit_all({&watch(Verb::renew, "a")});
  const std::vector<Command> commands = sent();
  ASSERT_THAT(commands, SizeIs(3));
  EXPECT_EQ(commands[0][0], "EVALSHA");
  EXPECT_THAT(commands[1], ElementsAre("CLIENT", "CACHING", "YES"));
  EXPECT_THAT(commands[2], ElementsAre("EXISTS", "a"));
  submit(Verb::acquire, "b", 2);
  sent();
  say(":0\r\n+OK\r\n:1\r\n:0\r\n");
  ASSERT_THAT(sink.outcomes, SizeIs(2)) << "the replies to the two are nobody's";
  EXPECT_EQ(sink.outcomes[0].kind, Kind::granted);
  EXPECT_EQ(sink.outcomes[1].kind, Kind::granted);
}

TEST_F(SessionWatch, KeysOfOneCallAreReadTogether) {
  bring_up();
  submit_all(
      {&watch(Verb::renew, "a", 1), &request(Verb::renew, "b", 2), &watch(Verb::verify, "c", 3)});
  const std::vector<Command> commands = sent();
  ASSERT_THAT(commands, SizeIs(3));
  EXPECT_THAT(commands[2], ElementsAre("EXISTS", "a", "c")) << "b does not ask";
  say("*3\r\n:0\r\n:0\r\n:0\r\n+OK\r\n:2\r\n");
  EXPECT_THAT(sink.outcomes, SizeIs(3));
  EXPECT_EQ(session.unanswered(), 0U);
}

TEST_F(SessionWatch, ARequestThatDoesNotAskIsOneCommand) {
  bring_up();
  submit(Verb::renew, "a");
  EXPECT_THAT(names(), ElementsAre("EVALSHA a"));
}

TEST_F(SessionWatch, AnInvalidationIsAChangeOfTheKey) {
  bring_up();
  submit_all({&watch(Verb::renew, "a")});
  sent();
  say(":0\r\n+OK\r\n:1\r\n" + changed("a"));
  ASSERT_THAT(sink.notifications, SizeIs(1));
  EXPECT_EQ(sink.notifications[0].kind, Change::changed);
  EXPECT_EQ(sink.notifications[0].key, "a");
}

TEST_F(SessionWatch, AnIdleHoldIsReadAfterAPermission) {
  bring_up();
  Request& idle = request(Verb::expire, "a");
  idle.recall = true;
  submit_all({&idle});
  const std::vector<Command> commands = sent();
  ASSERT_THAT(commands, SizeIs(2));
  EXPECT_THAT(commands[0], ElementsAre("CLIENT", "CACHING", "YES"));
  EXPECT_EQ(commands[1][0], "EVALSHA");
  say("+OK\r\n:1\r\n");
  ASSERT_THAT(sink.outcomes, SizeIs(1));
  EXPECT_EQ(sink.outcomes[0].kind, Kind::granted) << "by the second reply";
}

// Others that are sent with it may be one call of a script.
TEST_F(SessionWatch, ARenewalOfAnIdleHoldIsNoPartOfABatch) {
  bring_up();
  Request& idle = request(Verb::renew, "a");
  idle.recall = true;
  submit_all({&idle, &request(Verb::renew, "b"), &request(Verb::renew, "c")});
  EXPECT_THAT(sent(), SizeIs(3)) << "a permission, the renewal, and a batch of two";
  say("+OK\r\n:1\r\n*2\r\n:0\r\n:0\r\n");
  ASSERT_THAT(sink.outcomes, SizeIs(3));
}

TEST_F(SessionWatch, WhileALockIsIdleTheServerIsAskedWhoListensToItsChannels) {
  bring_up();
  become_idle("a");
  EXPECT_EQ(session.due(), now + 5ms);
  become_idle("b");
  pass(5ms);
  EXPECT_THAT(sent(), ElementsAre(ElementsAre("PUBSUB", "NUMSUB", "redisson_lock__channel:{a}",
                                              "redisson_rwlock:{a}", "redisson_lock__channel:{b}",
                                              "redisson_rwlock:{b}")));
  pass(5ms);
  EXPECT_THAT(sent(), IsEmpty()) << "one question at a time";
  say(listening({0, 0, 0, 1}));
  ASSERT_THAT(sink.notifications, SizeIs(1));
  EXPECT_EQ(sink.notifications[0].kind, Change::wanted);
  EXPECT_EQ(sink.notifications[0].key, "b");
  pass(5ms);
  EXPECT_THAT(sent(), ElementsAre(SizeIs(4))) << "only for the one that nobody wants";
  say(listening({0, 0}));
  EXPECT_THAT(sink.notifications, SizeIs(1));
}

// Otherwise the thread that waits for the time of the question would sleep while nobody reads.
TEST_F(SessionWatch, WhileALockIsIdleSomebodyHasToRead) {
  bring_up();
  EXPECT_FALSE(session.is_to_be_read());
  become_idle("a");
  EXPECT_TRUE(session.is_to_be_read());
  submit(Verb::release, "a");
  EXPECT_FALSE(session.is_to_be_read());
}

TEST_F(SessionWatch, ARenewalThatIsAnsweredAfterTheReleaseWasSentLeavesNothingIdle) {
  bring_up();
  become_idle("a");
  Request& renewal = request(Verb::renew, "a");
  renewal.recall = true;
  submit_all({&renewal});
  EXPECT_TRUE(session.is_to_be_read());
  submit(Verb::release, "a");
  say("+OK\r\n:0\r\n:1\r\n");
  EXPECT_FALSE(session.is_to_be_read());
}

TEST_F(SessionWatch, ALockThatIsIdleNoLongerIsNotAskedFor) {
  bring_up();
  for (const Verb verb : {Verb::renew, Verb::release}) {
    become_idle("a");
    submit(verb, "a");
    sent();
    say(":1\r\n");
    pass(5ms);
    EXPECT_THAT(sent(), IsEmpty());
  }
  become_idle("a");
  pass(31s);
  sent();
  say(listening({0, 0}));
  pass(5ms);
  EXPECT_THAT(sent(), IsEmpty()) << "it has ended at the server";
  become_idle("a");
  lose();
  bring_up();
  pass(5ms);
  EXPECT_THAT(sent(), IsEmpty());
}

TEST_F(SessionWatch, AServerThatDoesNotSayWhoListensMayHaveSomebodyWhoDoes) {
  bring_up();
  for (const std::string_view answer :
       {"-NOPERM no permissions\r\n", "*0\r\n", ":1\r\n", "*2\r\n$1\r\nc\r\n$1\r\n0\r\n"}) {
    sink.notifications.clear();
    become_idle("a");
    pass(5ms);
    sent();
    say(answer);
    EXPECT_THAT(sink.notifications, SizeIs(1)) << answer;
    pass(5ms);
    EXPECT_THAT(sent(), IsEmpty());
  }
}

TEST_F(SessionWatch, ManyIdleLocksAreAskedForLessOften) {
  bring_up();
  std::vector<std::string> keys;
  for (int number = 0; number < 300; ++number) keys.push_back("key" + std::to_string(number));
  for (const std::string& key : keys) become_idle(key);
  pass(5ms);
  EXPECT_THAT(sent(), ElementsAre(SizeIs(602)));
  say(listening(std::vector<int>(600)));
  EXPECT_EQ(session.due(), now + 10ms);
}

TEST_F(SessionWatch, AnInvalidationOfAQueueIsAWaiterForItsLock) {
  bring_up();
  submit(Verb::renew, "a");
  sent();
  say(":0\r\n" + changed("latchkey_process_queue:{a}"));
  ASSERT_THAT(sink.notifications, SizeIs(1));
  EXPECT_EQ(sink.notifications[0].kind, Change::wanted);
  EXPECT_EQ(sink.notifications[0].key, "a");
}

TEST_F(SessionWatch, AnInvalidationBetweenRepliesLeavesThemInOrder) {
  bring_up();
  submit_all({&watch(Verb::renew, "a", 1), &request(Verb::acquire, "b", 2)});
  sent();
  say(":0\r\n+OK\r\n" + changed("a") + ":1\r\n:0\r\n");
  ASSERT_THAT(sink.outcomes, SizeIs(2));
  EXPECT_EQ(sink.outcomes[1].kind, Kind::granted);
  EXPECT_THAT(sink.notifications, SizeIs(1));
}

TEST_F(SessionWatch, AnInvalidationWithoutKeysIsAChangeOfAllOfThem) {
  bring_up();
  submit(Verb::renew, "a");
  sent();
  say(":0\r\n" + std::string(invalidation) + "_\r\n");
  ASSERT_THAT(sink.notifications, SizeIs(1));
  EXPECT_EQ(sink.notifications[0].kind, Change::changed);
  EXPECT_EQ(sink.notifications[0].key, "");
}

TEST_F(SessionWatch, AnInvalidationOfSeveralKeysNamesEach) {
  bring_up();
  submit(Verb::renew, "a");
  sent();
  say(":0\r\n" + std::string(invalidation) + "*2\r\n" + testing::bulk("a") + testing::bulk("b"));
  ASSERT_THAT(sink.notifications, SizeIs(2));
  EXPECT_EQ(sink.notifications[1].key, "b");
}

TEST_F(SessionWatch, AServerThatRefusesLocksAllTheSame) {
  bring_up_with(
      "-NOPERM this user has no permissions to run the 'client|tracking' command\r\n"
      "-ERR CLIENT CACHING can be called only when the client is in tracking mode with OPTIN or "
      "OPTOUT mode enabled\r\n:0\r\n");
  EXPECT_EQ(session.stage(), Session::Stage::up);
  EXPECT_FALSE(session.watches());
  EXPECT_THAT(session.warning(),
              AllOf(HasSubstr("no permissions to run the 'client|tracking' command"),
                    HasSubstr("at the next check"), HasSubstr("Options::watch_holds")));
  submit_all({&watch(Verb::renew, "a")});
  EXPECT_THAT(names(), ElementsAre("EVALSHA a"));
}

// Such a server tells a connection of the changes that the connection's own scripts make.
TEST_F(SessionWatch, AServerBefore7_0_5IsNotAskedToWatchAndIsNoFault) {
  for (const std::string_view version : {"6.0.16", "6.3.4", "7.0", "7.0.4", "7.0.5", "7.2", "8"}) {
    SCOPED_TRACE(version);
    const bool tells = version == "7.0.5" || version == "7.2" || version == "8";
    connect_after_pause();
    sent();
    say(testing::hello_answer(11, "run", "master", {}, "standalone", version));
    std::size_t tracking = 0;
    std::string replies;
    for (const Command& command : sent()) {
      tracking += command[1] == "TRACKING" ? 1 : 0;
      replies += ":0\r\n";
    }
    say(replies);
    EXPECT_EQ(session.stage(), Session::Stage::up);
    EXPECT_EQ(tracking, tells ? 1U : 0U);
    EXPECT_EQ(session.watches(), tells);
    EXPECT_EQ(session.warning(), "");
    submit_all({&watch(Verb::renew, "a")});
    EXPECT_THAT(names(), SizeIs(tells ? 3 : 1));
    lose();
  }
}

TEST_F(SessionWatch, AUserWithoutExistsIsRefused) {
  bring_up_with(
      "+OK\r\n+OK\r\n-NOPERM this user has no permissions to run the 'exists' command\r\n");
  EXPECT_EQ(session.stage(), Session::Stage::up);
  EXPECT_FALSE(session.watches());
}

TEST_F(SessionWatch, AProbeOfAKeyThatIsElsewhereRefusesNothing) {
  bring_up_with("+OK\r\n+OK\r\n-MOVED 42 127.0.0.1:7001\r\n");
  EXPECT_EQ(session.stage(), Session::Stage::up);
  EXPECT_TRUE(session.watches());
}

TEST_F(SessionWatch, ANewConnectionAsksAnew) {
  bring_up_with("-NOPERM no\r\n-ERR no\r\n:0\r\n");
  ASSERT_FALSE(session.watches());
  lose();
  bring_up();
  EXPECT_EQ(session.stage(), Session::Stage::up);
  EXPECT_TRUE(session.watches());
  submit_all({&watch(Verb::renew, "a")});
  EXPECT_THAT(names(), ElementsAre("EVALSHA a", "CLIENT", "EXISTS"));
}

TEST_F(SessionWatch, ACheckAfterAskingIsNotWatched) {
  bring_up();
  Request& renew = watch(Verb::renew, "a");
  session.resubmit({&renew, &sink, now + 1s, 1}, true, now);
  EXPECT_THAT(names(), ElementsAre("ASKING", "EVALSHA a"));
}

TEST_F(SessionTest, NothingIsWatchedUnlessTheLoginSaysSo) {
  bring_up();
  Request& renew = request(Verb::renew, "a");
  renew.watch = true;
  Request* const one[] = {&renew};
  session.submit(one, sink, now);
  EXPECT_THAT(names(), ElementsAre("EVALSHA a"));
  EXPECT_THAT(sink.notifications, IsEmpty());
}

}  // namespace
}  // namespace latchkey::detail::redis
