// A session whose grants wait for replicas.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "session_fixture.hpp"

namespace latchkey::detail::redis {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class SessionWithReplicas : public SessionTest {
 protected:
  SessionWithReplicas() : SessionTest(with_replicas(2)) { connect_with_replicas(2); }
};

TEST_F(SessionWithReplicas, OneWaitCoversAllCommandsBeforeIt) {
  submit(Verb::acquire, "a", 1);
  EXPECT_THAT(names(), ElementsAre("EVALSHA a", "WAIT"));
  submit(Verb::acquire, "b", 2);
  submit(Verb::acquire, "c", 3);
  EXPECT_THAT(names(), ElementsAre("EVALSHA b", "EVALSHA c")) << "one at a time";
  say(":0\r\n");
  EXPECT_TRUE(sink.outcomes.empty()) << "granted, and not confirmed";
  say(":2\r\n");
  ASSERT_EQ(sink.outcomes.size(), 1U);
  EXPECT_EQ(sink.outcomes[0].kind, Kind::granted);
  EXPECT_THAT(names(), ElementsAre("WAIT"));
  say(":0\r\n:0\r\n:2\r\n");
  ASSERT_EQ(sink.outcomes.size(), 3U);
  EXPECT_EQ(sink.outcomes[2].kind, Kind::granted);
  EXPECT_EQ(session.unanswered(), 0U);
}

TEST_F(SessionWithReplicas, TooFewReplicasMakeAGrantUnknownAndTheNextWaitShort) {
  submit(Verb::acquire, "a", 1);
  const auto first = sent();
  EXPECT_THAT(first.back(), ElementsAre("WAIT", "2", "1000"));
  say(":0\r\n:1\r\n");
  ASSERT_EQ(sink.outcomes.size(), 1U);
  EXPECT_EQ(sink.outcomes[0].kind, Kind::unknown);
  EXPECT_EQ(sink.outcomes[0].text, "only 1 of 2 replicas confirmed it within 1000 ms");
  submit(Verb::acquire, "b", 2);
  EXPECT_THAT(sent().back(), ElementsAre("WAIT", "2", "10"));
  say(":0\r\n:1\r\n");
  pass(4s);
  submit(Verb::acquire, "c", 3);
  EXPECT_THAT(sent().back(), ElementsAre("WAIT", "2", "1000"))
      << "distant replicas need the whole time";
}

TEST_F(SessionWithReplicas, ABusyLockNeedsNoReplica) {
  submit(Verb::acquire, "a", 1);
  sent();
  say("*2\r\n:500\r\n$5\r\nowner\r\n");
  ASSERT_EQ(sink.outcomes.size(), 1U);
  EXPECT_EQ(sink.outcomes[0].kind, Kind::busy);
}

// A replica that takes over may still have a hold whose release it has not received.
TEST_F(SessionWithReplicas, AnUnreplicatedReleaseIsRepeatedOnTheNextConnection) {
  submit(Verb::release, "a", 1);
  sent();
  say(":1\r\n:0\r\n");
  ASSERT_EQ(sink.outcomes.size(), 1U);
  EXPECT_EQ(sink.outcomes[0].kind, Kind::granted) << "the server has done it";
  lose();
  connect_after_pause();
  sent();
  say(testing::hello_answer(3, "another run") + ":2\r\n");
  sent();
  say(":0\r\n");
  EXPECT_THAT(names(), ElementsAre("EVAL a", "WAIT"));
  lose();  // before any replica has confirmed it
  connect_after_pause();
  sent();
  say(testing::hello_answer(4, "another run") + ":2\r\n");
  sent();
  say(":0\r\n");
  EXPECT_THAT(names(), ElementsAre("EVAL a", "WAIT"));
  say("_\r\n:2\r\n");
  EXPECT_EQ(session.unanswered(), 0U);
  lose();
  connect_after_pause();
  sent();
  say(testing::hello_answer(5, "another run") + ":2\r\n");
  sent();
  say(":0\r\n");
  EXPECT_TRUE(names().empty()) << "replicas have it now";
}

TEST_F(SessionWithReplicas, UnconfirmedGrantsAreUnknownAfterALoss) {
  submit(Verb::acquire, "a", 1);
  sent();
  say(":0\r\n");
  lose("gone");
  ASSERT_EQ(sink.outcomes.size(), 1U);
  EXPECT_EQ(sink.outcomes[0].kind, Kind::unknown);
  EXPECT_EQ(sink.outcomes[0].text, "gone");
}

TEST_F(SessionWithReplicas, UnconfirmedGrantsAreUnknownAtTheirDeadline) {
  submit(Verb::acquire, "a", 1);
  sent();
  say(":0\r\n");
  pass(timeout);
  ASSERT_EQ(sink.outcomes.size(), 1U);
  EXPECT_THAT(sink.outcomes[0].text, HasSubstr("no replica has confirmed it in time"));
}

}  // namespace
}  // namespace latchkey::detail::redis
