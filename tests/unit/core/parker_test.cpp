// Parker: no unpark is lost, and an armed alarm is notified instead of a parked thread.
#include <latchkey/parker.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include <latchkey/testing/manual_clock.hpp>

namespace latchkey {
namespace {

struct CountingAlarm final : Parker::Alarm {
  Parker::Wake ring() noexcept override {
    ++count;
    return {};
  }
  int count = 0;
};

TEST(Parker, RemembersAnUnparkThatCameFirst) {
  Parker parker;
  parker.unpark();
  parker.unpark();  // two are one
  EXPECT_TRUE(parker.park_until(Clock::system(), Clock::never()));
  EXPECT_FALSE(parker.park_until(Clock::system(), Clock::system().now()));
}

TEST(Parker, WakesAtItsTime) {
  testing::ManualClock clock;
  Parker parker;
  std::thread sleeper(
      [&] { EXPECT_FALSE(parker.park_until(clock, later(clock.now(), std::chrono::seconds(5)))); });
  ASSERT_TRUE(clock.await_sleepers(1));
  clock.advance(std::chrono::seconds(4));
  ASSERT_TRUE(clock.await_sleepers(1)) << "too early: it sleeps on";
  clock.advance(std::chrono::seconds(1));
  sleeper.join();
}

TEST(Parker, NoUnparkIsLost) {
  testing::ManualClock clock;  // stands still: a lost unpark would hang
  Parker ping, pong;
  constexpr int rounds = 5'000;
  std::thread other([&] {
    for (int round = 0; round < rounds; ++round) {
      ping.park_until(clock, Clock::never());
      pong.unpark();
    }
  });
  for (int round = 0; round < rounds; ++round) {
    ping.unpark();
    pong.park_until(clock, Clock::never());
  }
  other.join();
}

TEST(Parker, AnUnparkNotifiesTheArmedAlarmInstead) {
  Parker parker;
  CountingAlarm alarm;
  parker.unpark();
  EXPECT_FALSE(parker.arm(alarm)) << "an unpark came first: do not sleep";
  EXPECT_TRUE(parker.arm(alarm));
  parker.unpark();
  EXPECT_EQ(alarm.count, 1);
  EXPECT_TRUE(parker.disarm());
  parker.unpark();
  EXPECT_EQ(alarm.count, 1);
  EXPECT_TRUE(parker.park_until(Clock::system(), Clock::never()));
}

TEST(Parker, EachThreadHasItsOwn) {
  Parker* const mine = &Parker::mine();
  EXPECT_EQ(mine, &Parker::mine());
  std::thread([&] { EXPECT_NE(mine, &Parker::mine()); }).join();
}

}  // namespace
}  // namespace latchkey
