// Connections to servers, shared by all threads: how a thread waits, with the reader's role or
// without.
#include <poll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "redis/connection_multiplexer.hpp"

namespace latchkey::detail::redis {

// True: the driver's own parker was unparked.
bool ConnectionMultiplexer::sleep(WaitingThread& driver, Clock::time_point until, Lock& lock) {
  const Clock::time_point now = clock_.now();
  Waiter::Reasons reasons = 0;
  if (now < until && spins_first(driver, now)) reasons = spin(driver, now, until, lock);
  if (reasons == 0) {
    reasons = threads_.is_leader(driver) ? sleep_in_poll(driver, until, lock)
                                         : sleep_parked(driver, until, lock);
  }
  return (reasons & Waiter::notified) != 0;
}

// A clock that is moved by hand would not end it, and who was called has something else to do.
bool ConnectionMultiplexer::spins_first(const WaitingThread& driver,
                                        Clock::time_point now) const noexcept {
  return !driver.has_spun && driver.awaits_reply(answered()) && !driver.waiter.has_reason() &&
         &clock_ == &Clock::system() && spin_.is_worth_it(now);
}

// None: it is time to sleep.
Waiter::Reasons ConnectionMultiplexer::spin(WaitingThread& driver, Clock::time_point begun,
                                            Clock::time_point until, Lock& lock) {
  until = std::min(until, later(begun, AdaptiveSpin::window));
  threads_.begins_to_spin(driver);
  bool unparked = false, found = false;
  std::uint32_t turns = 0;
  Clock::time_point now = begun;
  while (!found && now < until && (!driver.alone || threads_.is_leader(driver))) {
    now = yield(driver, lock);
    ++turns;
    unparked = driver.parker.park_until(clock_, now);  // that is, without parking
    found = unparked || take_turn(driver, lock);
  }
  const AdaptiveSpin::Spin spun{begun, now, turns, threads_.spinning()};
  if (found) {
    spin_.found(spun);
  } else if (now >= until) {
    spin_.gave_up(spun);
  }
  threads_.stops_spinning(driver, !found);
  flush(lock);  // what was held back because somebody spun
  return driver.waiter.take() | (found ? Waiter::called : 0) | (unparked ? Waiter::notified : 0);
}

Clock::time_point ConnectionMultiplexer::yield(WaitingThread& driver, Lock& lock) {
  threads_.yields(driver);
  lock.unlock();
  const Clock::time_point from = clock_.now();
  std::this_thread::yield();
  const Clock::time_point to = clock_.now();
  lock.lock();
  driver.alone = to - from < AdaptiveSpin::alone;
  return to;
}

// True: there is something to do for the reader, who is the driver now.
bool ConnectionMultiplexer::take_turn(WaitingThread& driver, Lock& lock) {
  if (driver.asked > flushed_ || !holds_back()) flush_all(lock);
  if (!threads_.takes_turn(driver)) return false;
  const PollSet::Borrowed borrowed;
  PollSet& polled = borrowed.set();
  add_all(polled);
  lock.unlock();
  bool happened = polled.wait(Clock::duration::zero());
  lock.lock();
  happened |= driver.waiter.has_reason();  // that a connection takes no more bytes, it may be
  if (happened) attend(polled, lock);
  return happened;
}

Waiter::Reasons ConnectionMultiplexer::sleep_parked(WaitingThread& driver, Clock::time_point until,
                                                    Lock& lock) {
  const Clock::time_point now = clock_.now();
  if (threads_.looks(driver)) until = std::min(until, later(now, LeaderFollowers::grace));
  lock.unlock();
  Waiter::Reasons reasons = Waiter::notified;
  if (driver.parker.arm(driver.waiter)) {
    driver.waiter.sleep(clock_, until);
    driver.parker.disarm();
    reasons = driver.waiter.take();
  }
  lock.lock();
  return reasons;
}

Waiter::Reasons ConnectionMultiplexer::sleep_in_poll(WaitingThread& driver, Clock::time_point until,
                                                     Lock& lock) {
  const PollSet::Borrowed borrowed;
  PollSet& polled = borrowed.set();
  FileDescriptor wake_fd = take_wake_fd();
  // What is called for from here on is called for after this look at what to wait for.
  driver.waiter.take();
  driver.waiter.use_wake_fd(wake_fd.get());
  // Whoever submits and does not drive has no thread that minds its deadline.
  until = std::min({until, due(), later(clock_.now(), timeout_)});
  polled.add(wake_fd.get(), POLLIN, {.wire = 0, .watch = false});
  add_all(polled);
  driver.sockets = sockets_;
  driver.polls = true;
  driver.running = false;
  lock.unlock();
  bool unparked = true;
  if (driver.parker.arm(driver.waiter)) {
    Clock::duration length = longest_sleep(clock_, until);
    if (!wake_fd.valid()) length = std::min<Clock::duration>(length, LeaderFollowers::grace);
    polled.wait(length);
    unparked = driver.parker.disarm();
  }
  lock.lock();
  driver.waiter.use_wake_fd(-1);
  const Waiter::Reasons reasons = driver.waiter.take() | (unparked ? Waiter::notified : 0);
  if (reasons != 0) {
    eventfd_t count = 0;
    ::eventfd_read(wake_fd.get(), &count);
  }
  driver.polls = false;
  give_back(std::move(wake_fd));
  if (!threads_.is_leader(driver)) return reasons;
  driver.running = true;
  attend(polled, lock);
  return reasons;
}

// Where the system has no descriptor left the driver sleeps in short pieces.
FileDescriptor ConnectionMultiplexer::take_wake_fd() noexcept {
  if (wake_fds_.empty()) return FileDescriptor(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  FileDescriptor wake_fd = std::move(wake_fds_.back());
  wake_fds_.pop_back();
  return wake_fd;
}

void ConnectionMultiplexer::give_back(FileDescriptor wake_fd) noexcept {
  if (wake_fd.valid() && wake_fds_.size() < wake_fds_.capacity())
    wake_fds_.push_back(std::move(wake_fd));
}

}  // namespace latchkey::detail::redis
