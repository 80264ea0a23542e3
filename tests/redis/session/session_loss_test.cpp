// A session that loses its connection and makes the next one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "session_fixture.hpp"

namespace latchkey::detail::redis {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST_F(SessionTest, AfterALossSentRequestsAreUnknownAndUnsentOnesWait) {
  bring_up();
  const Request& whole = submit(Verb::acquire, "whole");
  const std::string_view first = session.to_send();
  const std::size_t first_size = first.size();
  session.sent(first_size);
  submit(Verb::acquire, "half");
  submit(Verb::acquire, "none");
  static_cast<void>(session.to_send());
  session.sent(5);
  lose("the cable");
  ASSERT_EQ(sink.outcomes.size(), 1U);
  EXPECT_EQ(sink.outcomes[0].request, &whole);
  EXPECT_EQ(sink.outcomes[0].kind, Kind::unknown);
  EXPECT_EQ(sink.outcomes[0].text, "the cable");
  ASSERT_EQ(sink.notifications.size(), 1U);
  EXPECT_EQ(sink.notifications[0].kind, Notification::Kind::link_down);
  submit(Verb::acquire, "later");
  connect_after_pause();
  settle();
  EXPECT_THAT(names(), ElementsAre("EVALSHA half", "EVALSHA none", "EVALSHA later"));
  EXPECT_EQ(sink.notifications.back().kind, Notification::Kind::link_up);
  say(":0\r\n:0\r\n:0\r\n");
  EXPECT_EQ(sink.outcomes.size(), 4U);
}

Request& with_note(Request& request) {
  request.note = "on this host";
  return request;
}

TEST_F(SessionTest, TheReplyToANoteIsDropped) {
  bring_up();
  Request& noted = with_note(request(Verb::acquire, "noted"));
  Request* const one[] = {&noted};
  session.submit(one, sink, now);
  const Request& next = submit(Verb::acquire, "next", 2);
  EXPECT_THAT(names(), ElementsAre("EVALSHA noted", "EVAL noted", "EVALSHA next"));
  say(":0\r\n");
  ASSERT_EQ(sink.outcomes.size(), 1U);
  EXPECT_EQ(sink.outcomes[0].request, &noted);
  say("-NOPERM this user has no permissions\r\n");
  EXPECT_EQ(sink.outcomes.size(), 1U);
  say("*2\r\n:5\r\n$1\r\no\r\n");
  ASSERT_EQ(sink.outcomes.size(), 2U);
  EXPECT_EQ(sink.outcomes[1].request, &next);
  EXPECT_EQ(sink.outcomes[1].kind, Kind::busy);
}

TEST_F(SessionTest, ANoteIsSentAgainWithARepeatedScript) {
  bring_up();
  Request& noted = with_note(request(Verb::acquire, "noted"));
  Request* const one[] = {&noted};
  session.submit(one, sink, now);
  sent();
  say("-NOSCRIPT No matching script\r\n:0\r\n");
  EXPECT_THAT(names(), ElementsAre("EVAL noted", "EVAL noted"));
  say(":0\r\n:1\r\n");
  ASSERT_EQ(sink.outcomes.size(), 1U);
  EXPECT_EQ(sink.outcomes[0].kind, Kind::granted);
}

// The request was sent completely and is not sent again, so the next connection has no reply to its
// note.
TEST_F(SessionTest, APartlySentNoteIsLostWithTheConnection) {
  bring_up();
  Request& noted = with_note(request(Verb::release, "noted"));
  Request* const one[] = {&noted};
  session.submit(one, sink, now);
  const std::string_view bytes = session.to_send();
  session.sent(bytes.find("$3\r\nDEL"));
  say(":0\r\n");
  ASSERT_EQ(sink.outcomes.size(), 1U);
  const Request& next = submit(Verb::acquire, "next", 2);
  lose();
  connect_after_pause();
  settle();
  EXPECT_THAT(names(), ElementsAre("EVALSHA next"));
  say(":0\r\n");
  ASSERT_EQ(sink.outcomes.size(), 2U);
  EXPECT_EQ(sink.outcomes[1].request, &next);
  EXPECT_EQ(sink.outcomes[1].kind, Kind::granted);
}

TEST_F(SessionTest, TheNextConnectionKillsThePreviousOne) {
  bring_up();
  lose();
  connect_after_pause();
  sent();
  say(testing::hello_answer(12, "run"));
  EXPECT_THAT(sent(), ElementsAre(ElementsAre("CLIENT", "KILL", "ID", "11")));
}

TEST_F(SessionTest, ThePreviousConnectionIsKilledAfterAnAttemptThatFailed) {
  bring_up();
  lose();
  connect_after_pause();
  sent();
  say(testing::hello_answer(12, "run"));
  sent();
  lose();
  connect_after_pause();
  sent();
  say(testing::hello_answer(13, "run"));
  EXPECT_THAT(sent(), ElementsAre(ElementsAre("CLIENT", "KILL", "ID", "11")));
}

// In another run of the server the id belongs to another client.
TEST_F(SessionTest, ARestartedServerIsAskedToKillNoClient) {
  bring_up();
  lose();
  connect_after_pause();
  sent();
  say(testing::hello_answer(12, "another run"));
  EXPECT_THAT(sent(), ElementsAre(ElementsAre("CLIENT", "KILL", "ID", no_client)));
}

TEST_F(SessionTest, WithoutClientKillOrderIsNotPromised) {
  connect();
  sent();
  say(testing::hello_answer(11, "run"));
  sent();
  say("-NOPERM no\r\n:0\r\n");
  EXPECT_EQ(session.stage(), Session::Stage::up);
  EXPECT_FALSE(session.may_kill());
  lose();
  connect_after_pause();
  sent();
  say(testing::hello_answer(12, "run"));
  sent();
  say("-NOPERM no\r\n");
  EXPECT_EQ(session.stage(), Session::Stage::up);
}

TEST_F(SessionTest, ClientKillThatIsForbiddenLaterIsAFailure) {
  bring_up();
  lose();
  connect_after_pause();
  sent();
  say(testing::hello_answer(12, "run"));
  sent();
  say("-NOPERM User bob has no permissions to run the 'client|kill' command\r\n");
  ASSERT_TRUE(session.trouble());
  EXPECT_THAT(session.trouble()->text, HasSubstr("no longer permits CLIENT KILL"));
}

TEST_F(SessionTest, SubscriptionsAreRestoredBeforeRequestsAreSent) {
  bring_up();
  submit(Verb::subscribe, "k", 0);
  sent();
  say("+PONG\r\n");
  lose();
  submit(Verb::acquire, "a");
  connect_after_pause();
  sent();
  say(testing::hello_answer(12, "run"));
  EXPECT_THAT(names(), ElementsAre("CLIENT", "SUBSCRIBE", "PING"));
  say(":1\r\n" + testing::push("subscribe", "redisson_lock__channel:{k}", 1) +
      testing::push("subscribe", "redisson_rwlock:{k}", 2));
  EXPECT_NE(session.stage(), Session::Stage::up);
  say("+PONG\r\n");
  EXPECT_EQ(session.stage(), Session::Stage::up);
  EXPECT_THAT(names(), ElementsAre("EVALSHA a"));
  say(testing::message("redisson_rwlock:{k}", "1"));
  EXPECT_EQ(sink.notifications.back().key, "k");
}

TEST_F(SessionTest, RejectedSubscriptionsDoNotPreventAConnection) {
  bring_up();
  submit(Verb::subscribe, "k", 0);
  sent();
  say("+PONG\r\n");
  lose();
  connect_after_pause();
  sent();
  say(testing::hello_answer(12, "run"));
  sent();
  say(":1\r\n-NOPERM no channels\r\n");
  EXPECT_NE(session.stage(), Session::Stage::up);
  say("+PONG\r\n");
  EXPECT_EQ(session.stage(), Session::Stage::up);
}

TEST_F(SessionTest, ASubscriptionInFlightIsUnknownAfterALoss) {
  bring_up();
  submit(Verb::subscribe, "k", 0);
  sent();
  lose();
  ASSERT_EQ(sink.outcomes.size(), 1U);
  EXPECT_EQ(sink.outcomes[0].kind, Kind::unknown);
}

TEST_F(SessionTest, AWaitingRequestEndsAtItsDeadlineWithTheReasonOfTheOutage) {
  submit(Verb::acquire, "a");
  connect();
  session.failed(Failure{false, "connect: Connection refused"}, now);
  pass(timeout);
  ASSERT_EQ(sink.outcomes.size(), 1U);
  EXPECT_EQ(sink.outcomes[0].kind, Kind::unknown);
  EXPECT_EQ(sink.outcomes[0].text, "connect: Connection refused");
  // The request is never sent.
  connect_after_pause();
  settle();
  EXPECT_THAT(names(), IsEmpty());
  EXPECT_EQ(session.unanswered(), 0U);
}

TEST_F(SessionTest, PausesBetweenAttemptsGrowAndStayShortWhileARequestWaits) {
  submit(Verb::renew, "a");
  Clock::duration longest{};
  for (int attempt = 0; attempt < 12; ++attempt) {
    connect_after_pause();
    session.failed(Failure{false, "refused"}, now);
    EXPECT_FALSE(session.wants_connection(now));
    requests.back().sent = now;
    submit(Verb::renew, "a");  // a request waits all the time
    drain();
    longest = std::max(longest, session.due() - now);
  }
  EXPECT_GE(longest, 80ms);
  EXPECT_LE(longest, 240ms);
}

TEST_F(SessionTest, PausesAreLongerWithoutRequestsAndANewRequestShortensThem) {
  for (int attempt = 0; attempt < 12; ++attempt) {
    connect_after_pause();
    session.failed(Failure{false, "refused"}, now);
  }
  EXPECT_GE(session.due() - now, 500ms);
  submit(Verb::acquire, "a");
  EXPECT_LE(session.due() - now, 240ms);
}

TEST_F(SessionTest, AfterAStableConnectionTheFirstPauseIsShort) {
  for (int attempt = 0; attempt < 8; ++attempt) {
    connect_after_pause();
    session.failed(Failure{false, "refused"}, now);
  }
  connect_after_pause();
  settle();
  pass(1s);
  lose();
  EXPECT_LE(session.due() - now, 15ms);
}

TEST_F(SessionTest, AListStartsAnewAfterALoss) {
  bring_up();
  std::vector<std::string> found;
  request(Verb::list, "*").names = &found;
  Request* const one[] = {&requests.back()};
  session.submit(one, sink, now);
  sent();
  say("*2\r\n$2\r\n42\r\n$1\r\nb\r\n");
  lose();  // before the next page, at cursor 42, was requested
  connect_after_pause();
  settle();
  const auto commands = sent();
  ASSERT_EQ(commands.size(), 1U);
  EXPECT_EQ(commands[0][3], "0");
}

TEST_F(SessionTest, AForkedChildDropsTheStateOfItsParent) {
  bring_up();
  submit(Verb::acquire, "a");
  submit(Verb::subscribe, "k", 0);
  sent();
  session.forget();
  drain();
  EXPECT_THAT(sink.outcomes, IsEmpty());
  EXPECT_EQ(session.unanswered(), 0U);
  EXPECT_FALSE(session.listens());
  connect();
  sent();
  say(testing::hello_answer(12, "run"));
  EXPECT_THAT(sent(), ElementsAre(ElementsAre("CLIENT", "KILL", "ID", no_client)))
      << "never the parent's";
}

}  // namespace
}  // namespace latchkey::detail::redis
