// Semaphores on a real server: waiting in several processes, loss, and what a hand-off costs.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <latchkey/error.hpp>
#include <latchkey/locks.hpp>
#include <latchkey/semaphore.hpp>

#include "support/recorder.hpp"
#include "support/servers/fault_proxy.hpp"
#include "support/servers/redis_server.hpp"

namespace latchkey::tests {
namespace {

using namespace std::chrono_literals;

class RedisSemaphore : public ::testing::Test {
 protected:
  [[nodiscard]] Locks connect(Recorder* recorder = nullptr) const {
    return Locks::connect(server_.tcp_uri(), {.listener = recorder});
  }
  /// How many scripts the server has run.
  long long scripts() {
    const std::string text = client_({"INFO", "commandstats"}).text();
    long long sum = 0;
    for (const std::string name : {"cmdstat_evalsha:calls=", "cmdstat_eval:calls="}) {
      const std::size_t at = text.find(name);
      if (at != std::string::npos) sum += std::stoll(text.substr(at + name.size()));
    }
    return sum;
  }

  RedisServer server_;
  RedisClient client_ = server_.client();
};

TEST_F(RedisSemaphore, AWaiterOfAnotherProcessIsWokenByTheRelease) {
  Recorder recorder;
  const Locks one = connect(), other = connect(&recorder);
  Hold all = one.semaphore("exports", 3).acquire(3, forever);
  std::thread waiter([&] {
    const Hold hold = other.semaphore("exports", 3).acquire(2, 20s);
    EXPECT_EQ(hold.permits(), 2U);
  });
  ASSERT_TRUE(recorder.await(Event::Kind::waiting));
  EXPECT_TRUE(all.release());
  waiter.join();
  EXPECT_EQ(one.semaphore("exports", 3).available(), 3);
}

TEST_F(RedisSemaphore, AWaiterTakesThePermitOfADeadProcessWhenItsLeaseEnds) {
  const Locks locks = connect();
  {
    RedisClient dead = server_.client();
    const auto time = dead({"TIME"}).list();
    const long long now = std::stoll(time[0]) * 1000 + std::stoll(time[1]) / 1000;
    dead({"SET", "exports", "0"});
    dead({"ZADD", "{exports}:timeout", std::to_string(now + 700), "0123456789abcdef"});
  }
  const Hold hold = locks.semaphore("exports", 1).acquire(1, 10s);
  EXPECT_FALSE(hold.lost());
  EXPECT_EQ(client_({"ZCARD", "{exports}:timeout"}).integer(), 1);
}

TEST_F(RedisSemaphore, AFlushedServerIsALossAtTheNextCheck) {
  Recorder recorder;
  const Locks locks = Locks::connect(server_.tcp_uri(), {.watchdog = 900ms, .listener = &recorder});
  const Hold hold = locks.semaphore("exports", 3).acquire(2, forever);
  client_({"FLUSHALL"});
  EXPECT_TRUE(recorder.await(Event::Kind::lost));
  EXPECT_TRUE(hold.lost());
  EXPECT_EQ(client_({"DBSIZE"}).integer(), 0);
}

TEST_F(RedisSemaphore, DestroyDeletesNoSortedSetThatIsNotItsPermits) {
  const Semaphore semaphore = connect().semaphore("exports", 3);
  client_({"SET", "exports", "3"});
  client_({"ZADD", "{exports}:timeout", "1", "a member of something else"});
  EXPECT_THROW(semaphore.destroy(), BackendRefused);
  EXPECT_EQ(client_({"GET", "exports"}).text(), "3");
  EXPECT_EQ(client_({"ZCARD", "{exports}:timeout"}).integer(), 1);
}

TEST_F(RedisSemaphore, TheWatchdogRenewsPermitsAndLocksTogether) {
  Recorder recorder;
  const Locks locks = Locks::connect(server_.tcp_uri(), {.watchdog = 600ms, .listener = &recorder});
  const Hold two = locks.semaphore("exports", 3).acquire(2, forever);
  const Hold one = locks.semaphore("b", 1).acquire(1, forever);
  const Hold lock = locks.lock("lock").acquire(forever);
  EXPECT_TRUE(recorder.await(Event::Kind::renewed, 12));  // four of each
  EXPECT_FALSE(two.lost());
  EXPECT_FALSE(one.lost());
  EXPECT_FALSE(lock.lost());
}

TEST_F(RedisSemaphore, AKeyThatIsATagIsRefused) {
  const Locks locks = connect();
  try {
    static_cast<void>(locks.semaphore("{exports}", 3).acquire(1, 0ms));
    ADD_FAILURE() << "it has the keys of the semaphore 'exports'";
  } catch (const BackendRefused& error) {
    EXPECT_NE(std::string(error.what()).find("is a hash tag and nothing else"), std::string::npos)
        << error.what();
  }
}

// Each hand-off is a release and an acquire, and no call behind the first asks in vain.
TEST_F(RedisSemaphore, AHandOffTakesAtMostTwoCommandsHoweverManyWait) {
  constexpr int waiters = 200;
  Recorder recorder;
  const Locks locks = connect(&recorder);
  const Semaphore exports = locks.semaphore("exports", 3);
  Hold all = exports.acquire(3, 0ms, watchdog);
  std::vector<std::thread> threads;
  threads.reserve(waiters);
  for (int number = 0; number < waiters; ++number) {
    threads.emplace_back([&] {
      const Hold hold = exports.acquire(1, 60s);
      std::this_thread::sleep_for(6ms);  // sleeps: longer than a cohort
    });
  }
  ASSERT_TRUE(recorder.await(Event::Kind::waiting, waiters));
  const long long before = scripts();
  EXPECT_TRUE(all.release());
  for (std::thread& each : threads) each.join();
  const double each = static_cast<double>(scripts() - before) / waiters;
  RecordProperty("commands", std::to_string(each));
  EXPECT_LE(each, 2.2) << "with the polls of a slow machine";
  EXPECT_EQ(exports.available(), 3);
}

/// Eight threads that take a permit, work for 3 ms, and take one again at once.
class BusyThreads {
 public:
  explicit BusyThreads(const Semaphore& semaphore) {
    for (int number = 0; number < 8; ++number) {
      threads_.emplace_back([this, semaphore](std::stop_token stop) {
        while (!stop.stop_requested()) {
          const Hold hold = semaphore.acquire(1, 60s);
          ++grants_;
          std::this_thread::sleep_for(3ms);  // sleeps: this is the time with a permit
        }
      });
    }
  }
  /// Acquires `permits` twenty times. Returns how many grants these threads had meanwhile, for
  /// each.
  double grants_beside(const Semaphore& other, int permits) {
    constexpr int times = 20;
    const int before = grants_;
    for (int number = 0; number < times; ++number) {
      EXPECT_FALSE(other.acquire(permits, 20s).lost());
    }
    return static_cast<double>(grants_ - before) / times;
  }

