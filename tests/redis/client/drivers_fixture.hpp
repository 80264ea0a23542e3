// Threads that drive connections, as the tests of the reader's role bring them about.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <deque>

#include "redis/drivers.hpp"

namespace latchkey::detail::redis {

class DriversTest : public ::testing::Test {
 protected:
  /// A driver that has come, with the role or without; eager while `asked` is more than answered.
  Driver& come(std::uint64_t asked = 0) {
    Driver& driver = seats.emplace_back(parkers.emplace_back(), dormitory);
    driver.asked = asked;
    drivers.enter(driver, answered);
    drivers.takes_role(driver, answered);
    return driver;
  }
  /// One that spins, and had no turn yet.
  Driver& spin(std::uint64_t asked) {
    Driver& driver = come(asked);
    drivers.begins_to_spin(driver);
    return driver;
  }
  /// It has its turn and yields; where it is alone, to nobody.
  void take_turn(Driver& driver, bool alone = false) {
    EXPECT_TRUE(drivers.takes_turn(driver));
    drivers.yields(driver);
    driver.alone = alone;
  }
  void sleep(Driver& driver) {
    driver.polls = drivers.has_role(driver);
    driver.sockets = sockets;
    driver.running = false;
  }
  /// The driver wakes and looks. True: it was called.
  bool wake(Driver& driver) {
    const bool called = (driver.sleeper.take() & Sleeper::called) != 0;
    driver.polls = false;
    drivers.takes_role(driver, answered);
    return called;
  }
  void go(Driver& driver, bool more_to_come = false, bool comes_back = false) {
    static_cast<void>(drivers.leave(driver, {answered, more_to_come, comes_back, sockets}));
  }
  bool was_called(Driver& driver) { return (driver.sleeper.take() & Sleeper::called) != 0; }

  Dormitory dormitory;
  Drivers drivers;
  std::deque<Parker> parkers;
  std::deque<Driver> seats;
  std::uint64_t answered = 0;
  std::uint64_t sockets = 0;
};

}  // namespace latchkey::detail::redis
