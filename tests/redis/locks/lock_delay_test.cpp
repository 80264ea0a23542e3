// lock_delay on a real server: a holder process that is killed, and how long the server keeps keys.
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <optional>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include <latchkey/locks.hpp>
#include <latchkey/semaphore.hpp>

#include "support/fork.hpp"
#include "support/recorder.hpp"
#include "support/servers/redis_server.hpp"

namespace latchkey::tests {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

class RedisLockDelay : public ::testing::Test {
 protected:
  [[nodiscard]] Locks connect(Recorder* recorder = nullptr) const {
    return Locks::connect(server_.tcp_uri(), {.listener = recorder});
  }
  /// How long the server would keep `key` if nobody did anything.
  [[nodiscard]] static milliseconds kept(const Locks& locks, const std::string& key) {
    return locks.inspect(key).holders.at(0).left.value();
  }
  /// A process acquires "k" and is killed while it holds it.
  void kill_a_holder(LockType type, Lease lease) const {
    std::array<int, 2> held{};
    ASSERT_EQ(::pipe(held.data()), 0);
    const pid_t child = fork_child();
    if (child == 0) {
      const Locks locks = connect();
      const Hold hold = locks.lock("k", type).acquire(5s, lease);
      const char byte = 0;
      if (::write(held[1], &byte, 1) == 1) ::pause();
      ::_exit(1);
    }
    char byte = 1;
    ::close(held[1]);
    EXPECT_EQ(::read(held[0], &byte, 1), 1) << "it does not hold";
    ::close(held[0]);
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
  }

  RedisServer server_;
};

TEST_F(RedisLockDelay, NobodyIsGrantedTheLockOfAKilledProcessBeforeItIsOver) {
  for (const LockType type : {LockType::REENTRANT, LockType::FAIR, LockType::WRITE}) {
    SCOPED_TRACE(to_string(type));
    const auto before = steady_clock::now();
    kill_a_holder(type, Lease(1s).lock_delay(2s));
    const Locks locks = connect();
    Hold next = locks.lock("k", type).acquire(20s, 30s);
    EXPECT_GE(steady_clock::now() - before, 3s) << "the lease, and the delay";
    EXPECT_TRUE(next.release());
  }
}

TEST_F(RedisLockDelay, AReleaseFreesTheLockAtOnce) {
  const Locks one = connect(), other = connect();
  Hold hold = one.lock("k").acquire(1s, Lease(30s).lock_delay(1h));
  EXPECT_TRUE(hold.release());
  EXPECT_TRUE(other.lock("k").try_acquire(0ms, 30s));
}

TEST_F(RedisLockDelay, TheServerKeepsEachTypeForLongerThanItsHolderBelieves) {
  const Locks locks = connect();
  const Lease lease = Lease(10s).lock_delay(1h);
  for (const LockType type :
       {LockType::REENTRANT, LockType::FAIR, LockType::READ, LockType::WRITE, LockType::FENCED}) {
    SCOPED_TRACE(to_string(type));
    Hold hold = locks.lock("k", type).acquire(1s, lease);
    EXPECT_LE(hold.remaining(), 10s);
    EXPECT_GT(kept(locks, "k"), 1h);
    EXPECT_TRUE(hold.extend(20s));
    EXPECT_GT(kept(locks, "k"), 1h + 10s);
    EXPECT_TRUE(hold.release());
  }
  const Hold all = locks.acquire_all(std::array<std::string, 2>{"a", "b"}, {.lease = lease});
  EXPECT_GT(kept(locks, "a"), 1h);
  EXPECT_GT(kept(locks, "b"), 1h);
  const Semaphore permits = locks.semaphore("s", 2);
  const Hold permit = permits.acquire(1, 1s, lease);
  EXPECT_GT(permits.inspect().holders.at(0).left.value(), 1h);
}

// The release grants it for a few seconds; the process that gets it asks for the rest.
TEST_F(RedisLockDelay, ALockThatAReleaseGrantsHasItBeforeItsHolderBelieves) {
  for (const LockType type : {LockType::REENTRANT, LockType::FAIR, LockType::WRITE}) {
    SCOPED_TRACE(to_string(type));
    Recorder recorder;
    const Locks one = connect(), other = connect(&recorder);
    Hold hold = one.lock("k", type).acquire(1s, 30s);
    std::thread waiter([&] {
      Hold next = other.lock("k", type).acquire(20s, Lease(10s).lock_delay(1h));
      EXPECT_GT(kept(other, "k"), 1h);
      EXPECT_TRUE(next.release());
    });
    EXPECT_TRUE(recorder.await(Event::Kind::waiting));
    EXPECT_TRUE(hold.release());
    waiter.join();
  }
}

TEST_F(RedisLockDelay, ALostHoldThatIsReleasedFreesTheLock) {
  const Locks one = connect(), other = connect();
  Hold hold = one.lock("k").acquire(1s, Lease(100ms).lock_delay(1h));
  ASSERT_TRUE(eventually([&] { return hold.lost(); }));
  EXPECT_FALSE(other.lock("k").try_acquire(0ms, 30s));
  EXPECT_FALSE(hold.release());
  EXPECT_TRUE(other.lock("k").try_acquire(20s, 30s)) << "the server was told after the answer";
}

}  // namespace
}  // namespace latchkey::tests
