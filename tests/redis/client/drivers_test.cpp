// Who reads for everybody, and to whom the role goes.
#include "redis/drivers.hpp"

#include <gtest/gtest.h>

#include <deque>

namespace latchkey::detail::redis {
namespace {

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
  void sleep(Driver& driver) {
    driver.polls = drivers.has_role(driver);
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
    static_cast<void>(drivers.leave(driver, {answered, more_to_come, comes_back}));
  }
  bool was_called(Driver& driver) { return (driver.sleeper.take() & Sleeper::called) != 0; }

  Dormitory dormitory;
  Drivers drivers;
  std::deque<Parker> parkers;
  std::deque<Driver> seats;
  std::uint64_t answered = 0;
};

TEST_F(DriversTest, TheFirstToComeReadsAndOthersOfItsKindSleep) {
  Driver& first = come(1);
  EXPECT_TRUE(drivers.has_role(first));
  sleep(first);
  Driver& second = come(2);
  EXPECT_FALSE(drivers.has_role(second));
  EXPECT_TRUE(drivers.has_role(first));
}

TEST_F(DriversTest, AnEagerOneTakesTheRoleFromOneThatIsNotWithoutWakingIt) {
  Driver& timer = come();
  sleep(timer);
  Driver& caller = come(1);
  EXPECT_TRUE(drivers.has_role(caller));
  EXPECT_FALSE(was_called(timer));
  EXPECT_FALSE(wake(timer));
  EXPECT_FALSE(drivers.has_role(timer));
}

TEST_F(DriversTest, NobodyTakesTheRoleFromOneThatDoesSomething) {
  Driver& timer = come();  // it runs
  Driver& caller = come(1);
  EXPECT_TRUE(drivers.has_role(timer));
  EXPECT_FALSE(drivers.has_role(caller));
  go(timer);
  EXPECT_TRUE(drivers.has_role(caller));
  EXPECT_TRUE(was_called(caller));
}

TEST_F(DriversTest, TheRoleGoesToTheLatestThatWaitsForAnAnswer) {
  Driver& reader = come(1);
  Driver& second = come(2);
  Driver& third = come(3);
  Driver& idle = come();
  answered = 1;
  go(reader);
  EXPECT_TRUE(drivers.has_role(third));
  EXPECT_TRUE(was_called(third));
  EXPECT_FALSE(was_called(second));
  EXPECT_FALSE(was_called(idle));
  answered = 3;  // both have theirs now
  go(third);
  EXPECT_FALSE(drivers.has_role(second));
}

TEST_F(DriversTest, WithNothingToComeTheRoleIsLeftLyingForTheNextCaller) {
  Driver& timer = come();
  sleep(timer);
  Driver& caller = come(1);
  wake(timer);  // now it sleeps as the standby
  EXPECT_TRUE(drivers.looks(timer));
  answered = 1;
  go(caller);
  EXPECT_FALSE(was_called(timer));
  EXPECT_FALSE(drivers.has_role(timer));
  Driver& next = come(2);
  EXPECT_TRUE(drivers.has_role(next));
}

TEST_F(DriversTest, WithSomethingToComeAnotherReadsAtOnce) {
  Driver& caller = come(1);
  Driver& waiter = come();
  answered = 1;
  go(caller, true);
  EXPECT_TRUE(drivers.has_role(waiter));
  EXPECT_TRUE(was_called(waiter));
}

TEST_F(DriversTest, OneThatStillSleepsInPollGetsTheRoleBackWithoutBeingWoken) {
  Driver& timer = come();
  sleep(timer);
  Driver& caller = come(1);
  answered = 1;
  go(caller, true);
  EXPECT_TRUE(drivers.has_role(timer));
  EXPECT_FALSE(was_called(timer));
}

TEST_F(DriversTest, TheStandbyTakesTheRoleOnceNobodyHasComeForAWhile) {
  Driver& timer = come();
  sleep(timer);
  Driver& caller = come(1);
  wake(timer);
  answered = 1;
  go(caller);
  Driver& next = come(2);
  answered = 2;
  go(next);
  wake(timer);  // somebody has come since it looked last
  EXPECT_FALSE(drivers.has_role(timer));
  wake(timer);
  EXPECT_TRUE(drivers.has_role(timer));
}

TEST_F(DriversTest, TheStandbyStopsLookingWhileSomebodyReadsAndNobodyComes) {
  Driver& reader = come();
  Driver& standby = come();  // the reader runs, so it keeps the role
  EXPECT_TRUE(drivers.looks(standby));
  wake(standby);
  EXPECT_FALSE(drivers.looks(standby));
  // With nobody looking the role is never left lying.
  go(reader);
  EXPECT_TRUE(drivers.has_role(standby));
  EXPECT_TRUE(was_called(standby));
}

TEST_F(DriversTest, OneThatWasInterruptedByWhatItDeliveredIsExpectedBack) {
  Driver& reader = come(1);
  Driver& other = come(2);
  EXPECT_TRUE(drivers.looks(other));
  go(reader, true, true);
  EXPECT_FALSE(was_called(other));
  Driver& again = come(1);
  EXPECT_TRUE(drivers.has_role(again));
  // It does not come back: somebody looks after a while.
  go(again, true, true);
  wake(other);
  wake(other);
  EXPECT_TRUE(drivers.has_role(other));
}

TEST_F(DriversTest, TheLastToLeaveLeavesNothing) {
  Driver& one = come(1);
  Driver& two = come(2);
  go(two);
  go(one, true);
  Driver& three = come();
  EXPECT_TRUE(drivers.has_role(three));
}

TEST_F(DriversTest, ASleeperLeavingHandsWhatItWasGivenOn) {
  Driver& reader = come(1);
  Driver& next = come(2);
  Driver& last = come(3);
  go(reader, true);
  ASSERT_TRUE(drivers.has_role(last));
  go(last, true);  // its parker was unparked before it woke for the role
  EXPECT_TRUE(drivers.has_role(next));
  EXPECT_TRUE(was_called(next));
}

}  // namespace
}  // namespace latchkey::detail::redis
