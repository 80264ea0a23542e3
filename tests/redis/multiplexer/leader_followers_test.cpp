// LeaderFollowers: which thread reads for all waiters, and which one leads next.
#include "leader_followers_fixture.hpp"

namespace latchkey::detail::redis {
namespace {

using State = WaitingThread::State;

TEST_F(LeaderFollowersTest, TheStateFollowsTheDocumentedTransitions) {
  WaitingThread& leader = enter(1);
  EXPECT_EQ(leader.state, State::leading);
  sleep(leader);
  EXPECT_EQ(leader.state, State::polling);
  WaitingThread& follower = enter(2);
  EXPECT_EQ(follower.state, State::following);
  EXPECT_TRUE(threads.end_poll(leader));
  EXPECT_EQ(leader.state, State::leading);
  threads.begin_spin(leader);
  EXPECT_EQ(leader.state, State::spinning);
  EXPECT_TRUE(threads.try_lead_spinning(leader));
  EXPECT_EQ(leader.state, State::spinning_leader);
  threads.begin_yield(leader);
  EXPECT_EQ(leader.state, State::spinning);
  threads.end_spin(leader);
  EXPECT_EQ(leader.state, State::following);
  wake(leader);
  EXPECT_EQ(leader.state, State::leading);
}

TEST_F(LeaderFollowersTest, AThreadThatLosesLeadershipInPollFollowsWhenItWakes) {
  WaitingThread& timer = enter();
  sleep(timer);
  enter(1);
  EXPECT_EQ(timer.state, State::polling);
  EXPECT_FALSE(threads.end_poll(timer));
  EXPECT_EQ(timer.state, State::following);
}

TEST_F(LeaderFollowersTest, ANewLeaderInPollIsInterruptedIfConnectionsHaveChanged) {
  WaitingThread& timer = enter();
  sleep(timer);
  WaitingThread& caller = enter(1);
  ASSERT_TRUE(threads.is_leader(caller));
  ++generation;  // the caller connects to one more server
  answered = 1;
  leave(caller, true);
  EXPECT_TRUE(threads.is_leader(timer));
  EXPECT_TRUE(was_interrupted(timer)) << "it does not poll the new connection";
}

TEST_F(LeaderFollowersTest, ANewLeaderInPollIsNotInterruptedIfConnectionsAreTheSame) {
  WaitingThread& timer = enter();
  sleep(timer);
  WaitingThread& caller = enter(1);
  answered = 1;
  leave(caller, true);
  EXPECT_TRUE(threads.is_leader(timer));
  EXPECT_FALSE(was_interrupted(timer));
}

TEST_F(LeaderFollowersTest, ANewLeaderInPollIsInterruptedIfWorkIsDueBeforeItWakes) {
  polls_until = Clock::time_point(100ms);
  for (const auto due : {50ms, 100ms}) {
    WaitingThread& timer = enter();
    sleep(timer);
    WaitingThread& caller = enter(++answered);
    work_is_due = Clock::time_point(due);
    leave(caller);
    EXPECT_TRUE(threads.is_leader(timer));
    EXPECT_EQ(was_interrupted(timer), due == 50ms);
    leave(timer);
  }
}

// The thread that has sent it may never wait here again.
TEST_F(LeaderFollowersTest, ARequestThatNoThreadAwaitsFillsAVacancy) {
  WaitingThread& caller = enter(1);
  sleep(caller);
  WaitingThread& timer = enter();
  answered = 1;
  leave(caller);
  EXPECT_FALSE(threads.is_leader(timer)) << "nothing is expected";
  threads.fill_vacancy({answered, true, false, generation, work_is_due}).carry_out();
  EXPECT_TRUE(threads.is_leader(timer));
  EXPECT_TRUE(was_interrupted(timer));
}

TEST_F(LeaderFollowersTest, TheFirstCallerLeadsAndLaterCallersFollow) {
  WaitingThread& first = enter(1);
  EXPECT_TRUE(threads.is_leader(first));
  sleep(first);
  WaitingThread& second = enter(2);
  EXPECT_FALSE(threads.is_leader(second));
  EXPECT_TRUE(threads.is_leader(first));
}

TEST_F(LeaderFollowersTest, ACallerTakesLeadershipFromAnIdleLeaderWithoutWakingIt) {
  WaitingThread& timer = enter();
  sleep(timer);
  WaitingThread& caller = enter(1);
  EXPECT_TRUE(threads.is_leader(caller));
  EXPECT_FALSE(was_interrupted(timer));
  EXPECT_FALSE(wake(timer));
  EXPECT_FALSE(threads.is_leader(timer));
}

TEST_F(LeaderFollowersTest, ALeaderThatWorksKeepsLeadership) {
  WaitingThread& timer = enter();  // stays awake
  WaitingThread& caller = enter(1);
  EXPECT_TRUE(threads.is_leader(timer));
  EXPECT_FALSE(threads.is_leader(caller));
  leave(timer);
  EXPECT_TRUE(threads.is_leader(caller));
  EXPECT_TRUE(was_interrupted(caller));
}

TEST_F(LeaderFollowersTest, LeadershipPassesToTheNewestThreadThatAwaitsAReply) {
  WaitingThread& leader = enter(1);
  WaitingThread& second = enter(2);
  WaitingThread& third = enter(3);
  WaitingThread& idle = enter();
  answered = 1;
  leave(leader);
  EXPECT_TRUE(threads.is_leader(third));
  EXPECT_TRUE(was_interrupted(third));
  EXPECT_FALSE(was_interrupted(second));
  EXPECT_FALSE(was_interrupted(idle));
  answered = 3;  // the second and the third have their replies now
  leave(third);
  EXPECT_FALSE(threads.is_leader(second));
}

TEST_F(LeaderFollowersTest, LeadershipStaysVacantForTheNextCallerIfNothingIsExpected) {
  WaitingThread& timer = enter();
  sleep(timer);
  WaitingThread& caller = enter(1);
  wake(timer);  // it sleeps as the backup leader now
  EXPECT_TRUE(threads.watches_as_backup(timer));
  answered = 1;
  leave(caller);
  EXPECT_FALSE(was_interrupted(timer));
  EXPECT_FALSE(threads.is_leader(timer));
  WaitingThread& next = enter(2);
  EXPECT_TRUE(threads.is_leader(next));
}

TEST_F(LeaderFollowersTest, LeadershipPassesAtOnceIfMoreIsExpected) {
  WaitingThread& caller = enter(1);
  WaitingThread& waiter = enter();
  answered = 1;
  leave(caller, true);
  EXPECT_TRUE(threads.is_leader(waiter));
  EXPECT_TRUE(was_interrupted(waiter));
}

TEST_F(LeaderFollowersTest, AnOldLeaderThatStillPollsLeadsAgainWithoutBeingWoken) {
  WaitingThread& timer = enter();
  sleep(timer);
  WaitingThread& caller = enter(1);
  answered = 1;
  leave(caller, true);
  EXPECT_TRUE(threads.is_leader(timer));
  EXPECT_FALSE(was_interrupted(timer));
}

TEST_F(LeaderFollowersTest, TheBackupLeaderLeadsOnceNoCallerHasComeForAPeriod) {
  WaitingThread& timer = enter();
  sleep(timer);
  WaitingThread& caller = enter(1);
  wake(timer);
  answered = 1;
  leave(caller);
  WaitingThread& next = enter(2);
  answered = 2;
  leave(next);
  wake(timer);  // a caller has come during this period
  EXPECT_FALSE(threads.is_leader(timer));
  wake(timer);
  EXPECT_TRUE(threads.is_leader(timer));
}

TEST_F(LeaderFollowersTest, TheBackupLeaderStopsWatchingWhileAnotherLeadsAndNoCallerComes) {
  WaitingThread& leader = enter();
  WaitingThread& backup = enter();  // the leader works, so it keeps leadership
  EXPECT_TRUE(threads.watches_as_backup(backup));
  wake(backup);
  EXPECT_FALSE(threads.watches_as_backup(backup));
  // Without a backup leader that watches, leadership never stays vacant.
  leave(leader);
  EXPECT_TRUE(threads.is_leader(backup));
  EXPECT_TRUE(was_interrupted(backup));
}

TEST_F(LeaderFollowersTest, ALeaderThatDeliveredAndAwaitsAReplyIsExpectedToReturn) {
  WaitingThread& leader = enter(1);
  WaitingThread& other = enter(2);
  EXPECT_TRUE(threads.watches_as_backup(other));
  leave(leader, true, true);
  EXPECT_FALSE(was_interrupted(other));
  WaitingThread& again = enter(1);
  EXPECT_TRUE(threads.is_leader(again));
  // This time the leader does not return, so the backup leader takes over after a period.
  leave(again, true, true);
  wake(other);
  wake(other);
  EXPECT_TRUE(threads.is_leader(other));
}

TEST_F(LeaderFollowersTest, LeadershipIsVacantAfterTheLastThreadHasLeft) {
  WaitingThread& one = enter(1);
  WaitingThread& two = enter(2);
  leave(two);
  leave(one, true);
  WaitingThread& three = enter();
  EXPECT_TRUE(threads.is_leader(three));
}

TEST_F(LeaderFollowersTest, ANewLeaderThatLeavesBeforeItWakesPassesLeadershipOn) {
  WaitingThread& leader = enter(1);
  WaitingThread& next = enter(2);
  WaitingThread& last = enter(3);
  leave(leader, true);
  ASSERT_TRUE(threads.is_leader(last));
  leave(last, true);  // its parker was unparked before it could lead
  EXPECT_TRUE(threads.is_leader(next));
  EXPECT_TRUE(was_interrupted(next));
}

}  // namespace
}  // namespace latchkey::detail::redis
