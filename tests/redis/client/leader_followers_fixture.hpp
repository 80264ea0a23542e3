// Threads that drive connections, as the tests of the reader's role bring them about.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <deque>

#include "redis/leader_followers.hpp"

namespace latchkey::detail::redis {

class LeaderFollowersTest : public ::testing::Test {
 protected:
  /// A driver that has come, with the role or without; eager while `asked` is more than answered.
  WaitingThread& come(std::uint64_t asked = 0) {
    WaitingThread& driver = seats.emplace_back(parkers.emplace_back(), wait_set);
    driver.asked = asked;
    threads.enter(driver, answered);
    threads.takes_leadership(driver, answered);
    return driver;
  }
  /// One that spins, and had no turn yet.
  WaitingThread& spin(std::uint64_t asked) {
    WaitingThread& driver = come(asked);
    threads.begins_to_spin(driver);
    return driver;
  }
  /// It has its turn and yields; where it is alone, to nobody.
  void take_turn(WaitingThread& driver, bool alone = false) {
    EXPECT_TRUE(threads.takes_turn(driver));
    threads.yields(driver);
    driver.alone = alone;
  }
  void sleep(WaitingThread& driver) {
    driver.polls = threads.is_leader(driver);
    driver.sockets = sockets;
    driver.running = false;
  }
  /// The driver wakes and looks. True: it was called.
  bool wake(WaitingThread& driver) {
    const bool called = (driver.waiter.take() & Waiter::called) != 0;
    driver.polls = false;
    threads.takes_leadership(driver, answered);
    return called;
  }
  void go(WaitingThread& driver, bool more_to_come = false, bool comes_back = false) {
    static_cast<void>(threads.leave(driver, {answered, more_to_come, comes_back, sockets}));
  }
  bool was_called(WaitingThread& driver) { return (driver.waiter.take() & Waiter::called) != 0; }

  FutexWaitSet wait_set;
  LeaderFollowers threads;
  std::deque<Parker> parkers;
  std::deque<WaitingThread> seats;
  std::uint64_t answered = 0;
  std::uint64_t sockets = 0;
};

}  // namespace latchkey::detail::redis
