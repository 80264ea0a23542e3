// Lifetimes of Locks, handles, holds and threads.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <future>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <latchkey/error.hpp>
#include <latchkey/locks.hpp>

#include "support/failing_backend.hpp"
#include "support/manual_locks.hpp"
#include "support/no_threads.hpp"

namespace latchkey {
namespace {

using namespace std::chrono_literals;
using tests::FailingBackend;
using tests::Faults;
using Kind = Event::Kind;

TEST(LifetimeTest, AHoldOutlivesItsLocksAndItsLock) {
  latchkey::testing::ManualClock clock;
  std::optional<Locks> locks = Locks::connect("memory:lifetime", {.clock = &clock});
  const Locks elsewhere = Locks::connect("memory:lifetime", {.clock = &clock});
  std::optional<Hold> hold;
  {
    Lock lock = locks->lock("k");
    locks.reset();
    hold = lock.acquire(forever);
  }
  for (int third = 0; third < 6; ++third) {  // somebody still renews
    ASSERT_TRUE(clock.await_sleepers(1));
    clock.advance(10s);
  }
  ASSERT_TRUE(clock.await_sleepers(1));
  EXPECT_FALSE(hold->lost());
  EXPECT_TRUE(elsewhere.inspect("k").locked);
  EXPECT_EQ(hold->key(), "k");
  EXPECT_TRUE(hold->release());
  EXPECT_FALSE(elsewhere.inspect("k").locked);
}

TEST(LifetimeTest, ManyHoldsAreDestroyedInAnyOrderOnAnyThread) {
  for (int round = 0; round < 50; ++round) {
    std::optional<Locks> locks = Locks::connect("memory:");
    std::vector<Hold> holds;
    for (int number = 0; number < 8; ++number) {
      holds.push_back(locks->lock("k" + std::to_string(number)).acquire(forever));
    }
    std::vector<std::thread> threads;
    for (Hold& hold : holds) {
      threads.emplace_back([mine = std::move(hold)]() mutable { EXPECT_TRUE(mine.release()); });
    }
    locks.reset();
    for (std::thread& thread : threads) thread.join();
  }
}

// Events that were queued then were delivered to a listener that was already destroyed.
TEST(LifetimeTest, TheLastReferenceMayBeDestroyedWithinAListener) {
  class Dropping final : public Listener {
   public:
    void on_event(const Event& event) override {
      ++told;
      if (event.kind != Kind::unlock_error) return;
      resume.get_future().wait();  // until more is queued
      locks.reset();
      hold.reset();
      after = told.load();
      done.set_value();
    }
    std::optional<Locks> locks;
    std::optional<Hold> hold;
    std::atomic<int> told{0}, after{0};
    std::promise<void> resume, done;
  };
  Dropping listener;
  listener.locks = Locks::connect("memory:", {.listener = &listener});
  listener.hold = listener.locks->lock("k").acquire(forever);
  listener.locks->lock("nobody's").unlock();
  for (int round = 0; round < 10; ++round) listener.locks->lock("other").acquire(forever).release();
  listener.resume.set_value();
  ASSERT_EQ(listener.done.get_future().wait_for(tests::patience), std::future_status::ready);
  std::this_thread::sleep_for(20ms);  // sleeps: it has returned, most times
  EXPECT_EQ(listener.told, listener.after);
}

TEST(LifetimeTest, TheLastReferenceMayBeDestroyedWithinAStopCallback) {
  std::promise<void> done;
  std::optional<Locks> locks = Locks::connect("memory:");
  std::optional<Hold> hold = locks->lock("k").acquire(forever, 20ms);
  locks.reset();
  const std::stop_callback callback(hold->stop_token(), [&] {
    hold.reset();
    done.set_value();
  });
  EXPECT_EQ(done.get_future().wait_for(tests::patience), std::future_status::ready);
}

TEST(LifetimeTest, LocksMayBeDestroyedWhileTheTimerRuns) {
  for (int round = 0; round < 20; ++round) {
    const Locks locks = Locks::connect("memory:", {.watchdog = 30ms});
    for (int number = 0; number < 20; ++number) {
      locks.with_owner(Owner::make()).lock("k" + std::to_string(number)).lock();
    }
    // sleeps: they end at another moment of a renewal in each round
    std::this_thread::sleep_for(std::chrono::microseconds(9'000 + 100 * round));
  }
}

std::set<std::string> threads_of_this_process() {
  std::set<std::string> ids;
  for (const auto& each : std::filesystem::directory_iterator("/proc/self/task")) {
    ids.insert(each.path().filename());
  }
  return ids;
}

/// Those that were not among `before`, of which some may still be ending.
std::ptrdiff_t threads_since(const std::set<std::string>& before) {
  return std::ranges::count_if(threads_of_this_process(),
                               [&](const std::string& id) { return !before.contains(id); });
}

TEST(LifetimeTest, NoThreadRunsBeforeTheFirstHoldOrAfterTheLastLocks) {
  const std::set<std::string> before = threads_of_this_process();
  {
    tests::Recorder recorder(false);
    const Locks locks = Locks::connect("memory:", {.listener = &recorder});
    Lock lock = locks.lock("k");
    static_cast<void>(locks.inspect("k"));
    EXPECT_EQ(threads_since(before), 0);
    Hold hold = lock.acquire(forever);
    EXPECT_EQ(threads_since(before), 1);  // the timer
    EXPECT_TRUE(hold.release());
    lock.unlock();
    EXPECT_EQ(threads_since(before), 2);  // the notifier
  }
  EXPECT_TRUE(tests::eventually([&] { return threads_since(before) == 0; }));
}

// The event was reported through a space that was destroyed with its last hold.
TEST(LifetimeTest, AFailedReleaseOfTheLastHoldIsReported) {
  tests::Recorder recorder;
  Faults faults;
  std::optional<Hold> hold;
  {
    const Locks locks{std::make_unique<FailingBackend>(faults), {.listener = &recorder}};
    hold = locks.lock("k").acquire(forever);
  }
  faults.silent = true;
  hold.reset();
  ASSERT_TRUE(recorder.await(Kind::release_unconfirmed));
  const Event event = recorder.of(Kind::release_unconfirmed)[0];
  EXPECT_EQ(event.key, "k");
  EXPECT_EQ(event.text, "the line is dead");
}

// The space went with its Locks under a thread that still waited for its release.
TEST(LifetimeTest, LocksMayBeDestroyedWhileAHoldIsReleased) {
  Faults faults;
  std::optional<Locks> locks{std::in_place, std::make_unique<FailingBackend>(faults)};
  Hold hold = locks->lock("k").acquire(forever);
  faults.releases_hang = true;
  std::thread releasing([&] { EXPECT_TRUE(hold.release()); });
  ASSERT_TRUE(tests::eventually([&] { return faults.hanging == 1; }));
  locks.reset();
  faults.releases_hang = false;
  releasing.join();
}

// After an exception of std::thread a call stayed registered that pointed to its caller's stack.
TEST(LifetimeTest, AcquireThrowsWhileNoThreadCanBeCreatedAndWorksLater) {
  if (!tests::NoThreads::possible()) GTEST_SKIP() << "threads cannot be refused here";
  tests::Recorder recorder(false);
  latchkey::testing::ManualClock clock;
  const Locks locks =
      Locks::connect("memory:", {.prefix = "app:", .clock = &clock, .listener = &recorder});
  {
    const tests::NoThreads none;
    try {
      static_cast<void>(locks.lock("k").acquire(forever));
      ADD_FAILURE() << "it was acquired";
    } catch (const BackendUnavailable& error) {
      EXPECT_EQ(error.key(), "k");
    }
    locks.lock("other").unlock();  // the notifier has no thread either
  }
  const Hold hold = locks.lock("k").acquire(forever);
  for (int third = 0; third < 6; ++third) {
    ASSERT_TRUE(clock.await_sleepers(1));
    clock.advance(10s);
  }
  ASSERT_TRUE(clock.await_sleepers(1));
  EXPECT_FALSE(hold.lost());
  EXPECT_TRUE(recorder.await(Kind::unlock_error));
}

}  // namespace
}  // namespace latchkey
