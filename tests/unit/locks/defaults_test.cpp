// The defaults of calls that say no wait and no lease, as docs/guarantees.md has them.
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <future>

#include <latchkey/attempt.hpp>
#include <latchkey/error.hpp>
#include <latchkey/latchkey.hpp>
#include <latchkey/locks.hpp>
#include <latchkey/testing/manual_clock.hpp>

#include "support/recorder.hpp"

namespace latchkey {
namespace {

using namespace std::chrono_literals;

static_assert(default_wait == Wait(3s));
static_assert(default_lease == Lease(30s));
static_assert(detail::LockTerms().wait == default_wait);
static_assert(detail::LockTerms().lease == default_lease);

/// The watchdog's leases last for twice as long as the default lease, so that they differ.
struct Defaults : ::testing::Test {
  testing::ManualClock clock;
  tests::Recorder recorder;
  Locks locks =
      Locks::connect("memory:", {.watchdog = 60s, .clock = &clock, .listener = &recorder});

  void expect_lease(const Hold& hold, std::chrono::milliseconds lease) const {
    EXPECT_EQ(hold.remaining(), lease - lease / 100);
  }

  /// `call` waits until `wait` has passed, and then throws LockTimeout.
  void expect_wait(const std::function<void()>& call, std::chrono::milliseconds wait) {
    const std::size_t waiting = recorder.count(Event::Kind::waiting) + 1;
    auto called = std::async(std::launch::async, call);
    ASSERT_TRUE(recorder.await(Event::Kind::waiting, waiting));
    ASSERT_TRUE(clock.await_sleepers(2));  // the timer thread, and the call, whose wait has begun
    clock.advance(wait - 1ms);
    EXPECT_EQ(called.wait_for(0ms), std::future_status::timeout);
    clock.advance(1ms);
    EXPECT_THROW(called.get(), LockTimeout);
  }
};

TEST_F(Defaults, AttemptHasThem) {
  EXPECT_EQ(Attempt().wait, default_wait);
  EXPECT_EQ(Attempt().lease, default_lease);
  expect_lease(locks.acquire("k", {}), 30s);
}

TEST_F(Defaults, LockedHasThem) {
  expect_lease(LOCKED("k").in(locks)HERE(), 30s);
  const Hold busy = locks.with_owner(Owner::make()).lock("busy").acquire(0ms, 1h);
  expect_wait([&] { LOCKED("busy").in(locks)AROUND(){}; }, 3s);
}

TEST_F(Defaults, AcquireHasThem) {
  expect_lease(locks.lock("k").acquire(), 60s);
  expect_lease(locks.lock("k").acquire(0ms), 60s);
  const Hold busy = locks.with_owner(Owner::make()).lock("busy").acquire(0ms, 1h);
  expect_wait([&] { static_cast<void>(locks.lock("busy").acquire()); }, 3s);
}

TEST_F(Defaults, TryAcquireDoesNotWait) {
  expect_lease(locks.lock("k").try_acquire().value(), 60s);
  const Hold busy = locks.with_owner(Owner::make()).lock("busy").acquire(0ms, 1h);
  EXPECT_FALSE(locks.lock("busy").try_acquire());
  EXPECT_EQ(recorder.count(Event::Kind::waiting), 0U);
}

TEST_F(Defaults, SemaphoresHaveThem) {
  const Semaphore exports = locks.semaphore("exports", 1);
  expect_lease(exports.acquire(), 60s);
  expect_lease(exports.try_acquire().value(), 60s);
  const Hold busy = exports.acquire(1, 0ms, 1h);
  EXPECT_FALSE(exports.try_acquire());
  expect_wait([&] { static_cast<void>(exports.acquire()); }, 3s);
}

}  // namespace
}  // namespace latchkey
