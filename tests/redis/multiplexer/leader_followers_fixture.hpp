// Threads in every state of leader/followers, for the tests of LeaderFollowers.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <deque>

#include "redis/multiplexer/leader_followers.hpp"

namespace latchkey::inline v1::detail::redis {

class LeaderFollowersTest : public ::testing::Test {
 protected:
  /// Adds a thread, which tries to lead. It awaits a reply while `last_request` > `answered`.
  WaitingThread& enter(std::uint64_t last_request = 0) {
    WaitingThread& thread = entered.emplace_back(parkers.emplace_back(), wait_set);
    thread.last_request = last_request;
    threads.enter(thread, answered);
    threads.try_lead(thread, answered);
    return thread;
  }
  /// Adds a thread that spins and has not tried to lead since it began to spin.
  WaitingThread& enter_spinning(std::uint64_t last_request) {
    WaitingThread& thread = enter(last_request);
    threads.begin_spin(thread);
    return thread;
  }
  /// The thread becomes the leader and yields the processor. `alone`: no other thread runs
  /// meanwhile.
  void lead_and_yield(WaitingThread& thread, bool alone = false) {
    EXPECT_TRUE(threads.try_lead_spinning(thread));
    threads.begin_yield(thread);
    threads.end_yield(thread, alone);
  }
  /// The thread falls asleep: the leader in poll(2), a follower on the futex.
  void sleep(WaitingThread& thread) {
    if (threads.is_leader(thread)) threads.begin_poll(thread, generation, polls_until);
  }
  /// The thread wakes up and tries to lead. True if it was interrupted.
  bool wake(WaitingThread& thread) {
    const bool interrupted = was_interrupted(thread);
    if (thread.state == WaitingThread::State::polling) threads.end_poll(thread);
    threads.try_lead(thread, answered);
    return interrupted;
  }
  void leave(WaitingThread& thread, bool more_expected = false, bool will_return = false) {
    static_cast<void>(
        threads.leave(thread, {answered, more_expected, will_return, generation, work_is_due}));
  }
  bool was_interrupted(WaitingThread& thread) {
    return (thread.waiter.take_reasons() & Waiter::interrupted) != 0;
  }

  FutexWaitSet wait_set;
  LeaderFollowers threads;
  std::deque<Parker> parkers;
  std::deque<WaitingThread> entered;
  std::uint64_t answered = 0;
  std::uint64_t generation = 0;
  Clock::time_point polls_until = Clock::never();
  Clock::time_point work_is_due = Clock::never();
};

}  // namespace latchkey::inline v1::detail::redis
