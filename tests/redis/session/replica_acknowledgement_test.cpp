// When WAIT is sent, and what its reply means.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <deque>
#include <string>

#include "redis/session/replica_acknowledgement.hpp"
#include "session_fixture.hpp"

namespace latchkey::detail::redis {
namespace {

using ::testing::HasSubstr;

class ReplicaAcknowledgementTest : public ::testing::Test {
 protected:
  ReplicaAcknowledgementTest() { deliveries.add_sink(sink); }

  void grant(Verb verb, std::string_view key = "k") {
    Request& request = requests.emplace_back();
    request.verb = verb;
    request.key = key;
    deliveries.reserve(requests.size());
    replicas.require();
    replicas.await({&request, &sink, Kind::granted, 17}, now + 2s);
  }
  void reply(long long count) {
    redisReply counted{};
    counted.type = REDIS_REPLY_INTEGER;
    counted.integer = count;
    replicas.on_wait_reply(counted, deliveries);
    deliver();
  }
  void deliver() {
    Delivery delivery;
    while (deliveries.next(delivery)) delivery.hand_over();
  }

  Clock::time_point now{1'000s};
  RecordingSink sink;
  std::deque<Request> requests;
  DeliveryQueue deliveries{""};
  ReplicaAcknowledgement replicas{2, 2000ms};
};

TEST_F(ReplicaAcknowledgementTest, AppliesToCommandsThatGrantKeepOrRelease) {
  EXPECT_TRUE(replicas.applies_to(Verb::acquire));
  EXPECT_TRUE(replicas.applies_to(Verb::renew));
  EXPECT_TRUE(replicas.applies_to(Verb::release));
  EXPECT_FALSE(replicas.applies_to(Verb::inspect));
  EXPECT_FALSE(ReplicaAcknowledgement(0, 2000ms).applies_to(Verb::acquire));
}

TEST_F(ReplicaAcknowledgementTest, OneWaitAtATimeIsInFlight) {
  EXPECT_FALSE(replicas.start_wait(now)) << "nothing was granted";
  grant(Verb::acquire);
  EXPECT_EQ(replicas.start_wait(now), 1000ms);
  EXPECT_EQ(replicas.wait_in_flight(), 1000ms);
  grant(Verb::acquire, "other");
  EXPECT_FALSE(replicas.start_wait(now));
  reply(2);
  EXPECT_EQ(replicas.wait_in_flight(), 0ms);
  EXPECT_TRUE(replicas.start_wait(now)) << "for the grant that came meanwhile";
}

TEST_F(ReplicaAcknowledgementTest, EnoughReplicasConfirmAGrantWithItsToken) {
  grant(Verb::acquire);
  ASSERT_TRUE(replicas.start_wait(now));
  EXPECT_EQ(replicas.unconfirmed(), 1U);
  reply(2);
  ASSERT_EQ(sink.outcomes.size(), 1U);
  EXPECT_EQ(sink.outcomes[0].kind, Kind::granted);
  EXPECT_EQ(replicas.unconfirmed(), 0U);
}

TEST_F(ReplicaAcknowledgementTest, TooFewReplicasLeaveAnAcquireUnknown) {
  grant(Verb::acquire);
  ASSERT_TRUE(replicas.start_wait(now));
  reply(1);
  ASSERT_EQ(sink.outcomes.size(), 1U);
  EXPECT_EQ(sink.outcomes[0].kind, Kind::unknown);
  EXPECT_THAT(sink.outcomes[0].text, HasSubstr("only 1 of 2 replicas"));
}

TEST_F(ReplicaAcknowledgementTest, TooFewReplicasLeaveAReleaseGrantedAndRemembered) {
  grant(Verb::release);
  ASSERT_TRUE(replicas.start_wait(now));
  reply(1);
  ASSERT_EQ(sink.outcomes.size(), 1U);
  EXPECT_EQ(sink.outcomes[0].kind, Kind::granted);
  ASSERT_EQ(replicas.unreplicated_releases().size(), 1U);
  EXPECT_EQ(replicas.unreplicated_releases()[0].request().key, "k");
  ReplicaAcknowledgement successor(2, 2000ms);
  successor.adopt_releases(replicas);
  EXPECT_EQ(successor.unreplicated_releases().size(), 1U);
  replicas.require();
  ASSERT_TRUE(replicas.start_wait(now));
  reply(2);
  EXPECT_TRUE(replicas.unreplicated_releases().empty()) << "a later WAIT covers it";
}

TEST_F(ReplicaAcknowledgementTest, WaitsAreShortWhileReplicasAreMissing) {
  grant(Verb::acquire);
  ASSERT_EQ(replicas.start_wait(now), 1000ms);
  reply(0);
  grant(Verb::acquire);
  EXPECT_EQ(replicas.start_wait(now + 1s), 10ms);
  reply(0);
  grant(Verb::acquire);
  EXPECT_EQ(replicas.start_wait(now + 4s), 1000ms) << "distant replicas need the whole time";
}

TEST_F(ReplicaAcknowledgementTest, GrantsEndAsUnknownAtTheirDeadlineAndWithTheConnection) {
  grant(Verb::acquire);
  EXPECT_EQ(replicas.next_expiry(), now + 2s);
  replicas.expire(now + 1s, deliveries);
  EXPECT_EQ(replicas.unconfirmed(), 1U);
  replicas.expire(now + 2s, deliveries);
  grant(Verb::acquire);
  replicas.on_connection_lost("lost", deliveries);
  deliver();
  ASSERT_EQ(sink.outcomes.size(), 2U);
  EXPECT_EQ(sink.outcomes[0].kind, Kind::unknown);
  EXPECT_EQ(sink.outcomes[1].text, "lost");
  EXPECT_FALSE(replicas.start_wait(now)) << "nothing is left to confirm";
}

}  // namespace
}  // namespace latchkey::detail::redis
