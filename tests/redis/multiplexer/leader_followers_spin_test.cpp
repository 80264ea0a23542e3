// Leadership among threads that spin before they sleep.
#include "leader_followers_fixture.hpp"

namespace latchkey::detail::redis {
namespace {

TEST_F(LeaderFollowersTest, SpinningThreadsLeadInTurnWithoutBeingInterrupted) {
  WaitingThread& one = enter_spinning(1);
  WaitingThread& two = enter_spinning(2);
  EXPECT_TRUE(threads.try_lead_spinning(one));
  EXPECT_FALSE(threads.try_lead_spinning(two)) << "the other one works just now";
  threads.begin_yield(one);
  EXPECT_TRUE(threads.try_lead_spinning(two));
  EXPECT_FALSE(threads.is_leader(one));
  EXPECT_FALSE(was_interrupted(one) || was_interrupted(two));
}

TEST_F(LeaderFollowersTest, ASpinningThreadAloneOnItsProcessorKeepsLeadership) {
  WaitingThread& one = enter_spinning(1);
  WaitingThread& two = enter_spinning(2);
  lead_and_yield(one, true);
  EXPECT_FALSE(threads.try_lead_spinning(two));
  threads.end_yield(one, false);
  EXPECT_TRUE(threads.try_lead_spinning(two));
}

TEST_F(LeaderFollowersTest, NoSleeperIsInterruptedToLeadWhileAThreadSpins) {
  WaitingThread& waiter = enter(1);
  sleep(waiter);
  WaitingThread& one = enter_spinning(2);
  EXPECT_FALSE(threads.try_lead_spinning(one)) << "the sleeper polls, and awaits a reply";
  answered = 1;
  wake(waiter);
  WaitingThread& other = enter(3);
  leave(waiter);
  EXPECT_FALSE(threads.is_leader(other));
  EXPECT_FALSE(was_interrupted(other));
  EXPECT_TRUE(threads.try_lead_spinning(one));
  answered = 2;
  threads.end_spin(one);
  leave(one);
  EXPECT_TRUE(threads.is_leader(other));
  EXPECT_TRUE(was_interrupted(other));
}

TEST_F(LeaderFollowersTest, AThreadThatFallsAsleepLeavesLeadershipToSpinningThreads) {
  WaitingThread& one = enter_spinning(1);
  WaitingThread& two = enter_spinning(2);
  lead_and_yield(one, true);
  threads.end_spin_to_sleep(one);
  EXPECT_FALSE(threads.is_leader(one));
  threads.end_spin_to_sleep(two);
  EXPECT_TRUE(threads.is_leader(two)) << "the last one leads in its sleep";
}

TEST_F(LeaderFollowersTest, AnInterruptReachesTheNextSpinningLeader) {
  WaitingThread& one = enter_spinning(1);
  WaitingThread& two = enter_spinning(2);
  lead_and_yield(one);
  threads.interrupt_leader();
  EXPECT_TRUE(threads.try_lead_spinning(two));
  EXPECT_TRUE(was_interrupted(two));
  EXPECT_FALSE(was_interrupted(one));
  threads.begin_yield(two);
  threads.interrupt_leader();
  threads.end_spin_to_sleep(one);
  threads.end_spin_to_sleep(two);
  EXPECT_TRUE(was_interrupted(two)) << "before it sleeps";
}

// The processor runs other threads after the spinning leader has yielded.
TEST_F(LeaderFollowersTest, TheBackupLeaderReplacesASpinningLeaderThatDoesNotReturn) {
  WaitingThread& lost = enter_spinning(1);
  WaitingThread& other = enter_spinning(2);
  lead_and_yield(lost, true);
  threads.end_spin_to_sleep(other);
  EXPECT_TRUE(threads.watches_as_backup(other));
  wake(other);
  EXPECT_TRUE(threads.is_leader(other));
}

TEST_F(LeaderFollowersTest, ANewThreadTakesLeadershipFromOneThatYieldedToOthers) {
  WaitingThread& one = enter_spinning(1);
  lead_and_yield(one, true);
  EXPECT_FALSE(threads.is_leader(enter(2))) << "a leader that is alone returns soon";
  threads.end_yield(one, false);
  EXPECT_TRUE(threads.is_leader(enter(3)));
}

TEST_F(LeaderFollowersTest, AThreadThatLeavesWhileItSpinsIsNotCountedAsSpinning) {
  WaitingThread& one = enter_spinning(1);
  leave(one, true);
  EXPECT_EQ(threads.spinning_threads(), 0U);
}

}  // namespace
}  // namespace latchkey::detail::redis
