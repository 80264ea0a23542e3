// The router of a cluster: listings, which every master answers in part.
#include "redis/routing/cluster_router.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "session_fixture.hpp"

namespace latchkey::detail::redis {
namespace {

using testing::bulk;
using ::testing::HasSubstr;

/// A router with one node, which serves all slots. The test composes the node's replies.
class ClusterRouterTest : public ::testing::Test {
 protected:
  static constexpr auto timeout = 2000ms;

  static Session::Settings settings() {
    Session::Settings settings;
    settings.login.client_name = "tester";
    settings.login.cluster = true;
    settings.timeout = timeout;
    settings.seed = 7;
    return settings;
  }

  void bring_up() {
    session().connecting(now);
    session().connected();
    say(testing::hello_answer(11, "run", "master", "", "cluster") + "%0\r\n");
    say(":0\r\n:0\r\n");
    ASSERT_EQ(session().stage(), Session::Stage::up);
    say("*1\r\n*3\r\n:0\r\n:16383\r\n*2\r\n" + bulk("10.0.0.1") + ":7000\r\n");
    Failure why;
    ASSERT_EQ(router.start(why), Router::Start::settled);
  }

  Session& session() { return router.connections().front()->session; }
  /// The node receives all that is to be sent, and replies.
  void say(std::string_view bytes) {
    while (session().anything_to_send()) session().sent(session().to_send().size());
    session().received(bytes, now);
    drain();
  }
  void drain() {
    Delivery delivery;
    while (router.next(delivery, now)) delivery.hand_over();
  }

  Clock::time_point now{1'000s};
  RecordingSink sink;
  ClusterRouter router{RedisUri::parse("redis+cluster://10.0.0.1:7000"), nullptr, settings()};
};

TEST_F(ClusterRouterTest, AListingEndsIfOneOfItsPartsIsDelayedBeyondItsDeadline) {
  bring_up();
  std::vector<std::string> names;
  Request list;
  list.verb = Verb::list;
  list.key = "*";
  list.names = &names;
  Request* const one[] = {&list};
  router.submit(one, sink, now);
  say("-CLUSTERDOWN The cluster is down\r\n");
  ASSERT_TRUE(sink.outcomes.empty()) << "the part is delayed";
  now += timeout;
  router.tick(now);
  drain();
  ASSERT_EQ(sink.outcomes.size(), 1U);
  EXPECT_EQ(sink.outcomes[0].request, &list);
  EXPECT_EQ(sink.outcomes[0].kind, Kind::unknown);
  EXPECT_THAT(sink.outcomes[0].text, HasSubstr("CLUSTERDOWN"));
}

}  // namespace
}  // namespace latchkey::detail::redis
