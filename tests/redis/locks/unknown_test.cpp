// Calls whose reply never arrives are undone, in whatever order the commands reach the server.
#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <string>
#include <thread>

#include <latchkey/error.hpp>
#include <latchkey/locks.hpp>

#include "support/recorder.hpp"
#include "support/servers/fault_proxy.hpp"
#include "support/servers/redis_server.hpp"

namespace latchkey::tests {
namespace {

using namespace std::chrono_literals;

/// With and without permission for CLIENT KILL.
class RedisUnknown : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    if (GetParam()) return;
    if (server_.version() < 700) GTEST_SKIP() << "Redis 6 cannot forbid a part of a command only";
    ASSERT_FALSE(client_({"ACL", "SETUSER", "default", "-client|kill"}).is_error());
  }

  [[nodiscard]] Locks connect() const {
    return Locks::connect(proxy_.uri(), {.command_timeout = 1s});
  }
  [[nodiscard]] bool there() { return client_({"EXISTS", "k"}).integer() == 1; }

  // A delayed command may still arrive: no key may exist after a second, nor later.
  void expect_no_key() {
    // sleeps: nothing tells that a delayed command will not arrive
    std::this_thread::sleep_for(1s);
    EXPECT_TRUE(eventually([&] { return !there(); }));
    // sleeps: nothing tells that a delayed command will not arrive
    std::this_thread::sleep_for(200ms);
    EXPECT_FALSE(there());
  }

  RedisServer server_;
  RedisClient client_ = server_.client();
  FaultProxy proxy_{server_.port()};
};

TEST_P(RedisUnknown, AnAcquireWhoseReplyIsLateIsReleased) {
  const Locks locks = connect();
  proxy_.hold(FaultProxy::Direction::to_client);
  EXPECT_THROW(static_cast<void>(locks.lock("k").try_acquire(0ms, 30s)), BackendUnavailable);
  EXPECT_TRUE(eventually([&] { return !there(); })) << "the release followed it";
  proxy_.pass(FaultProxy::Direction::to_client);
  expect_no_key();
  EXPECT_TRUE(locks.lock("k").try_acquire(5s));
}

TEST_P(RedisUnknown, AnAcquireDelayedUntilAfterItsCompensationLeavesNoKey) {
  const Locks locks = connect();
  proxy_.hold(FaultProxy::Direction::to_server);
  EXPECT_THROW(static_cast<void>(locks.lock("k").try_acquire(0ms, 30s)), BackendUnavailable);
  proxy_.cut_clients();
  ASSERT_TRUE(eventually([&] { return proxy_.connections() == 1; })) << "connected again";
  // sleeps: its compensation has gone through the new connection
  std::this_thread::sleep_for(300ms);
  proxy_.pass(FaultProxy::Direction::to_server);  // now the acquire arrives
  expect_no_key();
}

TEST_P(RedisUnknown, AnAcquireDelayedUntilAfterTheReleaseOfItsNextAttemptLeavesNoKey) {
  const Locks locks = connect();
  proxy_.hold(FaultProxy::Direction::to_server);
  std::optional<Hold> hold;
  std::thread caller([&] { hold = locks.lock("k").try_acquire(20s, 30s); });
  std::this_thread::sleep_for(1200ms);  // sleeps: the first attempt's reply is overdue
  proxy_.cut_clients();
  caller.join();
  ASSERT_TRUE(hold) << "granted over the new connection";
  EXPECT_TRUE(hold->release());
  proxy_.pass(FaultProxy::Direction::to_server);
  expect_no_key();
}

TEST_P(RedisUnknown, ADelayedReleaseDoesNotFreeALaterHold) {
  const Locks locks = connect();
  Hold hold = locks.lock("k").acquire(0ms, 30s);
  proxy_.hold(FaultProxy::Direction::to_server);
  EXPECT_THROW(hold.release(), BackendUnavailable);
  EXPECT_TRUE(client_({"DEL", "k"}).integer() == 1) << "somebody forces it";
  const Locks direct = Locks::connect(server_.tcp_uri());
  const Hold later = direct.lock("k").acquire(0ms, 30s);
  proxy_.pass(FaultProxy::Direction::to_server);
  // sleeps: nothing tells that the release has found another hold
  std::this_thread::sleep_for(500ms);
  EXPECT_TRUE(there()) << "the delayed release was not for this hold";
}

TEST_P(RedisUnknown, ACallLeavesNoKeyWhereverTheConnectionIsCut) {
  const Locks locks = connect();
  for (int round = 0; round < 10; ++round) {
    std::thread cutter([&] {
      // sleeps: the cut comes at another moment of the call in each round
      std::this_thread::sleep_for(std::chrono::microseconds(150 * round));
      proxy_.cut();
    });
    try {
      std::optional<Hold> hold = locks.lock("k").try_acquire(5s, 30s);
      if (hold) hold->release();
    } catch (const BackendUnavailable&) {
      // The outcome is unknown. No key may be left.
    }
    cutter.join();
  }
  expect_no_key();
}

INSTANTIATE_TEST_SUITE_P(ClientKill, RedisUnknown, ::testing::Bool(), [](const auto& permitted) {
  return permitted.param ? "permitted" : "refused";
});

}  // namespace
}  // namespace latchkey::tests
