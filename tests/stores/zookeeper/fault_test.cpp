// Faults of the server, of the connection and of the session, under a hold and under a wait.
#include <chrono>
#include <future>
#include <optional>
#include <string>
#include <thread>

#include "fixture.hpp"
#include "support/servers/fault_proxy.hpp"

namespace latchkey::tests {
namespace {

class ZooKeeperFaults : public ZooKeeperTest {
 protected:
  using Direction = FaultProxy::Direction;

  /// A thread with a connection of its own acquires the lock and releases it.
  [[nodiscard]] static std::future<bool> start_waiter(const std::string& uri) {
    return std::async(std::launch::async, [uri] {
      const Locks locks = connect_zookeeper(uri);
      std::optional<Hold> hold = locks.lock("key").try_acquire(20s);
      return hold.has_value() && hold->release();
    });
  }
  static void await_waiter(const Locks& locks) {
    await("a waiter", [&] {
      return locks.inspect("key").queue.empty() ? std::string("nobody waits") : std::string();
    });
  }
  /// The lock is free and works.
  static void expect_works(const std::string& uri) {
    const Locks locks = connect_zookeeper(uri);
    Hold hold = locks.lock("key").acquire(10s);
    EXPECT_TRUE(hold.release());
  }
};

TEST_F(ZooKeeperFaults, AHoldAndAWaitSurviveARestartOfTheServer) {
  ZooKeeperServer own;
  const std::string uri = own.uri("/locks");
  const Locks locks = connect_zookeeper(uri);
  Hold hold = locks.lock("key").acquire(5s);
  std::future<bool> waiter = start_waiter(uri);
  await_waiter(locks);
  own.kill();
  own.start();
  std::this_thread::sleep_for(1s);  // sleeps: the session is taken up again meanwhile
  EXPECT_FALSE(hold.lost());
  await("the release", [&] { return hold.release() || hold.lost() ? "" : "unconfirmed"; });
  EXPECT_TRUE(waiter.get());
  expect_works(uri);
  expect_nothing_left(own, "/locks");
}

TEST_F(ZooKeeperFaults, AFrozenServerLosesAHoldInTimeAndServesAgain) {
  ZooKeeperServer own;
  const std::string uri = own.uri("/locks");
  const Locks locks = connect_zookeeper(uri);
  Hold hold = locks.lock("key").acquire(5s, 1500ms);
  std::future<bool> waiter = start_waiter(uri);
  await_waiter(locks);
  const auto frozen = std::chrono::steady_clock::now();
  own.stop();
  await("the loss", [&] { return hold.lost() ? "" : "held"; });
  EXPECT_LT(std::chrono::steady_clock::now() - frozen, 2s);
  EXPECT_THROW(static_cast<void>(locks.lock("other").acquire(100ms)), BackendUnavailable);
  own.resume();
  EXPECT_TRUE(waiter.get());
  expect_works(uri);
  expect_nothing_left(own, "/locks");
}

TEST_F(ZooKeeperFaults, AKilledServerIsUnavailableAtOnceAndServesAgain) {
  ZooKeeperServer own;
  const std::string uri = own.uri("/locks");
  const Locks locks = connect_zookeeper(uri);
  {
    const Hold hold = locks.lock("key").acquire(5s);
  }
  own.kill();
  const auto killed = std::chrono::steady_clock::now();
  EXPECT_THROW(static_cast<void>(locks.lock("key").acquire(0s)), BackendUnavailable);
  EXPECT_LT(std::chrono::steady_clock::now() - killed, 1500ms);
  EXPECT_THROW(static_cast<void>(connect_zookeeper(uri)), BackendUnavailable);
  own.start();
  expect_works(uri);
  EXPECT_TRUE(locks.lock("key").try_acquire(5s));
}

TEST_F(ZooKeeperFaults, AHoldAndAWaitSurviveTheLossOfTheConnection) {
  FaultProxy proxy(server().port());
  const std::string folder = fresh_folder();
  const std::string uri = "zookeeper://127.0.0.1:" + std::to_string(proxy.port()) + folder;
  const Locks locks = connect_zookeeper(uri);
  Hold hold = locks.lock("key").acquire(5s);
  std::future<bool> waiter = start_waiter(uri);
  await_waiter(locks);
  proxy.cut();
  EXPECT_TRUE(hold.extend(5s) || hold.extend(5s));
  EXPECT_FALSE(hold.lost());
  EXPECT_TRUE(hold.release());
  EXPECT_TRUE(waiter.get());
  expect_works(uri);
  expect_nothing_left(server(), folder);
}

TEST_F(ZooKeeperFaults, ANodeWhoseReplyWasLostIsFoundAgain) {
  const ZooKeeperServer keeps_folders(1h);
  FaultProxy proxy(keeps_folders.port());
  const std::string folder = fresh_folder();
  const Locks direct = connect_zookeeper(keeps_folders.uri(folder));
  {
    const Hold makes_folders = direct.lock("key").acquire(5s);
  }
  for (const LockType type :
       {LockType::REENTRANT, LockType::FAIR, LockType::FENCED, LockType::READ, LockType::WRITE}) {
    SCOPED_TRACE(to_string(type));
    const Locks locks =
        connect_zookeeper("zookeeper://127.0.0.1:" + std::to_string(proxy.port()) + folder);
    proxy.hold(Direction::to_client);
    auto acquired = std::async(std::launch::async, [&] {
      std::optional<Hold> hold = locks.lock("key", type).try_acquire(10s);
      return hold && hold->release();
    });
    await("the node", [&] { return direct.inspect("key").locked ? "" : "not made"; });
    proxy.cut();
    EXPECT_TRUE(acquired.get());
    EXPECT_FALSE(direct.inspect("key").locked);
  }
}

TEST_F(ZooKeeperFaults, ANodeWhoseReplyWasLostIsDeletedIfTheCallGaveUp) {
  const ZooKeeperServer keeps_folders(1h);
  FaultProxy proxy(keeps_folders.port());
  const std::string folder = fresh_folder();
  const Locks direct = connect_zookeeper(keeps_folders.uri(folder));
  {
    const Hold makes_folders = direct.lock("key").acquire(5s);
  }
  const Locks locks =
      connect_zookeeper("zookeeper://127.0.0.1:" + std::to_string(proxy.port()) + folder);
  proxy.hold(Direction::to_client);
  auto acquired = std::async(std::launch::async, [&] {
    EXPECT_THROW(static_cast<void>(locks.lock("key").try_acquire(0s)), BackendUnavailable);
  });
  await("the node", [&] { return direct.inspect("key").locked ? "" : "not made"; });
  proxy.cut();
  acquired.get();
  EXPECT_TRUE(direct.lock("key").try_acquire(3s)) << "long before the session ends";
}

// Nobody repeats a release after the lease, and the node stayed for 10 s.
TEST_F(ZooKeeperFaults, ANodeOfAShortLeaseWhoseReplyWasLostIsDeletedIfTheCallGaveUp) {
  const ZooKeeperServer keeps_folders(1h);
  FaultProxy proxy(keeps_folders.port());
  const std::string folder = fresh_folder();
  const Locks direct = connect_zookeeper(keeps_folders.uri(folder));
  {
    const Hold makes_folders = direct.lock("key").acquire(5s);
  }
  const Locks locks =
      connect_zookeeper("zookeeper://127.0.0.1:" + std::to_string(proxy.port()) + folder);
  proxy.hold(Direction::to_client);
  EXPECT_THROW(static_cast<void>(locks.lock("key").try_acquire(50ms, 300ms)), BackendUnavailable);
  await("the node", [&] { return direct.inspect("key").locked ? "" : "not made"; });
  // sleeps: the lease ends while the release waits for the acquire
  std::this_thread::sleep_for(400ms);
  proxy.cut();
  EXPECT_TRUE(direct.lock("key").try_acquire(4s));
}

TEST_F(ZooKeeperFaults, APlaceIsDeletedAlthoughTheConnectionWasLostMeanwhile) {
  FaultProxy proxy(server().port());
  const std::string folder = fresh_folder();
  const Locks direct = connect_zookeeper(server().uri(folder));
  const Hold writes = direct.lock("key", LockType::WRITE).acquire(5s);
  for (const auto lease : {300ms, 6000ms}) {
    SCOPED_TRACE(lease.count());
    const Locks locks =
        connect_zookeeper("zookeeper://127.0.0.1:" + std::to_string(proxy.port()) + folder);
    auto reader = std::async(std::launch::async, [&] {
      EXPECT_FALSE(locks.lock("key", LockType::READ).try_acquire(1500ms, lease));
    });
    await_waiter(direct);
    proxy.hold(Direction::to_server);
    reader.get();
    proxy.cut();
    const auto end = std::chrono::steady_clock::now() + 4s;
    await("the end of the place", [&] {
      const bool over = std::chrono::steady_clock::now() > end;
      return over || direct.inspect("key").queue.empty() ? "" : "it is in line";
    });
    EXPECT_TRUE(direct.inspect("key").queue.empty());
  }
}

TEST_F(ZooKeeperFaults, AConnectionThatIsSilentForTooLongIsReplaced) {
  FaultProxy proxy(server().port());
  const std::string folder = fresh_folder();
  const Locks locks = connect_zookeeper(
      "zookeeper://127.0.0.1:" + std::to_string(proxy.port()) + folder, 6s, 300ms);
  Hold hold = locks.lock("key").acquire(5s);
  proxy.hold(Direction::to_client);  // this connection only
  std::optional<Hold> other = locks.lock("other").try_acquire(5s);
  EXPECT_TRUE(other);
  EXPECT_FALSE(hold.lost());
  EXPECT_TRUE(hold.release());
}

TEST_F(ZooKeeperFaults, AnIdleConnectionComesBackWithoutAnError) {
  const std::string folder = fresh_folder();
  const Locks locks = connect_zookeeper(server().uri(folder), 1s);
  {
    const Hold hold = locks.lock("key").acquire(1s);
  }
  std::this_thread::sleep_for(3s);  // sleeps: its session ends meanwhile
  std::optional<Hold> hold = locks.lock("key").try_acquire(0s);
  ASSERT_TRUE(hold);
  std::this_thread::sleep_for(3s);  // sleeps: the watchdog keeps the session
  EXPECT_FALSE(hold->lost());
  EXPECT_TRUE(hold->release());
}

// It would keep the socket of a connection that has ended, and its events with it.
TEST_F(ZooKeeperFaults, AStartedProgramInheritsNoConnection) {
  const std::string folder = fresh_folder();
  const Locks locks = connect_zookeeper(server().uri(folder), 3s);
  {
    const Hold hold = locks.lock("key").acquire(1s);
  }
  const Process program({"sleep", "60"}, "/dev/null");
  for (const auto idle : {2500ms, 4000ms}) {
    // sleeps: the session idles for longer than it may be silent
    std::this_thread::sleep_for(idle);
    EXPECT_TRUE(locks.lock("key").try_acquire(0s));
  }
}

TEST_F(ZooKeeperFaults, ALeaseEndsInALivingProcessAndItsSessionGoesOn) {
  const std::string folder = fresh_folder();
  const Locks one = connect_zookeeper(server().uri(folder));
  const Locks other = connect_zookeeper(server().uri(folder));
  Hold forgotten = one.lock("key").acquire(1s, 300ms);
  Hold kept = one.lock("kept").acquire(1s);
  std::optional<Hold> next = other.lock("key").try_acquire(2s);
  EXPECT_TRUE(next) << "long before the session ends";
  EXPECT_TRUE(forgotten.lost());
  EXPECT_FALSE(kept.lost());
}

}  // namespace
}  // namespace latchkey::tests
