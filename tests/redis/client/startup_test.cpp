// Options::startup: Locks that are made while their server is down, and the events they report.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>

#include <latchkey/error.hpp>
#include <latchkey/locks.hpp>

#include "support/recorder.hpp"
#include "support/servers/redis_server.hpp"
#include "support/stalls.hpp"

namespace latchkey::tests {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

class RedisStartup : public ::testing::Test {
 protected:
  RedisStartup() { server_.kill(); }

  Locks connect(const std::string& uri) {
    return Locks::connect(
        uri, {.command_timeout = 2s, .startup = Startup::allow_down, .listener = &recorder_});
  }
  [[nodiscard]] std::size_t warnings() const { return recorder_.of(Event::Kind::warning).size(); }

  RedisServer server_;
  Recorder recorder_;
};

TEST_F(RedisStartup, ByDefaultTheServerMustAnswer) {
  EXPECT_THROW(static_cast<void>(Locks::connect(server_.tcp_uri())), BackendUnavailable);
}

TEST_F(RedisStartup, LocksMadeWhileTheServerIsDownWarnOnceAndGrantOnceItIsUp) {
  for (const std::string& uri :
       {server_.tcp_uri(), server_.unix_uri(),
        "redis+sentinel://127.0.0.1:" + std::to_string(server_.port()) + "/orders",
        "redis+cluster://127.0.0.1:" + std::to_string(server_.port())}) {
    SCOPED_TRACE(uri);
    const std::size_t before = warnings();
    const Locks locks = connect(uri);
    ASSERT_TRUE(eventually([&] { return warnings() == before + 1; }));
    EXPECT_THAT(recorder_.of(Event::Kind::warning).back().text,
                HasSubstr("it cannot be reached now, and grants locks as soon as it can: "));
    const Stalls stalls;
    const auto began = std::chrono::steady_clock::now();
    for (int call = 0; call < 3; ++call) {
      EXPECT_THROW(static_cast<void>(locks.lock("k").try_acquire()), BackendUnavailable);
    }
    EXPECT_LT(std::chrono::steady_clock::now() - began, 5s + stalls.total());
    EXPECT_EQ(warnings(), before + 1);
    EXPECT_NO_THROW(static_cast<void>(locks.lock("k", LockType::FENCED)));
  }
  const Locks locks = connect(server_.tcp_uri());
  server_.start();
  EXPECT_TRUE(locks.lock("k").try_acquire(10s).has_value());
  EXPECT_TRUE(locks.lock("k", LockType::FAIR).try_acquire(10s).has_value());
}

TEST_F(RedisStartup, TheFirstConnectionIsReportedAsConnectedAndNotAsRestored) {
  const Locks locks = connect(server_.tcp_uri());
  EXPECT_THROW(static_cast<void>(locks.lock("k").try_acquire()), BackendUnavailable);
  server_.start();
  EXPECT_TRUE(locks.lock("k").try_acquire(10s).has_value());
  ASSERT_TRUE(recorder_.await(Event::Kind::connected));
  EXPECT_EQ(recorder_.of(Event::Kind::connected)[0].server, locks.describe());
  EXPECT_EQ(recorder_.count(Event::Kind::connection_lost), 0U);
  EXPECT_EQ(recorder_.count(Event::Kind::connection_restored), 0U);
}

TEST_F(RedisStartup, AWaiterIsGrantedAsSoonAsTheServerIsUp) {
  const Locks locks = connect(server_.tcp_uri());
  std::thread waiter([&] { EXPECT_TRUE(locks.lock("k").try_acquire(20s).has_value()); });
  server_.start();
  waiter.join();
}

TEST_F(RedisStartup, AServerThatComesUpUnusableIsOneWarningAndRefusesCalls) {
  const Locks locks = connect(server_.tcp_uri());
  ASSERT_TRUE(eventually([&] { return warnings() == 1; }));
  server_.start();
  ASSERT_FALSE(server_.client()({"CONFIG", "SET", "requirepass", "secret"}).is_error());
  for (int call = 0; call < 5; ++call) {
    try {
      static_cast<void>(locks.lock("k").acquire(10s));
      ADD_FAILURE() << "granted without a password";
    } catch (const BackendRefused& error) {
      EXPECT_THAT(error.what(), HasSubstr("the server asks for a password, and the URI has none"));
    }
  }
  ASSERT_TRUE(eventually([&] { return warnings() >= 2; }));
  EXPECT_EQ(warnings(), 2U);
  EXPECT_THAT(recorder_.of(Event::Kind::warning).back().text,
              HasSubstr("it refuses, and so do its locks: the server asks for a password"));
}

TEST_F(RedisStartup, AnUnusableServerIsRefusedAtOnce) {
  server_.start();
  ASSERT_FALSE(server_.client()({"CONFIG", "SET", "requirepass", "secret"}).is_error());
  EXPECT_THROW(static_cast<void>(connect(server_.tcp_uri())), BackendRefused);
}

TEST_F(RedisStartup, AQuorumIsMadeWhileAllItsServersAreDown) {
  RedisServer second, third;
  second.kill();
  third.kill();
  const Locks locks =
      connect("quorum:" + server_.tcp_uri() + " " + second.tcp_uri() + " " + third.tcp_uri());
  ASSERT_TRUE(eventually([&] { return warnings() == 1; }));
  EXPECT_THROW(static_cast<void>(locks.lock("k").try_acquire()), BackendUnavailable);
  second.start();
  third.start();
  EXPECT_TRUE(locks.lock("k").try_acquire(20s).has_value());
}

TEST(RedisStartupCluster, ANodeOfAClusterIsRefusedAndTheErrorGivesTheRightUri) {
  const RedisServer node({.cluster = true});
  const std::string place = "127.0.0.1:" + std::to_string(node.port());
  try {
    static_cast<void>(Locks::connect("redis://" + place));
    FAIL() << "a node of a cluster grants the keys of its own slots only";
  } catch (const BackendRefused& error) {
    EXPECT_THAT(error.what(), HasSubstr("the server is a node of a cluster, which is another URI: "
                                        "redis+cluster://" +
                                        place));
  }
}

}  // namespace
}  // namespace latchkey::tests
