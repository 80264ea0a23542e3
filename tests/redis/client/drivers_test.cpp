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

TEST_F(DriversTest, ThoseWhoSpinTakeTheRoleTurnByTurnWithoutBeingCalled) {
  Driver& one = spin(1);
  Driver& two = spin(2);
  EXPECT_TRUE(drivers.takes_turn(one));
  EXPECT_FALSE(drivers.takes_turn(two)) << "one of them reads just now";
  drivers.yields(one);
  EXPECT_TRUE(drivers.takes_turn(two));
  EXPECT_FALSE(drivers.has_role(one));
  EXPECT_FALSE(was_called(one) || was_called(two));
}

TEST_F(DriversTest, OneThatIsAloneOnItsProcessorKeepsTheRole) {
  Driver& one = spin(1);
  Driver& two = spin(2);
  take_turn(one, true);
  EXPECT_FALSE(drivers.takes_turn(two));
  one.alone = false;
  EXPECT_TRUE(drivers.takes_turn(two));
}

TEST_F(DriversTest, NobodyIsWokenForTheRoleWhileSomebodySpins) {
  Driver& sleeper = come(1);
  sleep(sleeper);
  Driver& one = spin(2);
  EXPECT_FALSE(drivers.takes_turn(one)) << "the sleeper polls, and has an answer to come";
  answered = 1;
  wake(sleeper);
  Driver& other = come(3);
  go(sleeper);
  EXPECT_FALSE(drivers.has_role(other));
  EXPECT_FALSE(was_called(other));
  EXPECT_TRUE(drivers.takes_turn(one));
  answered = 2;
  drivers.stops_spinning(one, false);
  go(one);
  EXPECT_TRUE(drivers.has_role(other));
  EXPECT_TRUE(was_called(other));
}

TEST_F(DriversTest, WhoGoesToSleepLeavesTheRoleToThoseWhoSpin) {
  Driver& one = spin(1);
  Driver& two = spin(2);
  take_turn(one, true);
  drivers.stops_spinning(one, true);
  EXPECT_FALSE(drivers.has_role(one));
  drivers.stops_spinning(two, true);
  EXPECT_TRUE(drivers.has_role(two)) << "the last one takes it along";
}

TEST_F(DriversTest, ACallForTheReaderReachesWhoeverHasTheNextTurn) {
  Driver& one = spin(1);
  Driver& two = spin(2);
  take_turn(one);
  drivers.call_reader();
  EXPECT_TRUE(drivers.takes_turn(two));
  EXPECT_TRUE(was_called(two));
  EXPECT_FALSE(was_called(one));
  drivers.yields(two);
  drivers.call_reader();
  drivers.stops_spinning(one, true);
  drivers.stops_spinning(two, true);
  EXPECT_TRUE(was_called(two)) << "before it sleeps";
}

// It yielded, and the processor had other work: the role must not wait until that is done.
TEST_F(DriversTest, OneThatSpinsAndDoesNotComeBackIsDoneWithout) {
  Driver& lost = spin(1);
  Driver& other = spin(2);
  take_turn(lost, true);
  drivers.stops_spinning(other, true);
  EXPECT_TRUE(drivers.looks(other));
  wake(other);
  EXPECT_TRUE(drivers.has_role(other));
}

TEST_F(DriversTest, WhoComesTakesTheRoleFromOneThatYieldedToOthers) {
  Driver& one = spin(1);
  take_turn(one, true);
  EXPECT_FALSE(drivers.has_role(come(2))) << "that one comes back soon";
  one.alone = false;
  EXPECT_TRUE(drivers.has_role(come(3)));
}

TEST_F(DriversTest, OneThatSpunAndIsThrownOutIsNotWaitedFor) {
  Driver& one = spin(1);
  go(one, true);
  EXPECT_FALSE(drivers.somebody_spins());
}

}  // namespace
}  // namespace latchkey::detail::redis