 private:
  std::atomic<int> grants_ = 0;
  std::vector<std::jthread> threads_;
};

// Its attempts arrive later than those of the process beside the server, after every release.
TEST_F(RedisSemaphore, AProcessFarFromTheServerIsNotOvertakenForEver) {
  FaultProxy line(server_.port());
  line.delay(FaultProxy::Direction::to_server, 5ms);
  line.delay(FaultProxy::Direction::to_client, 5ms);
  const Locks near = connect(), far = Locks::connect(line.uri());
  BusyThreads busy(near.semaphore("exports", 1));
  EXPECT_LE(busy.grants_beside(far.semaphore("exports", 1), 1), 25);
}

TEST_F(RedisSemaphore, ACallForAllPermitsIsNotOvertakenByThoseOfAnotherProcess) {
  const Locks one = connect(), other = connect();
  BusyThreads busy(one.semaphore("exports", 4));
  EXPECT_LE(busy.grants_beside(other.semaphore("exports", 4), 4), 25);
}

TEST_F(RedisSemaphore, WhoGivesUpLeavesNoPlaceInTheQueue) {
  const Locks one = connect(), other = connect();
  const Hold all = one.semaphore("exports", 2).acquire(2, forever);
  EXPECT_EQ(other.semaphore("exports", 2).try_acquire(1, 50ms), std::nullopt);
  EXPECT_EQ(other.semaphore("exports", 2).available(), 0);  // the server has answered what was sent
  EXPECT_EQ(client_({"EXISTS", "latchkey_permit_queue:{exports}"}).integer(), 0);
}

}  // namespace
}  // namespace latchkey::tests
