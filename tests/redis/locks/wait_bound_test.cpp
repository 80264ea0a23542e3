// A call ends at the end of its wait, whatever happens to the server.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include <latchkey/error.hpp>
#include <latchkey/locks.hpp>

#include "support/recorder.hpp"
#include "support/servers/fault_proxy.hpp"
#include "support/servers/redis_server.hpp"
#include "support/stalls.hpp"

namespace latchkey::tests {
namespace {

using namespace std::chrono_literals;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;
using SteadyClock = std::chrono::steady_clock;

/// The duration and the error text of a call that must fail.
struct Failed {
  std::chrono::nanoseconds took{};
  std::chrono::nanoseconds stalled{};  ///< for how long the machine was too busy meanwhile
  std::string text{};

  [[nodiscard]] std::chrono::nanoseconds undisturbed() const { return took - stalled; }
};

template <class Call>
Failed failure_of(Call&& call) {
  Failed failed;
  const Stalls stalls;
  const auto began = SteadyClock::now();
  try {
    call();
    ADD_FAILURE() << "granted without a server";
  } catch (const BackendUnavailable& error) {
    failed.text = error.what();
  }
  failed.took = SteadyClock::now() - began;
  failed.stalled = stalls.total();
  return failed;
}

class RedisWaitBound : public ::testing::Test {
 protected:
  /// So long that the duration of a call shows whether it waited for a command.
  static constexpr std::chrono::milliseconds command_timeout = 5s;

  [[nodiscard]] static Locks connect(const std::string& uri) {
    Locks locks = Locks::connect(uri, {.command_timeout = command_timeout});
    EXPECT_TRUE(locks.lock("warm").try_acquire().has_value());
    return locks;
  }
  [[nodiscard]] static Failed acquire(const Locks& locks, LockType type, Wait wait) {
    return failure_of([&] { static_cast<void>(locks.lock("k", type).acquire(wait, 30s)); });
  }

