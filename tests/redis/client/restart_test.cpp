// A server that dies, freezes and comes back: every call ends, and locks work afterwards.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include <latchkey/clock.hpp>
#include <latchkey/error.hpp>
#include <latchkey/locks.hpp>

#include "support/recorder.hpp"
#include "support/servers/redis_server.hpp"
#include "support/stalls.hpp"

namespace latchkey::tests {
namespace {

using namespace std::chrono_literals;

class RedisRestart : public ::testing::Test {
 protected:
  [[nodiscard]] Locks connect() const {
    return Locks::connect(server_.tcp_uri(), {.command_timeout = 1s, .unavailable_after = 2s});
  }

  RedisServer server_;
};

/// Counts how calls ended. Any other exception ends the test program.
struct Ends {
  std::atomic<int> granted = 0, timeout = 0, unavailable = 0, lost = 0;

  template <class Call>
  void count(Call&& call) {
    try {
      call();
      ++granted;
    } catch (const LockTimeout&) {
      ++timeout;
    } catch (const BackendUnavailable&) {
      ++unavailable;
    } catch (const LockLost&) {
      ++lost;
    }
  }
};

TEST_F(RedisRestart, EveryCallEndsDuringTenRestartsAndLocksWorkAfterwards) {
  const Locks locks = connect();
  Ends ends;
  std::atomic<bool> over = false;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 8; ++thread) {
    threads.emplace_back([&, thread] {
      const LockType types[] = {LockType::REENTRANT, LockType::FAIR, LockType::WRITE,
                                LockType::FENCED};
      for (int round = 0; !over; ++round) {
        const std::string key = "k" + std::to_string(round % 4);
        ends.count([&] {
          auto hold = locks.lock(key, types[round % 4]).acquire(200ms, 500ms);
          if (thread % 2 == 0) hold.release();
        });
      }
    });
  }
  for (int restart = 0; restart < 10; ++restart) {
    const int before = ends.granted;
    EXPECT_TRUE(eventually([&] { return ends.granted > before + 10; }));
    server_.kill();
    server_.start();
  }
  const int before = ends.granted;
  EXPECT_TRUE(eventually([&] { return ends.granted > before + 10; }));
  over = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(locks.lock("after").try_acquire(1s).has_value());
}

TEST_F(RedisRestart, TheFirstAcquireAfterARestartIsGrantedSoon) {
  const Locks locks = connect();
  const Stalls stalls;
  std::vector<std::chrono::nanoseconds> delays;
  for (int round = 0; round < 5; ++round) {
    server_.kill();
    std::thread waiter([&] {
      auto hold = locks.lock("k").acquire(20s);
      delays.push_back(Clock::system().now().time_since_epoch());
    });
    std::this_thread::sleep_for(50ms);  // sleeps: real time of an outage
    server_.start();
    const auto back = Clock::system().now().time_since_epoch();
    waiter.join();
    delays.back() -= back;
  }
  EXPECT_LT(*std::ranges::max_element(delays), 1s + stalls.total());
}

TEST_F(RedisRestart, AWaitForAServerThatIsDownEndsInTimeAsUnknown) {
  const Locks locks = connect();
  server_.kill();
  const Stalls stalls;
  const auto began = std::chrono::steady_clock::now();
  EXPECT_THROW(static_cast<void>(locks.lock("k").try_acquire(300ms)), BackendUnavailable);
  EXPECT_LT(std::chrono::steady_clock::now() - began, 3s + stalls.total());
  EXPECT_THROW(static_cast<void>(locks.inspect("k")), BackendUnavailable);
  EXPECT_THROW(static_cast<void>(locks.lock("k").acquire(forever)), BackendUnavailable)
      << "for ever";
}

TEST_F(RedisRestart, CallsToAFrozenServerEndInTimeAndSucceedWhenItThaws) {
  const Locks locks = connect();
  ASSERT_TRUE(locks.lock("warm").try_acquire().has_value());
  server_.stop();
  EXPECT_THROW(static_cast<void>(locks.lock("k").try_acquire()), BackendUnavailable);
  server_.resume();
  EXPECT_NO_THROW(static_cast<void>(locks.lock("k").acquire(10s)));
  auto client = server_.client();
  EXPECT_TRUE(eventually([&] { return client({"DBSIZE"}).integer() == 0; })) << "no ghost stays";
}

TEST_F(RedisRestart, AServerFrozenForLongIsConnectedAgain) {
  const Locks locks = connect();
  ASSERT_TRUE(locks.lock("warm").try_acquire().has_value());
  server_.stop();
  // Longer than twice the time for an answer: the connection is given up meanwhile.
  EXPECT_THROW(static_cast<void>(locks.lock("k").acquire(2500ms)), BackendUnavailable);
  server_.resume();
  EXPECT_NO_THROW(static_cast<void>(locks.lock("k").acquire(10s)));
  auto client = server_.client();
  EXPECT_TRUE(eventually([&] { return client({"DBSIZE"}).integer() == 0; })) << "no ghost stays";
}

TEST_F(RedisRestart, AHoldIsLostAtOnceWhenItsServerComesBackEmpty) {
  Recorder recorder;
  const Locks locks = Locks::connect(server_.tcp_uri(), {.listener = &recorder});
  Hold hold = locks.lock("k").acquire(forever);  // the next check would come after 10 s
  server_.kill();
  server_.start();
  const Stalls stalls;
  const auto back = std::chrono::steady_clock::now();
  ASSERT_TRUE(recorder.await(Event::Kind::lost));
  EXPECT_LT(std::chrono::steady_clock::now() - back, 5s + stalls.total());
  EXPECT_TRUE(hold.lost());
  EXPECT_FALSE(hold.release());
}

TEST_F(RedisRestart, AConnectionThatIsLostWhileAScriptRunsComesBackWhenItEnds) {
  RedisClient client = server_.client();
  client({"CONFIG", "SET", "lua-time-limit", "1"});
  const Locks locks = connect();
  locks.lock("k").acquire(1s).release();
  client({"CLIENT", "KILL", "TYPE", "normal"});
  RedisClient script = server_.client();
  std::thread busy([&] { script({"EVAL", "while true do end", "0"}); });
  EXPECT_TRUE(eventually([&] { return client({"PING"}).text().starts_with("BUSY"); }));
  EXPECT_THROW(static_cast<void>(locks.lock("k").acquire(300ms)), BackendUnavailable);
  client({"SCRIPT", "KILL"});
  busy.join();
  EXPECT_NO_THROW(static_cast<void>(locks.lock("k").acquire(1s)));
}

}  // namespace
}  // namespace latchkey::tests
