// The reader's role among threads that spin before they sleep.
#include "leader_followers_fixture.hpp"

namespace latchkey::detail::redis {
namespace {

TEST_F(LeaderFollowersTest, ThoseWhoSpinTakeTheRoleTurnByTurnWithoutBeingCalled) {
  WaitingThread& one = spin(1);
  WaitingThread& two = spin(2);
  EXPECT_TRUE(threads.takes_turn(one));
  EXPECT_FALSE(threads.takes_turn(two)) << "one of them reads just now";
  threads.yields(one);
  EXPECT_TRUE(threads.takes_turn(two));
  EXPECT_FALSE(threads.is_leader(one));
  EXPECT_FALSE(was_called(one) || was_called(two));
}

TEST_F(LeaderFollowersTest, OneThatIsAloneOnItsProcessorKeepsTheRole) {
  WaitingThread& one = spin(1);
  WaitingThread& two = spin(2);
  take_turn(one, true);
  EXPECT_FALSE(threads.takes_turn(two));
  one.alone = false;
  EXPECT_TRUE(threads.takes_turn(two));
}

TEST_F(LeaderFollowersTest, NobodyIsWokenForTheRoleWhileSomebodySpins) {
  WaitingThread& waiter = come(1);
  sleep(waiter);
  WaitingThread& one = spin(2);
  EXPECT_FALSE(threads.takes_turn(one)) << "the sleeper polls, and has an answer to come";
  answered = 1;
  wake(waiter);
  WaitingThread& other = come(3);
  go(waiter);
  EXPECT_FALSE(threads.is_leader(other));
  EXPECT_FALSE(was_called(other));
  EXPECT_TRUE(threads.takes_turn(one));
  answered = 2;
  threads.stops_spinning(one, false);
  go(one);
  EXPECT_TRUE(threads.is_leader(other));
  EXPECT_TRUE(was_called(other));
}

TEST_F(LeaderFollowersTest, WhoGoesToSleepLeavesTheRoleToThoseWhoSpin) {
  WaitingThread& one = spin(1);
  WaitingThread& two = spin(2);
  take_turn(one, true);
  threads.stops_spinning(one, true);
  EXPECT_FALSE(threads.is_leader(one));
  threads.stops_spinning(two, true);
  EXPECT_TRUE(threads.is_leader(two)) << "the last one takes it along";
}

TEST_F(LeaderFollowersTest, ACallForTheReaderReachesWhoeverHasTheNextTurn) {
  WaitingThread& one = spin(1);
  WaitingThread& two = spin(2);
  take_turn(one);
  threads.call_leader();
  EXPECT_TRUE(threads.takes_turn(two));
  EXPECT_TRUE(was_called(two));
  EXPECT_FALSE(was_called(one));
  threads.yields(two);
  threads.call_leader();
  threads.stops_spinning(one, true);
  threads.stops_spinning(two, true);
  EXPECT_TRUE(was_called(two)) << "before it sleeps";
}

// It yielded, and the processor had other work: the role must not wait until that is done.
TEST_F(LeaderFollowersTest, OneThatSpinsAndDoesNotComeBackIsDoneWithout) {
  WaitingThread& lost = spin(1);
  WaitingThread& other = spin(2);
  take_turn(lost, true);
  threads.stops_spinning(other, true);
  EXPECT_TRUE(threads.looks(other));
  wake(other);
  EXPECT_TRUE(threads.is_leader(other));
}

TEST_F(LeaderFollowersTest, WhoComesTakesTheRoleFromOneThatYieldedToOthers) {
  WaitingThread& one = spin(1);
  take_turn(one, true);
  EXPECT_FALSE(threads.is_leader(come(2))) << "that one comes back soon";
  one.alone = false;
  EXPECT_TRUE(threads.is_leader(come(3)));
}

TEST_F(LeaderFollowersTest, OneThatSpunAndIsThrownOutIsNotWaitedFor) {
  WaitingThread& one = spin(1);
  go(one, true);
  EXPECT_FALSE(threads.somebody_spins());
}

}  // namespace
}  // namespace latchkey::detail::redis
