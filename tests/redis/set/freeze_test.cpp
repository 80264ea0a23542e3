// A server that is stopped under a hold of redis+set://, and goes on.
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>

#include <latchkey/error.hpp>
#include <latchkey/locks.hpp>

#include "support/recorder.hpp"
#include "support/servers/redis_server.hpp"

namespace latchkey::tests {
namespace {

using namespace std::chrono_literals;

class RedisSetFrozen : public ::testing::Test {
 protected:
  [[nodiscard]] Locks connect() const {
    return Locks::connect("redis+set://127.0.0.1:" + std::to_string(server_.port()),
                          {.command_timeout = 1s});
  }

  RedisServer server_;
  RedisClient client_ = server_.client();
};

// The server processes nothing while it is stopped, and its clock goes on: the lease ends.
TEST_F(RedisSetFrozen, AHolderKnowsThatItsLeaseIsOverBeforeTheServerGrantsAgain) {
  const Locks holder = connect(), other = connect();
  const Hold hold = holder.lock("k").acquire(0ms, 600ms);
  server_.stop();
  EXPECT_TRUE(eventually([&] { return hold.lost(); }));
  server_.resume();
  EXPECT_TRUE(other.lock("k").try_acquire(5s, 30s));
  EXPECT_TRUE(hold.lost());
}

TEST_F(RedisSetFrozen, AHoldWhoseLeaseIsLongerStaysAndAnAbandonedAcquireLeavesNothing) {
  const Locks holder = connect(), other = connect();
  Hold hold = holder.lock("k").acquire(0ms, 60s);
  server_.stop();
  EXPECT_THROW(static_cast<void>(other.lock("other").acquire(200ms, 60s)), BackendUnavailable);
  server_.resume();
  EXPECT_FALSE(hold.lost());
  // The acquire may have reached the server: it is undone.
  EXPECT_TRUE(eventually([&] { return client_({"EXISTS", "other"}).integer() == 0; }));
  EXPECT_FALSE(other.lock("k").try_acquire(0ms, 30s));
  EXPECT_TRUE(hold.release());
  EXPECT_TRUE(eventually([&] { return client_({"DBSIZE"}).integer() == 0; }));
}

}  // namespace
}  // namespace latchkey::tests
