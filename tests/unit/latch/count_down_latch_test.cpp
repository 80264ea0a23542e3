// CountDownLatch in memory: counts, waits, and what ends them.
#include <latchkey/count_down_latch.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <latchkey/error.hpp>

#include "memory/memory_backend.hpp"
#include "support/failing_backend.hpp"
#include "support/manual_locks.hpp"

namespace latchkey {
namespace {

using namespace std::chrono_literals;
using Kind = Event::Kind;

class LatchTest : public ::testing::Test, public tests::ManualLocks {
 protected:
  const CountDownLatch latch = locks.count_down_latch("ready");
};

TEST_F(LatchTest, OpensWhenItIsCountedDown) {
  EXPECT_TRUE(latch.wait_for(0ms)) << "without a count it is open";
  EXPECT_TRUE(latch.try_set_count(2));
  EXPECT_FALSE(latch.try_set_count(5));
  EXPECT_EQ(latch.count(), 2U);
  EXPECT_FALSE(latch.wait_for(0ms));
  EXPECT_EQ(latch.count_down(), 1U);
  EXPECT_EQ(latch.count_down(), 0U);
  EXPECT_EQ(latch.count_down(), 0U) << "never below zero";
  EXPECT_TRUE(latch.wait_for(0ms));
  latch.wait();
  EXPECT_FALSE(latch.destroy());
}

TEST_F(LatchTest, AWaitIsWokenByTheLastCountDownAndNotByTheClock) {
  ASSERT_TRUE(latch.try_set_count(2));
  std::thread waiter([&] { latch.wait(); });
  ASSERT_TRUE(clock.await_sleepers(1));
  EXPECT_EQ(latch.count_down(), 1U);
  EXPECT_EQ(latch.count_down(), 0U);
  waiter.join();  // the manual clock stands still
  ASSERT_TRUE(recorder.await(Kind::latch_opened));
}

TEST_F(LatchTest, ManyWaitsOfOneLatchShareASubscription) {
  ASSERT_TRUE(latch.try_set_count(1));
  std::vector<std::thread> waiters;
  constexpr int threads = 8;
  for (int each = 0; each < threads; ++each) waiters.emplace_back([&] { latch.wait(); });
  ASSERT_TRUE(clock.await_sleepers(threads));
  EXPECT_EQ(latch.count_down(), 0U);
  for (std::thread& each : waiters) each.join();
}

TEST_F(LatchTest, AWaitEndsAtItsTime) {
  ASSERT_TRUE(latch.try_set_count(1));
  const auto skipping = clock.skip_waits();
  const auto began = clock.now();
  EXPECT_FALSE(latch.wait_for(7s));
  EXPECT_EQ(clock.now() - began, 7s);
  ASSERT_TRUE(recorder.await(Kind::latch_timeout));
  EXPECT_EQ(recorder.of(Kind::latch_timeout)[0].waited, 7s);
  EXPECT_EQ(recorder.of(Kind::latch_timeout)[0].key, "ready");
  EXPECT_FALSE(latch.wait_until(std::chrono::steady_clock::now() + 10ms));
}

TEST_F(LatchTest, DestroyingItEndsTheWaits) {
  ASSERT_TRUE(latch.try_set_count(3));
  std::thread waiter([&] { latch.wait(); });
  ASSERT_TRUE(clock.await_sleepers(1));
  EXPECT_TRUE(latch.destroy());
  waiter.join();
  EXPECT_EQ(latch.count(), 0U);
}

TEST_F(LatchTest, ClosingTheLocksEndsTheWaits) {
  ASSERT_TRUE(latch.try_set_count(3));
  std::string text;
  std::thread waiter([&] {
    try {
      latch.wait();
    } catch (const Closed& error) {
      text = error.what();
    }
  });
  ASSERT_TRUE(clock.await_sleepers(1));
  locks.close(0ms);
  waiter.join();
  EXPECT_TRUE(text.starts_with("the Locks of the latch 'ready' on ")) << text;
}

TEST_F(LatchTest, LeavesNothingBehind) {
  auto backend = detail::make_memory_backend("memory:", {.clock = &clock});
  Backend& store = *backend;
  const Locks own(std::move(backend), {.clock = &clock});
  const CountDownLatch used = own.count_down_latch("used");
  ASSERT_TRUE(used.try_set_count(1));
  EXPECT_GT(detail::memory_records(store), 0U);
  std::thread waiter([&] { used.wait(); });
  ASSERT_TRUE(clock.await_sleepers(1));
  EXPECT_EQ(used.count_down(), 0U);
  waiter.join();
  EXPECT_EQ(detail::memory_records(store), 0U) << "neither a count nor a subscription";
}

TEST_F(LatchTest, ItsKeyIsWithoutThePrefix) {
  const Locks prefixed =
      Locks::connect("memory:", {.prefix = "app:", .clock = &clock, .listener = &recorder});
  const CountDownLatch own = prefixed.count_down_latch("k");
  EXPECT_EQ(own.key(), "k");
  ASSERT_TRUE(own.try_set_count(4));
  EXPECT_EQ(own.count_down(), 3U);
  ASSERT_TRUE(recorder.await(Kind::latch_counted, 2));
  EXPECT_EQ(recorder.of(Kind::latch_counted)[1].key, "k");
  EXPECT_EQ(recorder.of(Kind::latch_counted)[1].count, 3U);
}

TEST_F(LatchTest, ALatchIsNoLockOfThatKey) {
  ASSERT_TRUE(latch.try_set_count(1));
  EXPECT_TRUE(locks.lock("ready").try_acquire());
  EXPECT_EQ(latch.count(), 1U);
}

TEST_F(LatchTest, WrongCountsAreNamed) {
  try {
    latch.try_set_count(0);
    FAIL() << "zero is no count";
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(), "the count of a latch is 0; expected 1 to 2147483647");
  }
  EXPECT_THROW(latch.try_set_count(0x8000'0000U), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(locks.count_down_latch("")), KeyError);
}

TEST(LatchBackend, OneWithoutLatchesIsRefused) {
  tests::Faults faults;
  const Locks locks(std::make_unique<tests::FailingBackend>(faults));
  try {
    static_cast<void>(locks.count_down_latch("k"));
    FAIL() << "it has none";
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(), "failing offers no latches; expected memory: or a redis:// URI");
  }
}

}  // namespace
}  // namespace latchkey
