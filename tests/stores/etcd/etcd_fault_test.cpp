// Holds and waits while etcd is killed, stopped, or not reachable.
#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include <latchkey/error.hpp>
#include <latchkey/locks.hpp>

#include "etcd_fixture.hpp"
#include "support/child.hpp"
#include "support/servers/fault_proxy.hpp"

namespace latchkey::tests {
namespace {

using namespace std::chrono_literals;

Options quick() {
  Options options;
  options.command_timeout = 500ms;
  options.watchdog = 10s;
  options.unavailable_after = 20s;
  return options;
}

class EtcdFaults : public ::testing::Test {
 protected:
  ~EtcdFaults() override {
    EXPECT_TRUE(eventually([&] { return server_.keys("").empty(); })) << "keys are left";
  }

  EtcdServer server_;
  FaultProxy proxy_{server_.port()};
  const std::string through_proxy_ =
      "etcd://127.0.0.1:" + std::to_string(proxy_.port()) + "/?session=20s";
  Locks locks_ = etcd_locks(through_proxy_, quick());
  Locks other_ = etcd_locks(server_.uri("session=20s"), quick());
};

TEST_F(EtcdFaults, AHoldSurvivesARestartOfTheServer) {
  Hold hold = locks_.lock("key").acquire(1s, 10s);
  server_.kill();
  server_.start();
  EXPECT_FALSE(other_.lock("key").try_acquire(2s, 5s));
  EXPECT_TRUE(hold.extend(10s));
  EXPECT_FALSE(hold.lost());
  EXPECT_TRUE(hold.release());
}

TEST_F(EtcdFaults, AWaitSurvivesARestartOfTheServer) {
  Hold hold = locks_.lock("key").acquire(1s, 20s);
  auto waiter = std::async(std::launch::async,
                           [&] { return other_.lock("key").acquire(forever, 5s).release(); });
  EXPECT_TRUE(eventually([&] { return server_.keys("key/").size() == 2; }));
  server_.kill();
  server_.start();
  EXPECT_TRUE(hold.release());
  EXPECT_TRUE(waiter.get());
}

TEST_F(EtcdFaults, AWaitWithAnEndEndsInTimeWhileTheServerIsDown) {
  server_.kill();
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_THROW(static_cast<void>(locks_.lock("key").try_acquire(1s, 5s)), BackendUnavailable);
  const auto took = std::chrono::steady_clock::now() - begin;
  EXPECT_GE(took, 900ms);
  EXPECT_LT(took, 1500ms);
  const auto again = std::chrono::steady_clock::now();
  EXPECT_THROW(static_cast<void>(locks_.lock("two").try_acquire(0ms, 5s)), BackendUnavailable);
  EXPECT_LT(std::chrono::steady_clock::now() - again, 500ms);
  server_.start();
  EXPECT_TRUE(locks_.lock("key").try_acquire(5s, 5s));
}

TEST_F(EtcdFaults, AShortFreezeLeavesAHold) {
  Hold hold = locks_.lock("key").acquire(1s, 10s);
  server_.stop();
  EXPECT_THROW(static_cast<void>(other_.lock("key").try_acquire(700ms, 5s)), BackendUnavailable);
  server_.resume();
  EXPECT_TRUE(hold.extend(10s));
  EXPECT_TRUE(hold.release());
  EXPECT_TRUE(other_.lock("key").try_acquire(5s, 5s));
}

TEST_F(EtcdFaults, AFreezeLongerThanTheLeaseLosesTheHold) {
  Hold hold = locks_.lock("key").acquire(1s, 1s);
  server_.stop();
  std::this_thread::sleep_for(1100ms);  // sleeps: the lease ends
  EXPECT_TRUE(hold.lost());
  server_.resume();
  EXPECT_FALSE(hold.release());
  EXPECT_TRUE(other_.lock("key").try_acquire(5s, 5s));
}

TEST_F(EtcdFaults, AFreezeUnderAWait) {
  Hold hold = locks_.lock("key").acquire(1s, 20s);
  auto waiter = std::async(std::launch::async,
                           [&] { return other_.lock("key").acquire(forever, 5s).release(); });
  EXPECT_TRUE(eventually([&] { return server_.keys("key/").size() == 2; }));
  server_.stop();
  std::this_thread::sleep_for(1s);  // sleeps: the server is silent for a while
  server_.resume();
  EXPECT_TRUE(hold.extend(10s));
  EXPECT_TRUE(hold.release());
  EXPECT_TRUE(waiter.get());
}

TEST_F(EtcdFaults, TheEndOfAnIdleConnectionIsToldAndItComesBack) {
  const auto backend = etcd_backend(through_proxy_, quick());
  EXPECT_TRUE(backend->connections().front().up);
  proxy_.refuse(true);
  proxy_.cut();
  EXPECT_TRUE(eventually([&] {
    backend->drive(Parker::mine(), Clock::system().now());
    return !backend->connections().front().up;
  }));
  proxy_.refuse(false);
  EXPECT_TRUE(eventually([&] {
    backend->drive(Parker::mine(), Clock::system().now());
    return backend->connections().front().up;
  }));
}

TEST_F(EtcdFaults, ALostConnectionLeavesAHold) {
  Hold hold = locks_.lock("key").acquire(1s, 10s);
  proxy_.cut();
  EXPECT_TRUE(hold.extend(10s));
  EXPECT_FALSE(other_.lock("key").try_acquire(0ms, 5s));
  proxy_.cut();
  try {
    EXPECT_TRUE(hold.release());
  } catch (const BackendUnavailable&) {
    // The kernel told of the reset only after the request was sent. It is repeated.
  }
  EXPECT_TRUE(other_.lock("key").try_acquire(5s, 5s));
}

TEST_F(EtcdFaults, ALostConnectionUnderAWait) {
  Hold hold = other_.lock("key").acquire(1s, 20s);
  auto waiter = std::async(std::launch::async,
                           [&] { return locks_.lock("key").acquire(forever, 5s).release(); });
  EXPECT_TRUE(eventually([&] { return server_.keys("key/").size() == 2; }));
  proxy_.cut();
  EXPECT_TRUE(hold.release());
  EXPECT_TRUE(waiter.get());
}

// The first attempt is kept on its way until its connection is gone and the lock was given back.
TEST_F(EtcdFaults, AnAcquireThatArrivesLateLeavesNoKey) {
  EXPECT_TRUE(locks_.lock("key").try_acquire(1s, 5s));
  proxy_.hold(FaultProxy::Direction::to_server);
  EXPECT_TRUE(locks_.lock("key").try_acquire(5s, 2s));
  proxy_.pass(FaultProxy::Direction::to_server);
  EXPECT_TRUE(other_.lock("key").try_acquire(5s, 5s));
}

TEST_F(EtcdFaults, AnAcquireWhoseReplyIsLostIsFound) {
  EXPECT_TRUE(locks_.lock("key").try_acquire(1s, 5s));
  proxy_.drop(FaultProxy::Direction::to_client);
  auto waiter =
      std::async(std::launch::async, [&] { return locks_.lock("key").acquire(10s, 5s).release(); });
  EXPECT_TRUE(eventually([&] { return server_.keys("key/").size() == 1; }));
  std::this_thread::sleep_for(100ms);  // sleeps: the watch after the key is answered, too
  proxy_.cut();
  proxy_.pass(FaultProxy::Direction::to_client);
  EXPECT_TRUE(waiter.get());
}

TEST_F(EtcdFaults, AForkedChildOwnsNothingAndSendsNothingOnItsParentsConnection) {
  Hold hold = locks_.lock("key").acquire(1s, 10s);
  const std::size_t made = proxy_.made();
  EXPECT_EQ(in_child([&](Findings& findings) {
              CHILD_EXPECT(findings, hold.lost());
              CHILD_EXPECT(findings, !locks_.lock("key").try_acquire(0ms, 5s));
              CHILD_EXPECT(findings, locks_.lock("another").try_acquire(1s, 5s).has_value());
            }),
            "");
  EXPECT_GT(proxy_.made(), made) << "the child has a connection of its own";
  EXPECT_TRUE(hold.extend(10s));
  EXPECT_TRUE(hold.release());
}

// The later hold has the same key: the key is named after the session.
TEST_F(EtcdFaults, AReleaseThatArrivesLateDoesNotEndALaterHold) {
  using Direction = FaultProxy::Direction;
  Hold first = locks_.lock("key").acquire(1s, 15s);
  const std::vector<std::string> its_key = server_.keys("key/");
  proxy_.hold(Direction::to_server);
  EXPECT_THROW(static_cast<void>(first.release()), BackendUnavailable);
  proxy_.cut_clients();
  EXPECT_TRUE(eventually([&] { return server_.keys("key/").empty(); })) << "it is repeated";
  Hold later = locks_.lock("key").acquire(5s, 15s);
  EXPECT_EQ(server_.keys("key/"), its_key);
  proxy_.pass(Direction::to_server);
  const auto end = std::chrono::steady_clock::now() + 500ms;  // etcd does not tell when it has read
  while (std::chrono::steady_clock::now() < end) ASSERT_EQ(server_.keys("key/"), its_key);
  EXPECT_TRUE(later.release());
}

}  // namespace
}  // namespace latchkey::tests
