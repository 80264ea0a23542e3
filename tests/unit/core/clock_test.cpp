// The system's clock, and arithmetic that does not overflow.
#include <latchkey/clock.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <ctime>
#include <mutex>
#include <thread>

#include "support/stalls.hpp"

namespace latchkey {
namespace {

using std::chrono::milliseconds;

TEST(Clock, ReadsTheBootTime) {
  const auto boot = [] {
    timespec time{};
    ::clock_gettime(CLOCK_BOOTTIME, &time);
    return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
  };
  const auto before = boot();
  const auto now = Clock::system().now().time_since_epoch();
  EXPECT_LE(before, now);
  EXPECT_LE(now, boot());
}

TEST(Clock, RecentIsNeverAfterNowAndNotLongBefore) {
  const Clock& clock = Clock::system();
  const Clock::time_point end = later(clock.now(), std::chrono::milliseconds(50));
  Clock::time_point before{};
  Clock::time_point recent{};
  while (recent < end) {  // so it does move on
    const Clock::time_point asked = clock.now();
    recent = clock.recent();
    ASSERT_LE(recent, clock.now());
    ASSERT_GE(recent, asked - std::chrono::seconds(1));
    ASSERT_GE(recent, before) << "a thread's clock goes back";
    before = recent;
  }
}

TEST(Clock, WaitsUntilADeadlineAndNotLonger) {
  std::mutex mutex;
  std::condition_variable condition;
  std::unique_lock lock(mutex);
  Clock& clock = Clock::system();
  const auto deadline = clock.now() + milliseconds(20);
  while (clock.now() < deadline) clock.wait_until(lock, condition, deadline);
  EXPECT_TRUE(lock.owns_lock());
  clock.wait_until(lock, condition, deadline);  // past: returns at once
  EXPECT_TRUE(lock.owns_lock());
}

// The boot clock advances while the machine is suspended. The clock of a sleeping thread does not.
TEST(Clock, SleepersCheckTheBootClockOnceASecond) {
  std::mutex mutex;
  std::condition_variable condition;
  std::unique_lock lock(mutex);
  Clock& clock = Clock::system();
  std::atomic<bool> back = false;
  std::thread helper([&] {
    for (int round = 0; round < 500 && !back; ++round)
      // sleeps: it ends early as soon as the waiter is back
      std::this_thread::sleep_for(milliseconds(10));
    condition.notify_all();  // so that a failure does not hang
  });
  const tests::Stalls stalls;
  const auto began = clock.now();
  clock.wait_until(lock, condition, began + std::chrono::hours(1));
  EXPECT_LT(clock.now() - began, std::chrono::seconds(4) + stalls.total());
  back = true;
  helper.join();
}

TEST(Clock, LaterNeverOverflows) {
  const Clock::time_point now(std::chrono::hours(1));
  EXPECT_EQ(later(now, milliseconds(5)), now + milliseconds(5));
  EXPECT_EQ(later(Clock::never(), milliseconds(5)), Clock::never());
  EXPECT_EQ(later(now, Clock::duration::max()), Clock::never());
  EXPECT_EQ(later(now, -milliseconds(5)), now - milliseconds(5));
}

}  // namespace
}  // namespace latchkey
