// No thread can be created: no lock is taken that could not be renewed, and pending events are
// reported as soon as there is a thread.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include <latchkey/error.hpp>
#include <latchkey/locks.hpp>

#include "support/no_threads.hpp"
#include "support/recorder.hpp"
#include "support/servers/redis_server.hpp"

namespace latchkey::tests {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;

class NoThread : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    if (!NoThreads::possible()) GTEST_SKIP() << "threads cannot be refused here";
    if (GetParam()) server_.emplace();
  }
  [[nodiscard]] std::string uri() const {
    return server_ ? server_->unix_uri() : "memory:no-thread";
  }

  std::optional<RedisServer> server_;
};

TEST_P(NoThread, AnAcquireWithoutATimerThreadThrowsAndHoldsNothing) {
  const Locks locks = Locks::connect(uri());
  const Locks others = Locks::connect(uri());
  const Lock together = locks.all_of({locks.lock("k"), locks.lock("l", LockType::WRITE)});
  const Lock in_order = locks.all_of({locks.lock("k"), others.lock("l", LockType::WRITE)});
  const std::vector<std::function<void()>> calls{
      [&] { static_cast<void>(locks.lock("k").acquire(forever)); },
      [&] { static_cast<void>(locks.lock("k", LockType::FAIR).acquire(1s, 30s)); },
      [&] { static_cast<void>(locks.lock("k").try_acquire(0ms, 30s)); },
      [&] { locks.lock("k").lock(); },
      [&] { static_cast<void>(locks.lock("k", LockType::READ).try_lock()); },
      [&] { static_cast<void>(Lock(together).acquire(1s, 30s)); },
      [&] { static_cast<void>(Lock(in_order).try_acquire(1s)); },
  };
  for (const auto& call : calls) {
    std::string said;
    {
      const NoThreads none;
      try {
        call();
      } catch (const BackendUnavailable& error) {
        said = error.what();
      }
    }
    EXPECT_THAT(said,
                AllOf(HasSubstr("'k'"), HasSubstr("thread that renews locks cannot be created"),
                      HasSubstr("raise the limit")));
    EXPECT_FALSE(locks.inspect("k").locked);
    EXPECT_FALSE(locks.inspect("l").locked);
  }
}

TEST_P(NoThread, AHoldIsRenewedOnceThreadsCanBeCreatedAgain) {
  Recorder recorder;
  const Locks locks = Locks::connect(uri(), {.watchdog = 1s, .listener = &recorder});
  {
    const NoThreads none;
    EXPECT_THROW(static_cast<void>(locks.lock("k").acquire(forever)), BackendUnavailable);
  }
  Hold hold = locks.lock("k").acquire(forever);
  EXPECT_TRUE(recorder.await(Event::Kind::renewed, 4));
  EXPECT_FALSE(hold.lost());
  EXPECT_TRUE(hold.release());
  locks.close(1s);
}

TEST_P(NoThread, ALossIsReportedWithTheFirstThreadThatCanBeCreated) {
  Recorder recorder(false);
  const Locks locks = Locks::connect(uri(), {.watchdog = 300ms, .listener = &recorder});
  Hold hold = locks.lock("k").acquire(forever);
  std::optional<NoThreads> none(std::in_place);  // no thread to report on; the timer thread exists
  const Hold leased = locks.lock("l").acquire(1s, 300ms);
  const std::stop_token stop = hold.stop_token(), lease_over = leased.stop_token();
  // The clock alone makes it lost; it is told once the timer has seen that, and not before.
  EXPECT_TRUE(eventually([&] { return leased.lost() && !locks.flush(0ms); }));
  EXPECT_TRUE(locks.force_release("k"));
  EXPECT_TRUE(eventually([&] { return hold.lost(); }));
  EXPECT_FALSE(stop.stop_requested());
  none.reset();  // and no call comes by
  EXPECT_TRUE(recorder.await(Event::Kind::lost, 2));
  EXPECT_TRUE(eventually([&] { return stop.stop_requested() && lease_over.stop_requested(); }));
  locks.close(1s);
}

TEST_P(NoThread, FlushReportsAllQueuedEvents) {
  Recorder recorder(false);
  const Locks locks = Locks::connect(uri(), {.listener = &recorder});
  {
    const NoThreads none;
    locks.lock("k").unlock();
    EXPECT_FALSE(locks.flush(1ms));
  }
  EXPECT_TRUE(locks.flush(patience));
  EXPECT_EQ(recorder.count(Event::Kind::unlock_error), 1U);
  locks.close(1s);
}

INSTANTIATE_TEST_SUITE_P(On, NoThread, ::testing::Values(false, true),
                         [](const auto& tested) { return tested.param ? "Redis" : "Memory"; });

}  // namespace
}  // namespace latchkey::tests
