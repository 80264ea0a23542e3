// The option min_replicas: a grant waits until replicas confirm it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include <latchkey/error.hpp>
#include <latchkey/locks.hpp>

#include "support/recorder.hpp"
#include "support/servers/replicated.hpp"
#include "support/stalls.hpp"

namespace latchkey::tests {
namespace {

using namespace std::chrono_literals;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;

class RedisReplicas : public ::testing::Test {
 protected:
  Locks connect(int min_replicas, std::chrono::milliseconds timeout = 2s) {
    return Locks::connect(
        servers_.master().tcp_uri() + "?min_replicas=" + std::to_string(min_replicas),
        {.command_timeout = timeout});
  }

  Replicated servers_{{.replicas = 2}};
};

TEST_F(RedisReplicas, AGrantIsOnTheReplicaBeforeAcquireReturns) {
  const Locks locks = connect(2);
  auto first = servers_.replica(0).client(), second = servers_.replica(1).client();
  for (const LockType type :
       {LockType::REENTRANT, LockType::FAIR, LockType::READ, LockType::WRITE, LockType::FENCED}) {
    const std::string key = "k" + std::to_string(static_cast<int>(type));
    for (int round = 0; round < 20; ++round) {
      Hold hold = locks.lock(key, type).acquire(1s);
      EXPECT_EQ(first({"EXISTS", key}).integer(), 1);
      EXPECT_EQ(second({"EXISTS", key}).integer(), 1);
      EXPECT_TRUE(hold.release());
    }
  }
}

TEST_F(RedisReplicas, AGrantThatTooFewConfirmedIsReleased) {
  const Locks locks = connect(2, 400ms);
  ASSERT_TRUE(locks.lock("warm").try_acquire().has_value());
  servers_.replica(0).stop();
  try {
    static_cast<void>(locks.lock("k", LockType::FENCED).acquire(700ms));
    ADD_FAILURE() << "given with one replica out of two";
  } catch (const BackendUnavailable& error) {
    // The second attempt waits for 10 ms only, in which a busy machine may run neither replica.
    EXPECT_THAT(error.what(), ContainsRegex("only [01] of 2 replicas confirmed it within"));
  }
  auto client = servers_.master().client();
  EXPECT_TRUE(eventually([&] { return client({"EXISTS", "k"}).integer() == 0; }));
  servers_.replica(0).resume();
  EXPECT_TRUE(locks.lock("k", LockType::FENCED).try_acquire(10s).has_value());
}

// While one WAIT lasts the server does nothing else on the connection: once replicas are known to
// be missing, a look must do.
TEST_F(RedisReplicas, MissingReplicasDelayNeitherRenewalsNorReleases) {
  const Locks locks = connect(2, 1s);
  Hold hold = locks.lock("held").acquire(1s, 60s);
  servers_.replica(0).stop();
  EXPECT_THROW(static_cast<void>(locks.lock("k").acquire(1500ms)), BackendUnavailable);
  const Stalls stalls;
  const auto began = std::chrono::steady_clock::now();
  for (int round = 0; round < 5; ++round) {
    // The outcome is unknown, or the last attempt still holds the key until its release arrives.
    EXPECT_THROW(static_cast<void>(locks.lock("k").acquire(10ms)), Error);
  }
  EXPECT_TRUE(hold.release());
  EXPECT_LT(std::chrono::steady_clock::now() - began, 4s + stalls.total())
      << "a second for each attempt and release";
}

TEST_F(RedisReplicas, ARenewalThatTooFewConfirmedMovesNoDeadline) {
  const Locks locks = connect(2, 400ms);
  Hold hold = locks.lock("k").acquire(1s, 5s);
  servers_.replica(0).stop();
  EXPECT_THROW(static_cast<void>(hold.extend(60s)), BackendUnavailable);
  EXPECT_LT(hold.remaining(), 6s);
  servers_.replica(0).resume();
}

TEST_F(RedisReplicas, AServerWithoutWaitIsRefused) {
  auto client = servers_.master().client();
  client({"ACL", "SETUSER", "plain", "on", "nopass", "~*", servers_.master().all_channels(),
          "+@all", "-wait"});
  const std::string uri = "redis://plain:x@127.0.0.1:" + std::to_string(servers_.master().port());
  EXPECT_NO_THROW(Locks::connect(uri));
  try {
    Locks::connect(uri + "?min_replicas=1");
    ADD_FAILURE() << "taken";
  } catch (const BackendRefused& error) {
    EXPECT_THAT(error.what(), HasSubstr("refused WAIT, which the option min_replicas needs"));
  }
}

// Promise 4 of the design: without a replica's word a failover can forget a grant, and what checks
// tokens is correct all the same.
TEST_F(RedisReplicas, FencingTokensDetectAHoldThatAFailoverForgot) {
  const Locks before = connect(0);
  servers_.replica(0).client()(
      {"REPLICAOF", "127.0.0.1", "1"});  // it replicates nothing from now on
  Hold forgotten = before.lock("k", LockType::FENCED).acquire(1s, 60s);
  servers_.master().kill();
  servers_.promote(0);
  const Locks after = connect(0);
  Hold second = after.lock("k", LockType::FENCED).acquire(5s, 60s);
  EXPECT_FALSE(forgotten.lost()) << "two hold it: the window that asynchronous replication leaves";
  EXPECT_GT(*second.fencing_token(), *forgotten.fencing_token());
}

// With min_replicas, a grant that no replica confirmed is not returned.
TEST_F(RedisReplicas, AHoldThatReplicasConfirmedSurvivesAFailover) {
  const Locks before = connect(2, 400ms);
  servers_.replica(0).stop();
  EXPECT_THROW(static_cast<void>(before.lock("k", LockType::FENCED).acquire(600ms)),
               BackendUnavailable);
  servers_.replica(0).resume();
  Hold kept = before.lock("k", LockType::FENCED).acquire(10s, 60s);
  servers_.master().kill();
  servers_.promote(0);
  const Locks after = connect(0);
  EXPECT_FALSE(after.lock("k", LockType::FENCED).try_acquire(500ms).has_value());
}

}  // namespace
}  // namespace latchkey::tests
