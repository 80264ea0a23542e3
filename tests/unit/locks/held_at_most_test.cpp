// held_at_most as a part of a lease, and the numbers of the limits of one hold.
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <latchkey/lease.hpp>
#include <latchkey/locks.hpp>
#include <latchkey/semaphore.hpp>

#include "locks/coordinator/hold_limits.hpp"
#include "support/manual_locks.hpp"

namespace latchkey {
namespace {

using namespace std::chrono_literals;
using detail::HoldLimits;

std::string refusal(Lease lease, std::chrono::nanoseconds most) {
  try {
    static_cast<void>(lease.held_at_most(most));
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return {};
}

TEST(HeldAtMost, IsAPartOfALease) {
  constexpr Lease limited = watchdog.held_at_most(10min);
  static_assert(limited.is_watchdog() && limited.held_at_most() == 10min);
  static_assert(Lease(watchdog).held_at_most() == 0ms);
  static_assert(Lease(30s).held_at_most(30s).length(1s) == 30s);
  static_assert(Lease(30s).held_at_most(30s) != Lease(30s));
  EXPECT_EQ(watchdog.held_at_most(10'900us).held_at_most(), 10ms) << "rounded down";
}

TEST(HeldAtMost, RejectsALongerLeaseAndTimesOutOfRange) {
  EXPECT_EQ(refusal(30s, 10s),
            "the lease is longer than held_at_most allows: say a shorter lease, or "
            "latchkey::watchdog");
  for (const std::chrono::nanoseconds wrong : {-1ns, 0ns, std::chrono::nanoseconds(9'999'999)}) {
    EXPECT_EQ(refusal(watchdog, wrong),
              "held_at_most takes a time from 10 ms to 10 years, as in "
              "latchkey::watchdog.held_at_most(10min)");
  }
  EXPECT_THROW(static_cast<void>(watchdog.held_at_most(24h * 3'651)), std::invalid_argument);
}

TEST(HoldLimits, TheEarliestCountsUntilItsHoldEnds) {
  const Clock::time_point start{};
  HoldLimits limits;
  EXPECT_EQ(limits.earliest(), Clock::never());
  const auto outer = limits.add(start + 10s);
  const auto inner = limits.add(start + 5s);
  const auto innermost = limits.add(start + 20s);
  EXPECT_EQ(outer, HoldLimits::first);
  EXPECT_EQ(limits.earliest(), start + 5s);
  limits.remove(0);  // a hold without a limit
  limits.remove(inner);
  EXPECT_EQ(limits.earliest(), start + 10s);
  EXPECT_EQ(limits.add(start + 7s), inner) << "its number is free again";
  limits.remove(outer);
  limits.remove(inner);
  EXPECT_EQ(limits.earliest(), start + 20s);
  limits.remove(innermost);
  EXPECT_EQ(limits.earliest(), Clock::never());
}

TEST(HoldLimits, OneWithoutANumberStaysUntilAllHoldsHaveEnded) {
  const Clock::time_point start{};
  HoldLimits limits;
  for (int number = HoldLimits::first; number < HoldLimits::unnumbered; ++number) {
    EXPECT_EQ(limits.add(start + 1h), number);
  }
  const auto last = limits.add(start + 1s);
  EXPECT_EQ(last, HoldLimits::unnumbered);
  limits.remove(last);
  for (int number = HoldLimits::first; number < HoldLimits::unnumbered; ++number) {
    limits.remove(static_cast<HoldLimits::Number>(number));
  }
  EXPECT_EQ(limits.earliest(), start + 1s);
  limits.clear();
  EXPECT_EQ(limits.earliest(), Clock::never());
  EXPECT_EQ(limits.add(start + 2h), HoldLimits::first);
}

class HeldAtMostTest : public ::testing::Test, public tests::ManualLocks {};

TEST_F(HeldAtMostTest, TheWatchdogRenewsNoLonger) {
  Hold hold = locks.lock("k").acquire(0ms, watchdog.held_at_most(45s));
  for (int turn = 0; turn < 4; ++turn) pass(10s);
  EXPECT_FALSE(hold.lost());
  EXPECT_EQ(hold.remaining(), 5s);
  EXPECT_FALSE(another().lock("k").try_acquire());
  clock.advance(5s);
  EXPECT_TRUE(hold.lost());
  EXPECT_TRUE(recorder.await(Event::Kind::lost));
  const Event lost = recorder.of(Event::Kind::lost).front();
  EXPECT_TRUE(lost.held_too_long);
  EXPECT_EQ(lost.text, "it was held for as long as held_at_most allows");
  pass(1s);
  EXPECT_TRUE(another().lock("k").try_acquire());
  EXPECT_FALSE(hold.release());
}

TEST_F(HeldAtMostTest, ALossAtTheBackendIsNotTakenForIt) {
  Hold hold = locks.lock("k").acquire(0ms, watchdog.held_at_most(45s));
  EXPECT_TRUE(locks.force_release("k"));
  pass(10s);
  EXPECT_TRUE(recorder.await(Event::Kind::lost));
  EXPECT_FALSE(recorder.of(Event::Kind::lost).front().held_too_long);
  EXPECT_FALSE(hold.release());
}

TEST_F(HeldAtMostTest, ExtendReturnsFalseBeyondItAndChangesNothing) {
  Hold hold = locks.lock("k").acquire(0ms, Lease(10s).held_at_most(1min));
  const auto left = hold.remaining();
  EXPECT_FALSE(hold.extend(2min));
  EXPECT_FALSE(hold.lost());
  EXPECT_EQ(hold.remaining(), left);
  EXPECT_TRUE(hold.extend(50s));
  EXPECT_GT(hold.remaining(), 49s);
  pass(30s);
  EXPECT_FALSE(hold.extend(50s));
  EXPECT_TRUE(hold.extend(30s));
  EXPECT_TRUE(hold.release());
}

TEST_F(HeldAtMostTest, TheStopIsRequested) {
  const Hold hold = locks.lock("k").acquire(0ms, watchdog.held_at_most(5s));
  const std::stop_token token = hold.stop_token();
  pass(5s);
  EXPECT_TRUE(locks.flush(10s));
  EXPECT_TRUE(token.stop_requested());
}

TEST_F(HeldAtMostTest, SeveralKeysAreLostTogether) {
  Lock all = locks.all_of({locks.lock("a"), locks.lock("b", LockType::FAIR)});
  Hold hold = all.acquire(1s, watchdog.held_at_most(45s));
  EXPECT_FALSE(hold.extend(1min));
  for (int turn = 0; turn < 4; ++turn) pass(10s);
  EXPECT_FALSE(hold.lost());
  clock.advance(5s);
  EXPECT_TRUE(recorder.await(Event::Kind::lost, 2));
  for (const Event& lost : recorder.of(Event::Kind::lost)) EXPECT_TRUE(lost.held_too_long);
  EXPECT_TRUE(hold.lost());
}

// The outer hold has less time left than the lease of the inner one: that is no loss.
TEST_F(HeldAtMostTest, SeveralKeysReEnterAHoldThatHasALimit) {
  const Hold outer = locks.lock("a").acquire(0ms, Lease(10s).held_at_most(15s));
  clock.advance(5s);
  Lock all = locks.all_of({locks.lock("a"), locks.lock("b", LockType::FAIR)});
  Hold inner = all.acquire(1s, 30s);
  EXPECT_EQ(outer.remaining(), 10s);
  EXPECT_TRUE(inner.release());
}

TEST_F(HeldAtMostTest, PermitsHaveIt) {
  Semaphore permits = locks.semaphore("s", 2);
  const Hold hold = permits.acquire(1, 0ms, watchdog.held_at_most(5s));
  clock.advance(5s);
  EXPECT_TRUE(recorder.await(Event::Kind::lost));
  EXPECT_TRUE(recorder.of(Event::Kind::lost).front().held_too_long);
  EXPECT_TRUE(hold.lost());
}

}  // namespace
}  // namespace latchkey
