// The events that a listener receives when a real server dies and comes back.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include <latchkey/decorate.hpp>
#include <latchkey/error.hpp>
#include <latchkey/locks.hpp>

#include "support/recorder.hpp"
#include "support/servers/redis_server.hpp"

namespace latchkey::tests {
namespace {

using namespace std::chrono_literals;
using Kind = Event::Kind;
using ::testing::AnyOf;
using ::testing::HasSubstr;

class RedisOutage : public ::testing::Test {
 protected:
  [[nodiscard]] Locks connect() {
    return Locks::connect(server_.tcp_uri(), {.command_timeout = 1s, .listener = &recorder_});
  }
  /// Expects `count` outages so far, each reported once as lost and once as restored.
  void expect_outages(const Locks& locks, std::size_t count) {
    ASSERT_TRUE(recorder_.await(Kind::connection_restored, count));
    locks.lock("after").acquire(10s).release();
    ASSERT_TRUE(locks.flush(patience));
    EXPECT_EQ(recorder_.count(Kind::connection_lost), count);
    EXPECT_EQ(recorder_.count(Kind::connection_restored), count);
  }

  Recorder recorder_;
  RedisServer server_;
};

TEST_F(RedisOutage, AKilledAndRestartedServerIsReportedLostAndRestored) {
  const Locks locks = connect();
  ASSERT_TRUE(recorder_.await(Kind::connected));
  EXPECT_EQ(recorder_.of(Kind::connected)[0].server, locks.describe());
  for (std::size_t outage = 1; outage <= 3; ++outage) {
    // The timer, which renews this one, sees what happens to the connection.
    const Hold hold = locks.lock("watched").acquire(forever);
    server_.kill();
    ASSERT_TRUE(recorder_.await(Kind::connection_lost, outage));
    EXPECT_THROW(static_cast<void>(locks.lock("k").try_acquire(100ms)), BackendUnavailable);
    server_.start();
    expect_outages(locks, outage);
  }
  const Event lost = recorder_.of(Kind::connection_lost)[0];
  EXPECT_EQ(lost.backend, locks.describe());
  EXPECT_EQ(lost.server, locks.describe());
  EXPECT_THAT(lost.text, AnyOf(HasSubstr("closed"), HasSubstr("reset")));
  EXPECT_GE(recorder_.count(Kind::unavailable), 3U);
}

TEST_F(RedisOutage, AFrozenServerIsReportedLostAndRestored) {
  const Locks locks = connect();
  const Hold hold = locks.lock("watched").acquire(forever);
  server_.stop();
  EXPECT_THROW(static_cast<void>(locks.lock("k").try_acquire(3s)), BackendUnavailable);
  ASSERT_TRUE(recorder_.await(Kind::connection_lost));
  EXPECT_THAT(recorder_.of(Kind::connection_lost)[0].text, HasSubstr("said nothing"));
  server_.resume();
  expect_outages(locks, 1);
}

TEST_F(RedisOutage, AServerThatDiesWhileABodyRunsMakesTheCallThrowIfItIsToldTo) {
  const Locks locks = connect();
  int charged = 0;
  const auto charge = [&] {
    LOCKED("card", LockType::REENTRANT, 300ms, 10s)
        .in(locks)
        .named("charge")
        .on_unconfirmed_release(strategy::raise) AROUND() {
      ++charged;
      server_.kill();
    };
  };
  for (const bool ran : {true, false}) {
    try {
      charge();
      FAIL();
    } catch (const BackendUnavailable& error) {
      EXPECT_EQ(error.body_ran(), ran) << error.what();
      EXPECT_EQ(dynamic_cast<const ReleaseUnconfirmed*>(&error) != nullptr, ran) << error.what();
      EXPECT_THAT(error.what(), HasSubstr(ran ? "; the body ran" : "; the body did not run"));
    }
  }
  EXPECT_EQ(charged, 1);
  ASSERT_TRUE(recorder_.await(Kind::release_unconfirmed));
  EXPECT_EQ(recorder_.of(Kind::release_unconfirmed)[0].method(), "charge");
  server_.start();
  expect_outages(locks, 1);
}

TEST(RedisQuorumOutage, EventsNameTheServerOfTheQuorum) {
  std::array<std::unique_ptr<RedisServer>, 3> servers;
  std::string uri = "quorum:";
  for (auto& server : servers) {
    server = std::make_unique<RedisServer>();
    uri += server->tcp_uri() + " ";
  }
  servers[2]->kill();
  Recorder recorder;
  const Locks locks = Locks::connect(uri, {.command_timeout = 500ms, .listener = &recorder});
  const auto events_of = [&](Kind kind, const RedisServer& server) {
    std::size_t count = 0;
    for (const Event& event : recorder.of(kind)) {
      if (event.server.starts_with(server.tcp_uri())) ++count;
    }
    return count;
  };
  ASSERT_TRUE(recorder.await(Kind::connected, 2));
  ASSERT_TRUE(recorder.await(Kind::connection_lost, 1));
  EXPECT_EQ(events_of(Kind::connection_lost, *servers[2]), 1U) << "it was never there";
  const auto until = [&](Kind kind, const RedisServer& server, std::size_t count) {
    return eventually([&] {
      try {  // a waiting call drives the connections
        static_cast<void>(locks.lock("k").try_acquire(100ms));
      } catch (const BackendUnavailable&) {
        // A server that has just started may answer too late.
      }
      return events_of(kind, server) >= count;
    });
  };
  servers[2]->start();
  EXPECT_TRUE(until(Kind::connection_restored, *servers[2], 1));
  servers[0]->kill();
  EXPECT_TRUE(until(Kind::connection_lost, *servers[0], 1));
  servers[0]->start();
  EXPECT_TRUE(until(Kind::connection_restored, *servers[0], 1));
  ASSERT_TRUE(locks.flush(patience));
  EXPECT_EQ(recorder.count(Kind::connection_lost), 2U);
  EXPECT_EQ(recorder.count(Kind::connection_restored), 2U);
}

}  // namespace
}  // namespace latchkey::tests
