// LeaderFollowers: event loops among the threads.
#include "leader_followers_fixture.hpp"

namespace latchkey::detail::redis {
namespace {

using State = WaitingThread::State;

class LeaderFollowersLoopTest : public LeaderFollowersTest {
 protected:
  WaitingThread& enter_loop(std::uint64_t last_request = 1) {
    WaitingThread& loop = entered.emplace_back(parkers.emplace_back(), wait_set);
    loop.event_loop = true;
    loop.last_request = last_request;
    threads.enter(loop, answered);
    threads.try_lead(loop, answered);
    sleep(loop);
    return loop;
  }
  /// The loop calls drive.
  void drive(WaitingThread& loop) {
    if (loop.state == State::polling) threads.end_poll(loop);
    if (loop.state == State::following) loop.state = State::entering;
    threads.try_lead(loop, answered);
  }
};

TEST_F(LeaderFollowersLoopTest, TakesLeadershipFromAnIdleThread) {
  WaitingThread& timer = enter();
  sleep(timer);
  WaitingThread& loop = enter_loop();
  EXPECT_TRUE(threads.is_leader(loop));
  EXPECT_FALSE(was_interrupted(timer));
}

TEST_F(LeaderFollowersLoopTest, FollowsAThreadThatAwaitsAReply) {
  WaitingThread& caller = enter(1);
  sleep(caller);
  WaitingThread& loop = enter_loop(2);
  EXPECT_TRUE(threads.is_leader(caller));
  EXPECT_FALSE(threads.watches_as_backup(loop)) << "it does not wake up periodically";
}

TEST_F(LeaderFollowersLoopTest, YieldsToAThreadThatAwaitsAReply) {
  WaitingThread& loop = enter_loop(1);
  WaitingThread& caller = enter(2);
  EXPECT_TRUE(threads.is_leader(caller));
  EXPECT_FALSE(threads.is_leader(loop));
}

TEST_F(LeaderFollowersLoopTest, KeepsLeadershipWhileItWorks) {
  WaitingThread& loop = enter_loop(1);
  drive(loop);
  ASSERT_EQ(loop.state, State::leading);
  WaitingThread& caller = enter(2);
  EXPECT_TRUE(threads.is_leader(loop));
  EXPECT_EQ(caller.state, State::following);
}

TEST_F(LeaderFollowersLoopTest, KeepsLeadershipIfAThreadAwaitsNothing) {
  WaitingThread& loop = enter_loop();
  enter();
  EXPECT_TRUE(threads.is_leader(loop));
}

TEST_F(LeaderFollowersLoopTest, IsInterruptedWhenTheLastThreadLeaves) {
  WaitingThread& loop = enter_loop(1);
  WaitingThread& caller = enter(2);
  drive(loop);
  ASSERT_FALSE(threads.is_leader(loop));
  answered = 2;
  leave(caller);
  EXPECT_TRUE(threads.is_leader(loop));
  EXPECT_TRUE(was_interrupted(loop));
}

TEST_F(LeaderFollowersLoopTest, ThreadThatAwaitsAReplyComesFirst) {
  WaitingThread& first = enter(1);
  WaitingThread& second = enter(2);
  sleep(second);
  enter_loop(3);
  answered = 1;
  leave(first, true);
  EXPECT_TRUE(threads.is_leader(second));
}

// A loop that is busy elsewhere does not read.
TEST_F(LeaderFollowersLoopTest, BackupLeaderTakesOverFromALoopThatDoesNotCome) {
  WaitingThread& loop = enter_loop();
  WaitingThread& timer = enter();
  ASSERT_TRUE(threads.watches_as_backup(timer));
  wake(timer);  // nobody has come since it entered
  EXPECT_TRUE(threads.is_leader(timer));
  EXPECT_FALSE(threads.is_leader(loop));
}

TEST_F(LeaderFollowersLoopTest, BackupLeaderLeavesALoopThatComesInPeace) {
  WaitingThread& loop = enter_loop();
  WaitingThread& timer = enter();
  for (int period = 0; period < 3; ++period) {
    drive(loop);
    sleep(loop);
    wake(timer);
    EXPECT_TRUE(threads.is_leader(loop));
  }
}

TEST_F(LeaderFollowersLoopTest, LeavingPassesLeadershipOn) {
  WaitingThread& timer = enter();
  sleep(timer);
  WaitingThread& loop = enter_loop();
  leave(loop, true);
  EXPECT_TRUE(threads.is_leader(timer));
}

TEST_F(LeaderFollowersLoopTest, MayEnterAgainAfterAnotherThreadLeft) {
  WaitingThread& loop = enter_loop();
  WaitingThread& caller = enter(2);
  leave(loop);
  leave(caller);
  loop.state = State::entering;
  threads.enter(loop, answered);
  threads.try_lead(loop, answered);
  EXPECT_TRUE(threads.is_leader(loop));
  sleep(loop);
  leave(loop);
  WaitingThread& next = enter(3);
  EXPECT_TRUE(threads.is_leader(next));
}

TEST_F(LeaderFollowersLoopTest, SpinningThreadsKeepLeadership) {
  WaitingThread& spinning = enter_spinning(1);
  lead_and_yield(spinning);
  WaitingThread& loop = enter_loop(2);
  EXPECT_FALSE(threads.is_leader(loop));
  EXPECT_TRUE(threads.try_lead_spinning(spinning));
}

}  // namespace
}  // namespace latchkey::detail::redis
