// The connections to the servers of one deployment: how a thread waits, as leader or follower.
// SPDX-License-Identifier: BSL-1.0
#include <poll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "core/sleep_slice.hpp"
#include "redis/multiplexer/connection_multiplexer.hpp"
#include "redis/multiplexer/participation.hpp"

namespace latchkey::inline v1::detail::redis {
namespace {

constexpr auto max_unwakeable_sleep = std::chrono::milliseconds(5);

}  // namespace

bool ConnectionMultiplexer::wait(Participation& self, Clock::time_point until) {
  const Clock::time_point now = clock_.now();
  Waiter::Reasons reasons = 0;
  if (now < until && should_spin(self, now)) reasons = spin(self, now, until);
  if (reasons == 0) {
    reasons = state_.threads.is_leader(self.thread) ? sleep_in_poll(self.thread, until)
                                                    : sleep_in_futex(self.thread, until);
  }
  return (reasons & Waiter::unparked) != 0;
}

// With a clock that a test moves by hand, spinning would not end.
bool ConnectionMultiplexer::should_spin(const Participation& self,
                                        Clock::time_point now) const noexcept {
  return !self.has_spun && self.thread.awaits_reply(state_.answered()) &&
         !self.thread.waiter.has_reason() && &clock_ == &Clock::system() &&
         adaptive_spin_.should_spin(now);
}

// No reason: it is time to sleep.
Waiter::Reasons ConnectionMultiplexer::spin(Participation& self, Clock::time_point begin,
                                            Clock::time_point until) {
  LeaderFollowers& threads = state_.threads;
  WaitingThread& thread = self.thread;
  threads.begin_spin(thread);
  self.has_spun = true;
  until = std::min(until, later(begin, AdaptiveSpin::max_spin));
  AdaptiveSpin::Attempt attempt{begin, begin, 0, 0};
  Waiter::Reasons found = 0;
  while (found == 0 && attempt.end < until && (!thread.alone || threads.is_leader(thread))) {
    attempt.end = yield(thread);
    ++attempt.yields;
    if (thread.parker.park_until(clock_, attempt.end)) {  // does not block: its deadline is over
      found = Waiter::unparked;
    } else if (poll_once(thread)) {
      found = Waiter::interrupted;
    }
  }
  attempt.spinning_threads = threads.spinning_threads();
  if (found != 0) {
    adaptive_spin_.record_success(attempt);
    threads.end_spin(thread);
  } else {
    if (attempt.end >= until) adaptive_spin_.record_failure(attempt);
    threads.end_spin_to_sleep(thread);
  }
  writer_.flush(state_);  // commands were held back while threads spun
  return thread.waiter.take_reasons() | found;
}

Clock::time_point ConnectionMultiplexer::yield(WaitingThread& thread) {
  state_.threads.begin_yield(thread);
  Clock::time_point begin, end;
  {
    const ScopedUnlock unlocked(state_.mutex);
    begin = clock_.now();
    std::this_thread::yield();
    end = clock_.now();
  }
  state_.threads.end_yield(thread, end - begin < AdaptiveSpin::idle_yield);
  return end;
}

// True: the thread leads and has handled events.
bool ConnectionMultiplexer::poll_once(WaitingThread& thread) {
  writer_.flush_request(state_, thread.last_request);
  if (!state_.threads.try_lead_spinning(thread)) return false;
  const PollSet::Borrowed borrowed;
  PollSet& polled = borrowed.set();
  Reactor::add_descriptors(state_, polled);
  bool has_events = false;
  {
    const ScopedUnlock unlocked(state_.mutex);
    has_events = polled.poll(Clock::duration::zero());
  }
  has_events |= thread.waiter.has_reason();  // it was interrupted: a socket may take no more bytes
  if (has_events) reactor_.handle_events(state_, polled);
  return has_events;
}

Waiter::Reasons ConnectionMultiplexer::sleep_in_futex(WaitingThread& thread,
                                                      Clock::time_point until) {
  const Clock::time_point now = clock_.now();
  if (state_.threads.watches_as_backup(thread)) {
    until = std::min(until, later(now, LeaderFollowers::backup_period));
  }
  const ScopedUnlock unlocked(state_.mutex);
  if (!thread.parker.arm(thread.waiter)) return Waiter::unparked;
  thread.waiter.sleep(clock_, until);
  thread.parker.disarm();
  return thread.waiter.take_reasons();
}

Waiter::Reasons ConnectionMultiplexer::sleep_in_poll(WaitingThread& thread,
                                                     Clock::time_point until) {
  const PollSet::Borrowed borrowed;
  PollSet& polled = borrowed.set();
  FileDescriptor wake_fd = wake_fds_.take();
  // An interrupt from here on comes after the descriptors and deadlines were collected.
  thread.waiter.take_reasons();
  thread.waiter.use_wake_fd(wake_fd.get());
  // A request whose thread does not wait still has a deadline.
  until = std::min({until, Reactor::next_deadline(state_), later(clock_.now(), timeout_)});
  polled.add(wake_fd.get(), POLLIN, {.connection = 0, .purpose = PollSet::Purpose::wake_up});
  Reactor::add_descriptors(state_, polled);
  state_.threads.begin_poll(thread, reactor_.generation());
  const Waiter::Reasons reasons = poll_until(thread, polled, wake_fd, until);
  wake_fds_.give_back(std::move(wake_fd));
  if (state_.threads.end_poll(thread)) reactor_.handle_events(state_, polled);
  return reasons;
}

Waiter::Reasons ConnectionMultiplexer::poll_until(WaitingThread& thread, PollSet& polled,
                                                  const FileDescriptor& wake_fd,
                                                  Clock::time_point until) {
  Waiter::Reasons reasons = Waiter::unparked;
  {
    const ScopedUnlock unlocked(state_.mutex);
    if (thread.parker.arm(thread.waiter)) {
      Clock::duration length = sleep_slice(clock_, until);
      // Without a descriptor (the system has none left) nobody can wake the thread.
      if (!wake_fd.valid()) length = std::min<Clock::duration>(length, max_unwakeable_sleep);
      polled.poll(length);
      if (!thread.parker.disarm()) reasons = 0;
    }
  }
  thread.waiter.use_wake_fd(-1);
  reasons |= thread.waiter.take_reasons();
  if (reasons != 0) {
    eventfd_t count = 0;
    ::eventfd_read(wake_fd.get(), &count);
  }
  return reasons;
}

}  // namespace latchkey::inline v1::detail::redis
