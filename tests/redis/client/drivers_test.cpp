// Who reads for everybody, and to whom the role goes.
#include "drivers_fixture.hpp"

namespace latchkey::detail::redis {
namespace {

TEST_F(DriversTest, OneThatSleepsInPollIsCalledWhereAConnectionHasComeSince) {
  Driver& timer = come();
  sleep(timer);
  Driver& caller = come(1);
  ASSERT_TRUE(drivers.has_role(caller));
  ++sockets;  // the caller connects to one more server
  answered = 1;
  go(caller, true);
  EXPECT_TRUE(drivers.has_role(timer));
  EXPECT_TRUE(was_called(timer)) << "it does not poll for the new one";
}

TEST_F(DriversTest, OneThatSleepsInPollForAllConnectionsIsLeftAsleep) {
  Driver& timer = come();
  sleep(timer);
  Driver& caller = come(1);
  answered = 1;
  go(caller, true);
  EXPECT_TRUE(drivers.has_role(timer));
  EXPECT_FALSE(was_called(timer));
}

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
