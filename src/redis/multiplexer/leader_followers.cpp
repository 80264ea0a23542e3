// Chooses the one waiting thread that reads for all of them.
// SPDX-License-Identifier: BSL-1.0
#include "redis/multiplexer/leader_followers.hpp"

#include <cassert>
#include <utility>

namespace latchkey::inline v1::detail::redis {
namespace {

using ThreadState = WaitingThread::State;

}  // namespace

void LeaderFollowers::enter(WaitingThread& thread, std::uint64_t answered) noexcept {
  thread.next = newest_;
  if (newest_ != nullptr) newest_->previous = &thread;
  newest_ = &thread;
  if (thread.awaits_reply(answered)) ++arrivals_;
  thread.seen_arrivals = arrivals_;
}

bool LeaderFollowers::try_lead(WaitingThread& thread, std::uint64_t answered) noexcept {
  assert(!thread.is_spinning() && thread.state != ThreadState::polling);
  const bool quiet = std::exchange(thread.seen_arrivals, arrivals_) == arrivals_;
  if (thread.event_loop) ++arrivals_;
  if (is_leader(thread) || takes_over(thread, quiet, answered)) {
    become_leader(thread);
    thread.state = ThreadState::leading;
    interrupted_ = false;
    return true;
  }
  thread.state = ThreadState::following;
  if (thread.event_loop) return false;
  if (backup_leader_ == nullptr) {
    become_watching_backup(thread);
  } else if (backup_leader_ == &thread && quiet) {
    backup_watches_ = false;
  }
  return false;
}

// `quiet`: no caller has come since the thread tried last.
bool LeaderFollowers::takes_over(const WaitingThread& thread, bool quiet,
                                 std::uint64_t answered) const noexcept {
  const bool is_new = thread.state == ThreadState::entering;
  const bool claims = is_new || (watches_as_backup(thread) && quiet);
  if (leader_ == nullptr) return claims;
  if (leader_->event_loop) {
    const bool needs_reply = is_new && !thread.event_loop && thread.awaits_reply(answered);
    return !leader_->is_busy_leading() && (needs_reply || (claims && !is_new));
  }
  // A leader that yields may have to wait for the processor; one that is alone returns soon.
  if (leader_->state == ThreadState::spinning) {
    return claims && !(is_new && leader_->alone) && !thread.event_loop;
  }
  return is_new && !leader_->is_busy_leading() && !leader_->awaits_reply(answered);
}

void LeaderFollowers::become_leader(WaitingThread& thread) noexcept {
  leader_ = &thread;
  if (backup_leader_ == &thread) backup_leader_ = nullptr;
}

void LeaderFollowers::become_watching_backup(WaitingThread& thread) noexcept {
  backup_leader_ = &thread;
  backup_watches_ = true;
}

void LeaderFollowers::begin_poll(WaitingThread& thread, std::uint64_t generation,
                                 Clock::time_point until) noexcept {
  assert(thread.state == ThreadState::leading);
  thread.state = ThreadState::polling;
  thread.polled_generation = generation;
  thread.polls_until = until;
}

bool LeaderFollowers::end_poll(WaitingThread& thread) noexcept {
  assert(thread.state == ThreadState::polling);
  thread.state = is_leader(thread) ? ThreadState::leading : ThreadState::following;
  return is_leader(thread);
}

void LeaderFollowers::begin_spin(WaitingThread& thread) noexcept {
  assert(thread.state == ThreadState::leading || thread.state == ThreadState::following);
  thread.state = ThreadState::spinning;
  thread.waiter.set_awake(true);
  ++spinning_threads_;
}

bool LeaderFollowers::try_lead_spinning(WaitingThread& thread) noexcept {
  const bool yielded = leader_ != nullptr && leader_->state == ThreadState::spinning;
  if (leader_ == nullptr || (yielded && !leader_->alone)) become_leader(thread);
  if (!is_leader(thread)) return false;
  thread.state = thread.is_spinning() ? ThreadState::spinning_leader : ThreadState::leading;
  if (std::exchange(interrupted_, false)) static_cast<void>(thread.waiter.interrupt());
  return true;
}

void LeaderFollowers::begin_yield(WaitingThread& thread) noexcept {
  assert(thread.is_spinning());
  thread.state = ThreadState::spinning;
}

void LeaderFollowers::end_spin(WaitingThread& thread) noexcept {
  assert(thread.is_spinning());
  thread.state =
      thread.state == ThreadState::spinning_leader ? ThreadState::leading : ThreadState::following;
  thread.alone = false;
  thread.waiter.set_awake(false);
  --spinning_threads_;
}

// The last spinning thread leads in its sleep. Others leave leadership to those that still spin,
// and watch them as the backup leader: spinning threads may have to wait for the processor.
void LeaderFollowers::end_spin_to_sleep(WaitingThread& thread) noexcept {
  end_spin(thread);
  thread.state = ThreadState::following;
  if (spinning_threads_ == 0) return static_cast<void>(try_lead_spinning(thread));
  if (is_leader(thread)) leader_ = nullptr;
  if (!has_watching_backup()) become_watching_backup(thread);
}

Parker::Wake LeaderFollowers::leave(WaitingThread& thread, const LeaveContext& context) noexcept {
  remove(thread);
  if (thread.is_spinning()) end_spin(thread);  // an exception interrupted it
  if (!is_vacant()) return {};
  if (context.will_return && has_watching_backup()) return {};
  return pass_leadership(context);
}

Parker::Wake LeaderFollowers::fill_vacancy(const LeaveContext& context) noexcept {
  return is_vacant() ? pass_leadership(context) : Parker::Wake();
}

void LeaderFollowers::remove(WaitingThread& thread) noexcept {
  if (thread.previous != nullptr) thread.previous->next = thread.next;
  if (thread.next != nullptr) thread.next->previous = thread.previous;
  if (newest_ == &thread) newest_ = thread.next;
  thread.next = thread.previous = nullptr;  // an event loop enters again
  if (backup_leader_ == &thread) backup_leader_ = nullptr;
  if (leader_ == &thread) leader_ = nullptr;
}

Parker::Wake LeaderFollowers::pass_leadership(const LeaveContext& context) noexcept {
  WaitingThread* polling = nullptr;
  WaitingThread* loop = nullptr;
  for (WaitingThread* each = newest_; each != nullptr; each = each->next) {
    if (each->event_loop) {
      loop = each;
    } else if (each->awaits_reply(context.answered)) {
      return promote(*each);
    } else if (polling == nullptr && each->state == ThreadState::polling) {
      polling = each;
    }
  }
  if (loop != nullptr) return promote(*loop);
  const bool must_wake = polling != nullptr && (polling->polled_generation != context.generation ||
                                                polling->polls_until > context.work_is_due);
  if (must_wake) return promote(*polling);
  if (polling != nullptr) {
    leader_ = polling;  // it wakes when there is something to read
  } else if (context.more_expected || !has_watching_backup()) {
    return promote(*newest_);
  }
  return {};
}

Parker::Wake LeaderFollowers::promote(WaitingThread& thread) noexcept {
  become_leader(thread);
  return thread.waiter.interrupt();
}

void LeaderFollowers::interrupt_leader() noexcept {
  if (leader_ != nullptr && !leader_->is_spinning()) {
    return leader_->waiter.interrupt().carry_out();
  }
  interrupted_ = spinning_threads_ > 0;
}

}  // namespace latchkey::inline v1::detail::redis
