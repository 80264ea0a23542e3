// The reader's role among threads that spin before they sleep.
#include "drivers_fixture.hpp"

namespace latchkey::detail::redis {
namespace {

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
