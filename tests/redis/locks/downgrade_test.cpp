// Downgrades on a real server: a WRITE is released while READs inside it continue.
#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <string>
#include <vector>

#include <latchkey/error.hpp>
#include <latchkey/locks.hpp>

#include "support/recorder.hpp"
#include "support/servers/redis_server.hpp"

namespace latchkey::tests {
namespace {

using namespace std::chrono_literals;

class RedisDowngrade : public ::testing::Test {
 protected:
  using Names = std::vector<std::string>;
  [[nodiscard]] Names keys() { return client_({"KEYS", "*"}).list(); }
  [[nodiscard]] bool nobody_holds() {
    return eventually([&] { return keys().empty(); });
  }

  template <class Call>
  static void expect_done_or_unconfirmed(Call&& call) {
    try {
      call();
    } catch (const BackendUnavailable& error) {
      EXPECT_NE(std::string(error.what()), "") << "it says that nobody answered";
    }
  }

  RedisServer server_;
  RedisClient client_ = server_.client();
};

// The server replies to the downgrade after its caller has given up and the READ was released. The
// release then named a WRITE, which no longer existed, so the READ stayed for its whole lease.
TEST_F(RedisDowngrade, ADowngradeOnAPausedServerLeavesNoRead) {
  const Locks locks = Locks::connect(server_.tcp_uri(), {.command_timeout = 300ms});
  {  // loads the scripts
    Hold write = locks.lock("k", LockType::WRITE).acquire(5s, 60s);
    const Hold read = locks.lock("k", LockType::READ).acquire(5s, 60s);
    EXPECT_TRUE(write.release());
  }
  for (const bool extends : {false, true}) {
    SCOPED_TRACE(extends);
    Hold write = locks.lock("k", LockType::WRITE).acquire(5s, 60s);
    Hold read = locks.lock("k", LockType::READ).acquire(5s, 60s);
    client_({"CLIENT", "PAUSE", "450"});
    EXPECT_THROW(write.release(), BackendUnavailable);
    if (extends) expect_done_or_unconfirmed([&] { read.extend(70s); });
    expect_done_or_unconfirmed([&] { read.release(); });
    EXPECT_TRUE(nobody_holds());
  }
}

TEST_F(RedisDowngrade, ADowngradeByTwoThreadsOfOneOwnerSucceedsAndLeavesNoRead) {
  const Locks all = Locks::connect(server_.tcp_uri());
  for (int round = 0; round < 300; ++round) {
    const Locks locks = all.with_owner(Owner::make());
    const std::string key = "k" + std::to_string(round);
    Hold write = locks.lock(key, LockType::WRITE).acquire(5s, 60s);
    Hold read = locks.lock(key, LockType::READ).acquire(5s, 60s);
    auto other = std::async(std::launch::async, [&] { return read.release(); });
    EXPECT_TRUE(write.release()) << "round " << round;
    EXPECT_TRUE(other.get()) << "round " << round;
  }
  EXPECT_EQ(keys(), Names{});
}

// A server without the scripts runs nothing and replies NOSCRIPT. That must not make a call
// unavailable.
TEST_F(RedisDowngrade, ADowngradeAfterTheScriptsWereFlushedSucceeds) {
  const Locks all = Locks::connect(server_.tcp_uri());
  for (int round = 0; round < 300; ++round) {
    const Locks locks = all.with_owner(Owner::make());
    const std::string key = "k" + std::to_string(round);
    Hold write = locks.lock(key, LockType::WRITE).acquire(5s, 60s);
    Hold read = locks.lock(key, LockType::READ).acquire(5s, 60s);
    client_({"SCRIPT", "FLUSH"});
    auto other = std::async(std::launch::async, [&] { return read.release(); });
    EXPECT_TRUE(write.release()) << "round " << round;
    EXPECT_TRUE(other.get()) << "round " << round;
  }
  EXPECT_EQ(keys(), Names{});
}

TEST_F(RedisDowngrade, EveryReleaseAfterTheScriptsWereFlushedSucceeds) {
  const Locks locks = Locks::connect(server_.tcp_uri());
  for (const LockType type :
       {LockType::REENTRANT, LockType::FAIR, LockType::FENCED, LockType::READ, LockType::WRITE}) {
    Hold hold = locks.lock("k", type).acquire(5s, 60s);
    client_({"SCRIPT", "FLUSH"});
    EXPECT_TRUE(hold.release());
    client_({"DEL", "redisson_lock_token:{k}"});
    EXPECT_EQ(keys(), Names{});
  }
}

}  // namespace
}  // namespace latchkey::tests
