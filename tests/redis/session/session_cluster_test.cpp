// A session with one node of a cluster.
// tidy: long-file because each answer of a node is one test
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "redis/session/session.hpp"
#include "session_fixture.hpp"

namespace latchkey::detail::redis {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using Type = Delivery::Type;

Session::Settings cluster_settings() {
  Session::Settings settings;
  settings.login.client_name = "tester";
  settings.login.cluster = true;
  settings.timeout = 2s;
  settings.seed = 7;
  settings.endpoint = {"10.0.0.1", 7000};
  return settings;
}

class SessionInCluster : public SessionTest {
 protected:
  SessionInCluster() : SessionTest(cluster_settings()) { bring_up_sharded(); }

  void bring_up_sharded() {
    connect();
    sent();
    say(hello(11));
    sent();
    say(":0\r\n:0\r\n");
    ASSERT_EQ(session.stage(), Session::Stage::up);
    EXPECT_THAT(names(), ElementsAre("CLUSTER"));
    say("*0\r\n");
  }
  /// The replies to HELLO 3, INFO and PUBSUB SHARDNUMSUB.
  static std::string hello(int number) {
    return testing::hello_answer(number, "run", "master", "", "cluster") + "%0\r\n";
  }
  /// The replies of a server without sharded channels to HELLO 3, INFO and PUBSUB SHARDNUMSUB.
  static std::string hello_without_sharded(int number) {
    return testing::hello_answer(number, "run", "master", "", "cluster") +
           "-ERR Unknown PUBSUB subcommand or wrong number of arguments for 'SHARDNUMSUB'\r\n";
  }
  void listen_to_k() {
    submit(Verb::subscribe, "k", 0);
    sent();
    say(testing::push("ssubscribe", "redisson_lock__channel:{k}", 1) +
        testing::push("ssubscribe", "redisson_rwlock:{k}", 2) + "+PONG\r\n");
  }
  /// Receives `bytes` and returns the deliveries that result.
  std::vector<Delivery> deliveries(std::string_view bytes) {
    session.received(bytes, now);
    std::vector<Delivery> all;
    Delivery delivery;
    while (session.next(delivery)) all.push_back(std::move(delivery));
    return all;
  }
};

TEST_F(SessionInCluster, AMovedRequestIsRedirectedWithItsDeadline) {
  const Request& asked = submit(Verb::acquire, "k");
  sent();
  const auto delivered = deliveries("-MOVED 7629 10.0.0.2:7001\r\n");
  ASSERT_EQ(delivered.size(), 1U);
  EXPECT_EQ(delivered[0].type, Type::redirect);
  EXPECT_EQ(delivered[0].request, &asked);
  EXPECT_EQ(delivered[0].redirect.slot, 7629);
  EXPECT_EQ(delivered[0].deadline, now + timeout);
  EXPECT_EQ(delivered[0].hops, 1);
  EXPECT_FALSE(delivered[0].overtaken);
  EXPECT_EQ(session.unanswered(), 0U);
}

TEST_F(SessionInCluster, ChecksOfOneSlotAreOneCallAndEachIsRedirectedByItself) {
  const Request& first = submit(Verb::renew, "{k}1", 1);
  submit(Verb::renew, "other", 2);
  submit(Verb::renew, "{k}2", 3);
  EXPECT_THAT(names(), ElementsAre("EVALSHA {k}1", "EVALSHA other"));
  EXPECT_TRUE(deliveries("-MOVED 7629 10.0.0.2:7001\r\n").empty());
  EXPECT_THAT(names(), ElementsAre("EVALSHA {k}1", "EVALSHA {k}2"));
  const auto delivered = deliveries(":0\r\n-MOVED 7629 10.0.0.2:7001\r\n:0\r\n");
  ASSERT_EQ(delivered.size(), 3U);
  EXPECT_EQ(delivered[1].type, Type::redirect);
  EXPECT_EQ(delivered[1].request, &first);
  EXPECT_EQ(session.unanswered(), 0U);
}

TEST_F(SessionInCluster, CheckAfterAskingIsInNoBatch) {
  Request& asked = request(Verb::renew, "{k}1", 1);
  session.resubmit({&asked, &sink, now + timeout, 1}, true, now);
  submit(Verb::renew, "{k}2", 2);
  EXPECT_THAT(names(), ElementsAre("ASKING", "EVALSHA {k}1", "EVALSHA {k}2"));
}

// A release waits for the reply.
TEST_F(SessionInCluster, ALockThatBecomesIdleIsNotSentAgainLater) {
  Request& idle = request(Verb::expire, "k");
  idle.recall = true;
  session.resubmit({&idle, &sink, now + timeout, 1}, false, now);
  sent();
  say("-TRYAGAIN Multiple keys request during rehashing of slot\r\n");
  ASSERT_EQ(sink.outcomes.size(), 1U);
  EXPECT_EQ(sink.outcomes[0].kind, Kind::unknown);
}

TEST_F(SessionInCluster, ALockOfWhichTheNodeTellsNothingIsNotIdle) {
  for (const bool asking : {false, true}) {
    Request& idle = request(Verb::expire, "k");
    idle.recall = true;
    session.resubmit({&idle, &sink, now + timeout, 1}, asking, now);
    sent();
    sink.outcomes.clear();
    say(asking ? "+OK\r\n:0\r\n" : ":0\r\n");
    ASSERT_EQ(sink.outcomes.size(), 1U);
    EXPECT_EQ(sink.outcomes[0].kind, Kind::refused);
  }
}

TEST_F(SessionInCluster, ARedirectedAcquireThatItsReleaseFollowsIsOvertaken) {
  submit(Verb::acquire, "k");
  submit(Verb::release, "k");
  sent();
  const auto delivered = deliveries("-TRYAGAIN later\r\n");
  ASSERT_EQ(delivered.size(), 1U);
  EXPECT_TRUE(delivered[0].overtaken);
}

TEST_F(SessionInCluster, AskingPrecedesTheCommandAndItsReplyIsDropped) {
  Request& asked = request(Verb::acquire, "k");
  session.resubmit({&asked, &sink, now + 1s, 1}, true, now);
  EXPECT_THAT(names(), ElementsAre("ASKING", "EVALSHA k"));
  say("+OK\r\n-NOSCRIPT no\r\n");
  EXPECT_THAT(names(), ElementsAre("ASKING", "EVAL k"));
  say("+OK\r\n:0\r\n");
  ASSERT_EQ(sink.outcomes.size(), 1U);
  EXPECT_EQ(sink.outcomes[0].kind, Kind::granted);
}

TEST_F(SessionInCluster, AMovedShardedSubscriptionIsRedirected) {
  const Request& asked = submit(Verb::subscribe, "k", 0);
  const auto commands = sent();
  ASSERT_EQ(commands.size(), 2U);
  EXPECT_EQ(commands[0][0], "SSUBSCRIBE");
  const auto delivered = deliveries("-MOVED 7629 10.0.0.2:7001\r\n+PONG\r\n");
  ASSERT_EQ(delivered.size(), 1U);
  EXPECT_EQ(delivered[0].type, Type::redirect);
  EXPECT_EQ(delivered[0].request, &asked);
}

// When a slot moves, its old node ends the subscriptions of the slot, whatever is in flight.
TEST_F(SessionInCluster, AChannelThatTheServerDroppedIsSubscribedAgainAndRedirected) {
  listen_to_k();
  const Request& between = submit(Verb::unsubscribe, "other", 0);
  sent();
  say(testing::push("sunsubscribe", "redisson_lock__channel:{k}", 0));
  EXPECT_THAT(names(), ElementsAre("SSUBSCRIBE", "PING"));
  const auto delivered =
      deliveries("-MOVED 1 10.0.0.2:7001\r\n+PONG\r\n-MOVED 7629 10.0.0.2:7001\r\n+PONG\r\n");
  ASSERT_EQ(delivered.size(), 2U) << "each error belongs to the channels before its PING";
  EXPECT_EQ(delivered[0].request, &between);
  EXPECT_EQ(delivered[1].type, Type::redirect);
  EXPECT_EQ(delivered[1].request, nullptr);
}

// A push that ends a subscription must not count as the reply to a subscribe in flight: later
// replies would be matched to the wrong commands.
TEST_F(SessionInCluster, AChannelThatTheServerDroppedConfirmsNoOtherSubscription) {
  listen_to_k();
  const Request& refused = submit(Verb::subscribe, "other", 0);
  sent();
  say(testing::push("sunsubscribe", "redisson_lock__channel:{k}", 0) + "-NOPERM no\r\n+PONG\r\n");
  ASSERT_EQ(sink.outcomes.size(), 2U);
  EXPECT_EQ(sink.outcomes[1].request, &refused);
  EXPECT_EQ(sink.outcomes[1].kind, Kind::refused);
  EXPECT_EQ(session.stage(), Session::Stage::up);
}

TEST_F(SessionInCluster, AChannelThatNoNodeServesIsRetried) {
  submit(Verb::subscribe, "k", 0);
  sent();
  say("+PONG\r\n" + testing::push("sunsubscribe", "redisson_lock__channel:{k}", 0));
  sent();
  say("-CLUSTERDOWN Hash slot not served\r\n+PONG\r\n");
  EXPECT_TRUE(names().empty());
  pass(150ms);
  EXPECT_THAT(names(), ElementsAre("SSUBSCRIBE", "PING"));
}

// A node that was stopped refuses commands for a while when it continues. The caller had given up
// by then, and the node kept the subscription.
TEST_F(SessionInCluster, AnUnsubscribeThatIsRejectedAfterItsTimeoutIsSentAgain) {
  listen_to_k();
  submit(Verb::unsubscribe, "k", 0);
  EXPECT_THAT(names(), ElementsAre("SUNSUBSCRIBE", "PING"));
  pass(timeout + 100ms);
  ASSERT_EQ(sink.outcomes.size(), 2U);
  EXPECT_EQ(sink.outcomes[1].kind, Kind::unknown);
  say("-CLUSTERDOWN The cluster is down\r\n+PONG\r\n");
  pass(150ms);
  EXPECT_THAT(names(), ElementsAre("SUNSUBSCRIBE", "PING", "SUNSUBSCRIBE", "PING"));
}

TEST_F(SessionInCluster, ChannelsMoveToAnotherSessionAndTheirListenersAreNotified) {
  submit(Verb::subscribe, "k", 0);
  sent();
  say("+PONG\r\n");
  Session other(cluster_settings());
  session.move_channels([&](std::string_view) { return &other; }, now);
  EXPECT_THAT(names(), ElementsAre("SUNSUBSCRIBE", "PING", "SUNSUBSCRIBE", "PING"));
  EXPECT_FALSE(session.listens());
  EXPECT_TRUE(other.listens());
}

// It was sent again every 5 s for as long as the slot was elsewhere.
TEST_F(SessionInCluster, AnUnsubscribeThatIsRedirectedIsNotRepeated) {
  listen_to_k();
  Session other(cluster_settings());
  session.move_channels([&](std::string_view) { return &other; }, now);
  sent();
  const std::string moved = "-MOVED 7629 10.0.0.2:7001\r\n+PONG\r\n";
  EXPECT_TRUE(deliveries(moved + moved).empty());
  pass(10s);
  EXPECT_THAT(names(), ::testing::IsEmpty());
}

// Redis 6 knows no sharded channels: the handshake subscribes to all channels at once. A slot that
// moved after that left a subscription at its old node for as long as the connection lasted.
TEST_F(SessionInCluster, AChannelThatMovesDuringTheHandshakeIsUnsubscribedFromWhenItIsOver) {
  listen_to_k();
  lose();
  connect_after_pause();
  sent();
  say(hello_without_sharded(12));
  EXPECT_THAT(names(), Contains("SUBSCRIBE"));
  Session other(cluster_settings());
  session.move_channels([&](std::string_view) { return &other; }, now);
  say(":0\r\n+PONG\r\n");
  ASSERT_EQ(session.stage(), Session::Stage::up);
  pass(0ms);
  EXPECT_THAT(names(), ElementsAre("CLUSTER", "UNSUBSCRIBE", "PING", "UNSUBSCRIBE", "PING"));
}

// The new connection kept a sharded subscription, which no UNSUBSCRIBE ends.
TEST_F(SessionInCluster, AServerThatHasNoShardedChannelsAnyMoreIsSentNoShardedSubscription) {
  listen_to_k();
  lose();
  connect_after_pause();
  sent();
  say(hello_without_sharded(12));
  EXPECT_THAT(names(), ElementsAre("CLIENT", "SUBSCRIBE", "PING"));
}

// While PUBSUB was forbidden, a new connection listened to channels that nobody publishes on.
TEST_F(SessionInCluster, AUserWhoMayNotAskForShardedChannelsGetsThoseThatTheVersionHas) {
  listen_to_k();
  lose();
  connect_after_pause();
  sent();
  say(testing::hello_answer(12, "run", "master", "", "cluster") +
      "-NOPERM this user has no permissions to run the 'pubsub|shardnumsub' command\r\n");
  EXPECT_THAT(names(), ElementsAre("CLIENT"));
  say(":0\r\n");
  ASSERT_EQ(session.stage(), Session::Stage::up);
  EXPECT_THAT(names(), ElementsAre("CLUSTER", "SSUBSCRIBE", "PING", "SSUBSCRIBE", "PING"));
}

TEST_F(SessionInCluster, UnsentRequestsAreTakenOutInTheirOrder) {
  lose();
  const Request& first = submit(Verb::acquire, "a", 1);
  const Request& second = submit(Verb::acquire, "b", 2);
  const Request& third = submit(Verb::release, "a", 1);
  const auto taken = session.take_unsent([](const Request& each) { return each.key == "a"; });
  ASSERT_EQ(taken.size(), 2U);
  EXPECT_EQ(taken[0].request, &first);
  EXPECT_EQ(taken[1].request, &third);
  EXPECT_EQ(session.unanswered(), 1U);
  connect_after_pause();
  sent();
  say(hello(12));
  sent();
  say(":0\r\n");
  EXPECT_THAT(names(), Contains("EVALSHA b"));
  say(":0\r\n");
  ASSERT_EQ(sink.outcomes.size(), 1U);
  EXPECT_EQ(sink.outcomes[0].request, &second);
}

TEST_F(SessionInCluster, ASessionThatOnlyListensSendsPing) {
  submit(Verb::subscribe, "k", 0);
  sent();
  say("+PONG\r\n");
  pass(1100ms);
  EXPECT_THAT(names(), ElementsAre("PING"));
  EXPECT_FALSE(session.is_silent(now));
  pass(400ms);
  EXPECT_TRUE(session.is_silent(now));
  say("+PONG\r\n");
  EXPECT_FALSE(session.is_silent(now));
}

/// A node that tells of changes of keys.
class SessionWithTellingNode : public SessionTest {
 protected:
  SessionWithTellingNode() : SessionTest(settings()) {
    connect();
    sent();
    say(testing::hello_answer(11, "run", "master", "", "cluster") + "%0\r\n");
    for (auto commands = sent(); !commands.empty(); commands = sent()) {
      std::string replies;
      for (const Command& command : commands) replies += reply_to(command);
      say(replies);
    }
  }

  static Session::Settings settings() {
    Session::Settings its = cluster_settings();
    its.login.watches = true;
    return its;
  }
  static std::string reply_to(const Command& command) {
    if (command[0] == "CLUSTER") return "*0\r\n";
    const bool is_number = command[0] != "CLIENT" || command[1] == "KILL";
    return is_number ? ":0\r\n" : "+OK\r\n";
  }
};

// Its clients use SSUBSCRIBE, at the node of the key.
TEST_F(SessionWithTellingNode, IsAskedWhoListensToTheShardedChannelsOfIdleLocks) {
  ASSERT_EQ(session.stage(), Session::Stage::up);
  Request& idle = request(Verb::expire, "k");
  idle.recall = true;
  const std::vector<Request*> requests{&idle};
  session.submit(requests, sink, now);
  sent();
  say("+OK\r\n:0\r\n");
  pass(5ms);
  EXPECT_THAT(sent(), ElementsAre(ElementsAre("PUBSUB", "SHARDNUMSUB", "redisson_lock__channel:{k}",
                                              "redisson_rwlock:{k}")));
}

}  // namespace
}  // namespace latchkey::detail::redis
