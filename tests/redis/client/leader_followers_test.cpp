// Who reads for everybody, and to whom the role goes.
#include "leader_followers_fixture.hpp"

namespace latchkey::detail::redis {
namespace {

TEST_F(LeaderFollowersTest, OneThatSleepsInPollIsCalledWhereAConnectionHasComeSince) {
  WaitingThread& timer = come();
  sleep(timer);
  WaitingThread& caller = come(1);
  ASSERT_TRUE(threads.is_leader(caller));
  ++sockets;  // the caller connects to one more server
  answered = 1;
  go(caller, true);
  EXPECT_TRUE(threads.is_leader(timer));
  EXPECT_TRUE(was_called(timer)) << "it does not poll for the new one";
}

TEST_F(LeaderFollowersTest, OneThatSleepsInPollForAllConnectionsIsLeftAsleep) {
  WaitingThread& timer = come();
  sleep(timer);
  WaitingThread& caller = come(1);
  answered = 1;
  go(caller, true);
  EXPECT_TRUE(threads.is_leader(timer));
  EXPECT_FALSE(was_called(timer));
}

TEST_F(LeaderFollowersTest, TheFirstToComeReadsAndOthersOfItsKindSleep) {
  WaitingThread& first = come(1);
  EXPECT_TRUE(threads.is_leader(first));
  sleep(first);
  WaitingThread& second = come(2);
  EXPECT_FALSE(threads.is_leader(second));
  EXPECT_TRUE(threads.is_leader(first));
}

TEST_F(LeaderFollowersTest, AnEagerOneTakesTheRoleFromOneThatIsNotWithoutWakingIt) {
  WaitingThread& timer = come();
  sleep(timer);
  WaitingThread& caller = come(1);
  EXPECT_TRUE(threads.is_leader(caller));
  EXPECT_FALSE(was_called(timer));
  EXPECT_FALSE(wake(timer));
  EXPECT_FALSE(threads.is_leader(timer));
}

TEST_F(LeaderFollowersTest, NobodyTakesTheRoleFromOneThatDoesSomething) {
  WaitingThread& timer = come();  // it runs
  WaitingThread& caller = come(1);
  EXPECT_TRUE(threads.is_leader(timer));
  EXPECT_FALSE(threads.is_leader(caller));
  go(timer);
  EXPECT_TRUE(threads.is_leader(caller));
  EXPECT_TRUE(was_called(caller));
}

TEST_F(LeaderFollowersTest, TheRoleGoesToTheLatestThatWaitsForAnAnswer) {
  WaitingThread& reader = come(1);
  WaitingThread& second = come(2);
  WaitingThread& third = come(3);
  WaitingThread& idle = come();
  answered = 1;
  go(reader);
  EXPECT_TRUE(threads.is_leader(third));
  EXPECT_TRUE(was_called(third));
  EXPECT_FALSE(was_called(second));
  EXPECT_FALSE(was_called(idle));
  answered = 3;  // both have theirs now
  go(third);
  EXPECT_FALSE(threads.is_leader(second));
}

TEST_F(LeaderFollowersTest, WithNothingToComeTheRoleIsLeftLyingForTheNextCaller) {
  WaitingThread& timer = come();
  sleep(timer);
  WaitingThread& caller = come(1);
  wake(timer);  // now it sleeps as the standby
  EXPECT_TRUE(threads.looks(timer));
  answered = 1;
  go(caller);
  EXPECT_FALSE(was_called(timer));
  EXPECT_FALSE(threads.is_leader(timer));
  WaitingThread& next = come(2);
  EXPECT_TRUE(threads.is_leader(next));
}

TEST_F(LeaderFollowersTest, WithSomethingToComeAnotherReadsAtOnce) {
  WaitingThread& caller = come(1);
  WaitingThread& waiter = come();
  answered = 1;
  go(caller, true);
  EXPECT_TRUE(threads.is_leader(waiter));
  EXPECT_TRUE(was_called(waiter));
}

TEST_F(LeaderFollowersTest, OneThatStillSleepsInPollGetsTheRoleBackWithoutBeingWoken) {
  WaitingThread& timer = come();
  sleep(timer);
  WaitingThread& caller = come(1);
  answered = 1;
  go(caller, true);
  EXPECT_TRUE(threads.is_leader(timer));
  EXPECT_FALSE(was_called(timer));
}

TEST_F(LeaderFollowersTest, TheStandbyTakesTheRoleOnceNobodyHasComeForAWhile) {
  WaitingThread& timer = come();
  sleep(timer);
  WaitingThread& caller = come(1);
  wake(timer);
  answered = 1;
  go(caller);
  WaitingThread& next = come(2);
  answered = 2;
  go(next);
  wake(timer);  // somebody has come since it looked last
  EXPECT_FALSE(threads.is_leader(timer));
  wake(timer);
  EXPECT_TRUE(threads.is_leader(timer));
}

TEST_F(LeaderFollowersTest, TheStandbyStopsLookingWhileSomebodyReadsAndNobodyComes) {
  WaitingThread& reader = come();
  WaitingThread& backup = come();  // the reader runs, so it keeps the role
  EXPECT_TRUE(threads.looks(backup));
  wake(backup);
  EXPECT_FALSE(threads.looks(backup));
  // With nobody looking the role is never left lying.
  go(reader);
  EXPECT_TRUE(threads.is_leader(backup));
  EXPECT_TRUE(was_called(backup));
}

TEST_F(LeaderFollowersTest, OneThatWasInterruptedByWhatItDeliveredIsExpectedBack) {
  WaitingThread& reader = come(1);
  WaitingThread& other = come(2);
  EXPECT_TRUE(threads.looks(other));
  go(reader, true, true);
  EXPECT_FALSE(was_called(other));
  WaitingThread& again = come(1);
  EXPECT_TRUE(threads.is_leader(again));
  // It does not come back: somebody looks after a while.
  go(again, true, true);
  wake(other);
  wake(other);
  EXPECT_TRUE(threads.is_leader(other));
}

TEST_F(LeaderFollowersTest, TheLastToLeaveLeavesNothing) {
  WaitingThread& one = come(1);
  WaitingThread& two = come(2);
  go(two);
  go(one, true);
  WaitingThread& three = come();
  EXPECT_TRUE(threads.is_leader(three));
}

TEST_F(LeaderFollowersTest, ASleeperLeavingHandsWhatItWasGivenOn) {
  WaitingThread& reader = come(1);
  WaitingThread& next = come(2);
  WaitingThread& last = come(3);
  go(reader, true);
  ASSERT_TRUE(threads.is_leader(last));
  go(last, true);  // its parker was unparked before it woke for the role
  EXPECT_TRUE(threads.is_leader(next));
  EXPECT_TRUE(was_called(next));
}

}  // namespace
}  // namespace latchkey::detail::redis
