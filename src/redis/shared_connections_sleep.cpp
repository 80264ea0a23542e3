// Connections to servers, shared by all threads: how a thread waits, with the reader's role or
// without.
#include <poll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "redis/shared_connections.hpp"

namespace latchkey::detail::redis {

// True: the driver's own parker was unparked.
bool SharedConnections::sleep(Driver& driver, Clock::time_point until, Lock& lock) {
  const Clock::time_point now = clock_.now();
  Sleeper::Reasons reasons = 0;
  if (now < until && spins_first(driver, now)) reasons = spin(driver, now, until, lock);
  if (reasons == 0) {
    reasons = drivers_.has_role(driver) ? sleep_in_poll(driver, until, lock)
                                        : sleep_parked(driver, until, lock);
  }
  return (reasons & Sleeper::rung) != 0;
}

// A clock that is moved by hand would not end it, and who was called has something else to do.
bool SharedConnections::spins_first(const Driver& driver, Clock::time_point now) const noexcept {
  return !driver.has_spun && driver.is_eager(answered()) && !driver.sleeper.has_reason() &&
         &clock_ == &Clock::system() && spinning_.is_worth_it(now);
}

// None: it is time to sleep.
Sleeper::Reasons SharedConnections::spin(Driver& driver, Clock::time_point begun,
                                         Clock::time_point until, Lock& lock) {
  until = std::min(until, later(begun, Spinning::window));
  drivers_.begins_to_spin(driver);
  bool unparked = false, found = false;
  std::uint32_t turns = 0;
  Clock::time_point now = begun;
  while (!found && now < until && (!driver.alone || drivers_.has_role(driver))) {
    now = yield(driver, lock);
    ++turns;
    unparked = driver.parker.park_until(clock_, now);  // that is, without parking
    found = unparked || take_turn(driver, lock);
  }
  const Spinning::Spin spun{begun, now, turns, drivers_.spinning()};
  if (found) {
    spinning_.found(spun);
  } else if (now >= until) {
    spinning_.gave_up(spun);
  }
  drivers_.stops_spinning(driver, !found);
  flush(lock);  // what was held back because somebody spun
  return driver.sleeper.take() | (found ? Sleeper::called : 0) | (unparked ? Sleeper::rung : 0);
}

Clock::time_point SharedConnections::yield(Driver& driver, Lock& lock) {
  drivers_.yields(driver);
  lock.unlock();
  const Clock::time_point from = clock_.now();
  std::this_thread::yield();
  const Clock::time_point to = clock_.now();
  lock.lock();
  driver.alone = to - from < Spinning::alone;
  return to;
}

// True: there is something to do for the reader, who is the driver now.
bool SharedConnections::take_turn(Driver& driver, Lock& lock) {
  if (driver.asked > flushed_ || !holds_back()) flush_all(lock);
  if (!drivers_.takes_turn(driver)) return false;
  const PollSet::Borrowed borrowed;
  PollSet& polled = borrowed.set();
  add_all(polled);
  lock.unlock();
  bool happened = polled.wait(Clock::duration::zero());
  lock.lock();
  happened |= driver.sleeper.has_reason();  // that a connection takes no more bytes, it may be
  if (happened) attend(polled, lock);
  return happened;
}

Sleeper::Reasons SharedConnections::sleep_parked(Driver& driver, Clock::time_point until,
                                                 Lock& lock) {
  const Clock::time_point now = clock_.now();
  if (drivers_.looks(driver)) until = std::min(until, later(now, Drivers::grace));
  lock.unlock();
  Sleeper::Reasons reasons = Sleeper::rung;
  if (driver.parker.arm(driver.sleeper)) {
    driver.sleeper.sleep(clock_, until);
    driver.parker.disarm();
    reasons = driver.sleeper.take();
  }
  lock.lock();
  return reasons;
}

Sleeper::Reasons SharedConnections::sleep_in_poll(Driver& driver, Clock::time_point until,
                                                  Lock& lock) {
  const PollSet::Borrowed borrowed;
  PollSet& polled = borrowed.set();
  FileDescriptor bell = take_bell();
  // What is called for from here on is called for after this look at what to wait for.
  driver.sleeper.take();
  driver.sleeper.use_bell(bell.get());
  // Whoever submits and does not drive has no thread that minds its deadline.
  until = std::min({until, due(), later(clock_.now(), timeout_)});
  polled.add(bell.get(), POLLIN, {.wire = 0, .watch = false});
  add_all(polled);
  driver.sockets = sockets_;
  driver.polls = true;
  driver.running = false;
  lock.unlock();
  bool unparked = true;
  if (driver.parker.arm(driver.sleeper)) {
    Clock::duration length = one_sleep(clock_, until);
    if (!bell.valid()) length = std::min<Clock::duration>(length, Drivers::grace);
    polled.wait(length);
    unparked = driver.parker.disarm();
  }
  lock.lock();
  driver.sleeper.use_bell(-1);
  const Sleeper::Reasons reasons = driver.sleeper.take() | (unparked ? Sleeper::rung : 0);
  if (reasons != 0) {
    eventfd_t count = 0;
    ::eventfd_read(bell.get(), &count);
  }
  driver.polls = false;
  give_back(std::move(bell));
  if (!drivers_.has_role(driver)) return reasons;
  driver.running = true;
  attend(polled, lock);
  return reasons;
}

// Where the system has no descriptor left the driver sleeps in short pieces.
FileDescriptor SharedConnections::take_bell() noexcept {
  if (bells_.empty()) return FileDescriptor(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  FileDescriptor bell = std::move(bells_.back());
  bells_.pop_back();
  return bell;
}

void SharedConnections::give_back(FileDescriptor bell) noexcept {
  if (bell.valid() && bells_.size() < bells_.capacity()) bells_.push_back(std::move(bell));
}

}  // namespace latchkey::detail::redis