  RedisServer server_;
};

TEST_F(RedisWaitBound, AServerThatIsDownEndsAWaitOfZeroAtOnceAndOthersInTime) {
  const Locks locks = connect(server_.tcp_uri());
  server_.kill();
  for (const LockType type : {LockType::REENTRANT, LockType::FAIR, LockType::READ}) {
    EXPECT_LT(acquire(locks, type, 0ms).undisturbed(), 2s);
    EXPECT_LT(acquire(locks, type, 100ms).undisturbed(), 2s);
    const Failed second = acquire(locks, type, 1s);
    EXPECT_GE(second.took, 1s);
    EXPECT_LT(second.undisturbed(), 3s);
    EXPECT_THAT(second.text, ContainsRegex("Connection refused; waited 1[0-9]{3} ms"));
  }
  server_.start();
  EXPECT_TRUE(locks.lock("k").try_acquire(10s).has_value());
}

TEST_F(RedisWaitBound, AUnixSocketThatIsGoneEndsAWaitOfZeroAtOnce) {
  const Locks locks = connect(server_.unix_uri());
  server_.kill();
  for (int call = 0; call < 10; ++call) {
    EXPECT_LT(acquire(locks, LockType::REENTRANT, 0ms).undisturbed(), 2s);
  }
}

TEST_F(RedisWaitBound, AFrozenServerEndsWaitsInTime) {
  const Locks locks = connect(server_.tcp_uri());
  server_.stop();
  const Failed brief = acquire(locks, LockType::REENTRANT, 100ms);
  EXPECT_LT(brief.undisturbed(), 2s);
  EXPECT_THAT(brief.text, HasSubstr("no answer; waited 1"));
  EXPECT_LT(acquire(locks, LockType::FAIR, 1s).undisturbed(), 3s);
  Lock both = locks.all_of({locks.lock("a"), locks.lock("b")});
  EXPECT_LT(failure_of([&] { static_cast<void>(both.acquire(300ms, 30s)); }).undisturbed(), 2s);
  Lock ordered = locks.all_of({locks.lock("c"), locks.lock("d", LockType::FAIR)});
  EXPECT_LT(failure_of([&] { static_cast<void>(ordered.acquire(300ms, 30s)); }).undisturbed(), 2s);
  server_.resume();
  EXPECT_TRUE(locks.lock("k").try_acquire(10s).has_value());
  auto client = server_.client();
  EXPECT_TRUE(eventually([&] { return client({"DBSIZE"}).integer() == 0; })) << "no ghost stays";
}

TEST_F(RedisWaitBound, HeldKeysAreReleasedWithoutWaitingForTheServer) {
  const Locks locks = connect(server_.tcp_uri());
  const Locks others = connect(server_.tcp_uri());
  Hold busy = others.lock("b", LockType::FAIR).acquire(0ms, 30s);
  Lock both = locks.all_of({locks.lock("a"), locks.lock("b", LockType::FAIR)});
  std::jthread freezes([&] {
    auto client = server_.client();
    EXPECT_TRUE(eventually([&] { return client({"EXISTS", "a"}).integer() == 1; }));
    server_.stop();
  });
  const Stalls stalls;
  const auto began = SteadyClock::now();
  try {
    EXPECT_FALSE(both.try_acquire(1s, 30s).has_value());
  } catch (const BackendUnavailable&) {
    // The server froze before it replied that the second key is busy.
  }
  EXPECT_LT(SteadyClock::now() - began, 3s + stalls.total());
  freezes.join();
  server_.resume();
  EXPECT_TRUE(busy.release());
  auto client = server_.client();
  EXPECT_TRUE(eventually([&] { return client({"DBSIZE"}).integer() == 0; })) << "given back";
}

TEST_F(RedisWaitBound, AConnectionThatIsKnownToBeDownEndsAWaitOfZeroBeforeACommandWould) {
  FaultProxy proxy(server_.port());
  const Locks locks = connect(proxy.uri());
  proxy.drop(FaultProxy::Direction::to_server);
  proxy.drop(FaultProxy::Direction::to_client);
  proxy.cut();
  // The first finds out that the connection is gone; the others know.
  EXPECT_LT(acquire(locks, LockType::REENTRANT, 1s).undisturbed(), 3s);
  for (int call = 0; call < 3; ++call) {
    EXPECT_LT(acquire(locks, LockType::REENTRANT, 0ms).undisturbed(), 2s);
  }
  proxy.pass(FaultProxy::Direction::to_server);
  proxy.pass(FaultProxy::Direction::to_client);
  proxy.cut();
  EXPECT_TRUE(locks.lock("k").try_acquire(20s).has_value());
}

TEST_F(RedisWaitBound, ManyAttemptsWhileTheServerIsDownLeaveNothingToRelease) {
  const Locks locks = connect(server_.tcp_uri());
  server_.kill();
  for (int call = 0; call < 1'000; ++call) {
    EXPECT_THROW(static_cast<void>(locks.lock("k", LockType::FAIR).try_acquire(0ms, 30s)),
                 BackendUnavailable);
  }
  server_.start();
  EXPECT_TRUE(locks.lock("k", LockType::FAIR).try_acquire(10s).has_value());
  auto client = server_.client();
  // One release for each would be a thousand calls.
  EXPECT_THAT(client({"INFO", "commandstats"}).text(),
              Not(HasSubstr("cmdstat_evalsha:calls=1000")));
  EXPECT_TRUE(eventually([&] { return client({"DBSIZE"}).integer() == 0; }));
}

TEST_F(RedisWaitBound, ALockTimeoutDoesNotWaitForTheHoldersName) {
  const Locks locks =
      Locks::connect(server_.tcp_uri(), {.command_timeout = command_timeout, .announce = true});
  const Locks others = connect(server_.tcp_uri());
  const Hold busy = others.lock("k").acquire(0ms, 30s);
  std::thread freezes([&] {
    std::this_thread::sleep_for(500ms);  // sleeps: in the midst of the wait
    server_.stop();
  });
  const Stalls stalls;
  const auto began = SteadyClock::now();
  EXPECT_THROW(static_cast<void>(locks.lock("k").acquire(1s, 30s)), LockTimeout);
  EXPECT_LT(SteadyClock::now() - began, 3s + stalls.total());
  freezes.join();
  server_.resume();
}

}  // namespace
}  // namespace latchkey::tests
