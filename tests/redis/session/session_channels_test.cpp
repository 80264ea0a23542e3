// Subscriptions and notifications of an established session.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "session_fixture.hpp"

namespace latchkey::detail::redis {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr auto released = Notification::Kind::released;

TEST_F(SessionTest, ThePingCompletesASubscription) {
  bring_up();
  submit(Verb::subscribe, "k", 0);
  const auto commands = sent();
  ASSERT_EQ(commands.size(), 2U);
  EXPECT_THAT(commands[0],
              ElementsAre("SUBSCRIBE", "redisson_lock__channel:{k}", "redisson_rwlock:{k}"));
  EXPECT_THAT(commands[1], ElementsAre("PING"));
  say(testing::push("subscribe", "redisson_lock__channel:{k}", 1) +
      testing::push("subscribe", "redisson_rwlock:{k}", 2));
  EXPECT_TRUE(sink.outcomes.empty());
  say("+PONG\r\n");
  ASSERT_EQ(sink.outcomes.size(), 1U);
  EXPECT_EQ(sink.outcomes[0].kind, Kind::granted);
  say(testing::message("redisson_lock__channel:{k}", "0"));
  ASSERT_EQ(sink.notifications.size(), 1U);
  EXPECT_EQ(sink.notifications[0].kind, released);
  EXPECT_EQ(sink.notifications[0].key, "k");
  EXPECT_EQ(sink.notifications[0].id.number, 0U);
}

TEST_F(SessionTest, AnErrorBeforeThePingRejectsTheSubscription) {
  bring_up();
  submit(Verb::subscribe, "k", 0);
  const Request& behind = submit(Verb::acquire, "k");
  sent();
  say("-NOPERM User bob has no permissions to access one of the channels\r\n+PONG\r\n:0\r\n");
  ASSERT_EQ(sink.outcomes.size(), 2U);
  EXPECT_EQ(sink.outcomes[0].kind, Kind::refused);
  EXPECT_THAT(sink.outcomes[0].text, HasSubstr("NOPERM this user has no permissions"));
  EXPECT_EQ(sink.outcomes[1].request, &behind);
}

constexpr const char* no_permission = "-NOPERM no permission for one of the channels\r\n+PONG\r\n";

TEST_F(SessionTest, ARejectedSubscriptionLeavesNoListener) {
  bring_up();
  submit(Verb::subscribe, "forbidden", 0);
  sent();
  say(no_permission);
  EXPECT_FALSE(session.listens());
  submit(Verb::subscribe, "k", 0);
  sent();
  say("+PONG\r\n");
  lose();
  connect_after_pause();
  sent();
  say(testing::hello_answer(12, "run"));
  EXPECT_THAT(sent().at(1), ElementsAre("SUBSCRIBE", ::testing::_, ::testing::_))
      << "the channels of k and no others";
}

TEST_F(SessionTest, ARejectedSubscriptionKeepsTheOtherListenersOfItsChannel) {
  bring_up();
  submit(Verb::subscribe, "a", 0);
  sent();
  say("+PONG\r\n");
  submit(Verb::subscribe, "{a}", 0);
  sent();
  say("-BUSY a script runs\r\n-BUSY a script runs\r\n");
  say(testing::message("redisson_lock__channel:{a}", "0"));
  ASSERT_EQ(sink.notifications.size(), 1U);
  EXPECT_EQ(sink.notifications[0].key, "a");
  pass(1s);
  EXPECT_THAT(sent(), ::testing::IsEmpty());
}

TEST_F(SessionTest, AChannelLosesItsLastListenerDuringARejectionAndIsUnsubscribed) {
  bring_up();
  submit(Verb::subscribe, "a", 0);
  sent();
  say("+PONG\r\n");
  submit(Verb::subscribe, "{a}", 0);
  submit(Verb::unsubscribe, "a", 0);
  sent();
  say("-BUSY a script runs\r\n-BUSY a script runs\r\n+PONG\r\n");
  EXPECT_FALSE(session.listens());
  pass(1s);
  EXPECT_THAT(names(), ElementsAre("UNSUBSCRIBE", "PING", "UNSUBSCRIBE", "PING"));
}

TEST_F(SessionTest, AnUnsubscribeRejectedByABusyServerIsSentAgain) {
  bring_up();
  submit(Verb::subscribe, "k", 0);
  sent();
  say("+PONG\r\n");
  submit(Verb::unsubscribe, "k", 0);
  sent();
  say("-BUSY a script runs\r\n-BUSY a script runs\r\n");
  pass(1s);
  EXPECT_THAT(names(), ElementsAre("UNSUBSCRIBE", "PING", "UNSUBSCRIBE", "PING"));
  for (int channel = 0; channel < 2; ++channel) say("-BUSY once more\r\n-BUSY once more\r\n");
  pass(1s);
  EXPECT_EQ(names().size(), 4U);
  for (int channel = 0; channel < 2; ++channel) say("+PONG\r\n");
  pass(10s);
  EXPECT_THAT(sent(), ::testing::IsEmpty());
}

TEST_F(SessionTest, SubscriptionsRejectedInTheHandshakeAreRetriedOneByOne) {
  bring_up();
  submit(Verb::subscribe, "k", 0);
  sent();
  say("+PONG\r\n");
  lose();
  connect_after_pause();
  sent();
  say(testing::hello_answer(12, "run"));
  sent();
  say(":0\r\n" + std::string(no_permission));
  ASSERT_EQ(session.stage(), Session::Stage::up);
  pass(1s);
  EXPECT_THAT(names(), ElementsAre("SUBSCRIBE", "PING", "SUBSCRIBE", "PING"));
  sink.notifications.clear();
  say("+PONG\r\n" + std::string(no_permission));
  EXPECT_EQ(sink.notifications.size(), 1U) << "messages may have been missed";
  pass(1s);
  EXPECT_THAT(sent(), ::testing::IsEmpty());
  pass(10s);
  EXPECT_THAT(names(), ElementsAre("SUBSCRIBE", "PING")) << "it may be permitted by now";
}

// The server kept the subscription until the connection ended.
TEST_F(SessionTest, AForbiddenUnsubscribeIsRepeatedUntilItIsPermitted) {
  bring_up();
  submit(Verb::subscribe, "k", 0);
  sent();
  say("+PONG\r\n");
  submit(Verb::unsubscribe, "k", 0);
  EXPECT_THAT(names(), ElementsAre("UNSUBSCRIBE", "PING"));
  say(no_permission);
  pass(1s);
  while (const std::size_t repeated = names().size()) {  // once for each channel
    for (std::size_t reply = 0; reply < repeated / 2; ++reply) say(no_permission);
  }
  pass(10s);
  EXPECT_THAT(names(), ::testing::Contains("UNSUBSCRIBE"));
}

TEST_F(SessionTest, AForbiddenPingDoesNotRejectTheSubscription) {
  bring_up();
  submit(Verb::subscribe, "k", 0);
  sent();
  say(testing::push("subscribe", "redisson_lock__channel:{k}", 1) +
      testing::push("subscribe", "redisson_rwlock:{k}", 2) + "-NOPERM no ping\r\n");
  ASSERT_EQ(sink.outcomes.size(), 1U);
  EXPECT_EQ(sink.outcomes[0].kind, Kind::granted);
}

TEST_F(SessionTest, NotificationsOfFairWaitersCarryTheirId) {
  bring_up();
  const Request& request = submit(Verb::subscribe, "k", 5, LockType::FAIR);
  sent();
  say("+PONG\r\n");
  say(testing::message("redisson_lock__channel:{k}:" + request.id.text(), "0"));
  ASSERT_EQ(sink.notifications.size(), 1U);
  EXPECT_EQ(sink.notifications[0].id, request.id);
}

TEST_F(SessionTest, KeysThatShareAChannelAreBothNotifiedAndUnsubscribedTogether) {
  bring_up();
  submit(Verb::subscribe, "a", 0);
  submit(Verb::subscribe, "{a}", 0);
  sent();
  say("+PONG\r\n+PONG\r\n");
  say(testing::message("redisson_lock__channel:{a}", "0"));
  EXPECT_EQ(sink.notifications.size(), 2U);
  submit(Verb::unsubscribe, "a", 0);
  EXPECT_THAT(names(), ElementsAre("PING"));
  say("+PONG\r\n");
  say(testing::message("redisson_lock__channel:{a}", "0"));
  ASSERT_EQ(sink.notifications.size(), 3U);
  EXPECT_EQ(sink.notifications[2].key, "{a}");
  submit(Verb::unsubscribe, "{a}", 0);
  EXPECT_THAT(names(), ElementsAre("UNSUBSCRIBE", "PING"));
  say("+PONG\r\n");
  EXPECT_EQ(sink.outcomes.size(), 4U);
  EXPECT_FALSE(session.listens());
}

// A server that loads its data refuses PING. The error counted as that of an UNSUBSCRIBE which had
// not been sent, and each later request got the reply to the one before it.
TEST_F(SessionTest, AnErrorOfThePingAloneIsItsReply) {
  bring_up();
  submit(Verb::subscribe, "a", 0);
  submit(Verb::subscribe, "{a}", 0);
  sent();
  say("+PONG\r\n+PONG\r\n");
  submit(Verb::unsubscribe, "a", 0);
  const Request& acquire = submit(Verb::acquire, "b");
  EXPECT_THAT(names(), ElementsAre("PING", "EVALSHA b"));
  sink.outcomes.clear();
  say("-LOADING Redis is loading the dataset in memory\r\n:0\r\n");
  ASSERT_EQ(sink.outcomes.size(), 2U);
  EXPECT_EQ(sink.outcomes[1].request, &acquire);
  EXPECT_EQ(sink.outcomes[1].kind, Kind::granted);
  EXPECT_EQ(session.unanswered(), 0U);
}

TEST_F(SessionTest, ASubscribeSubmittedTogetherWithAnEarlierUnsubscribeListens) {
  bring_up();
  submit(Verb::subscribe, "k", 0);
  sent();
  say("+PONG\r\n");
  Request* const both[] = {&request(Verb::unsubscribe, "k", 0), &request(Verb::subscribe, "k", 0)};
  session.submit(both, sink, now);
  sent();
  say("+PONG\r\n+PONG\r\n");
  EXPECT_EQ(sink.outcomes.size(), 3U);
  say(testing::message("redisson_lock__channel:{k}", "0"));
  EXPECT_EQ(sink.notifications.size(), 1U);
  Request* const reversed[] = {both[1], both[0]};
  session.submit(reversed, sink, now);
  EXPECT_FALSE(session.listens());
}

TEST_F(SessionTest, OtherPushesAndUnknownChannelsAreIgnored) {
  bring_up();
  say(testing::message("elsewhere", "0") + ">2\r\n$10\r\ninvalidate\r\n*1\r\n$1\r\nk\r\n>0\r\n");
  EXPECT_TRUE(sink.notifications.empty());
  EXPECT_FALSE(session.trouble());
}

}  // namespace
}  // namespace latchkey::detail::redis
