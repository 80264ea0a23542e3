// FAIR waiters that lose their connection: their places in the queue end in time.
#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <optional>
#include <thread>

#include <latchkey/error.hpp>
#include <latchkey/locks.hpp>

#include "support/recorder.hpp"
#include "support/servers/fault_proxy.hpp"
#include "support/servers/redis_server.hpp"
#include "support/stalls.hpp"

namespace latchkey::tests {
namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

class RedisFairGhost : public ::testing::Test {
 protected:
  using Granted = std::future<std::optional<Hold>>;

  static Granted waiting(const Locks& locks, std::chrono::milliseconds wait) {
    return std::async(std::launch::async, [locks, wait]() -> std::optional<Hold> {
      try {
        return locks.lock("k", LockType::FAIR).try_acquire(wait, 500ms);
      } catch (const BackendUnavailable&) {
        return std::nullopt;  // it was cut off
      }
    });
  }
  std::size_t places() {
    return static_cast<std::size_t>(client_({"LLEN", "redisson_lock_queue:{k}"}).integer());
  }
  [[nodiscard]] bool come_to(std::size_t count) {
    return eventually([&] { return places() == count; });
  }
  void cut_off() {
    proxy_.refuse(true);
    proxy_.cut();
  }

  RedisServer server_;
  RedisClient client_ = server_.client();
  FaultProxy proxy_{server_.port()};
  const Locks direct_ = Locks::connect(server_.tcp_uri());
  const Locks gated_ = Locks::connect(proxy_.uri(), {.command_timeout = 1s});
};

TEST_F(RedisFairGhost, AWaiterThatIsCutOffDelaysTheNextByFiveSecondsAtMost) {
  Hold hold = direct_.lock("k", LockType::FAIR).acquire(0ms, 60s);
  Granted ghost = waiting(gated_, 60s);
  ASSERT_TRUE(come_to(1));
  Granted next = waiting(direct_, 60s);
  ASSERT_TRUE(come_to(2));
  cut_off();
  const Stalls stalls;
  const auto released = steady_clock::now();
  EXPECT_TRUE(hold.release());
  EXPECT_TRUE(next.get());
  EXPECT_LT(steady_clock::now() - released, 6s + stalls.total());
  gated_.close(0ms);
}

TEST_F(RedisFairGhost, APlaceGivenUpWhileCutOffIsRemovedOnReconnection) {
  const Hold hold = direct_.lock("k", LockType::FAIR).acquire(0ms, 60s);
  Granted ghost = waiting(gated_, 1s);
  ASSERT_TRUE(come_to(1));
  cut_off();
  EXPECT_FALSE(ghost.get());
  std::this_thread::sleep_for(2s);  // sleeps: longer than the lease that it requested
  EXPECT_EQ(places(), 1U);
  proxy_.refuse(false);
  EXPECT_TRUE(come_to(0)) << "its place is given up as soon as it can be";
}

}  // namespace
}  // namespace latchkey::tests
