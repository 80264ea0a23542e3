// One connection to one server, shared by all threads: what the one that reads does for them.
#include <poll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <new>
#include <utility>

#include "redis/shared_connection.hpp"

namespace latchkey::detail::redis {

// What is due by the clock, or was found out since: deadlines, the end of a connection, a new one.
void SharedConnection::bring_forward(Lock& lock) {
  link_.tick(clock_.now());
  if (link_.trouble()) fail(lock, *link_.trouble());
  if (link_.wants_connection(clock_.now())) {
    link_.connecting(clock_.now());
    dial(lock, true);
  }
}

// The transport changes only with both mutexes held, or with the write mutex and in a stage in
// which nothing is sent.
void SharedConnection::dial(Lock& lock, bool begins) {
  lock.unlock();
  Io io = Io::blocked();
  try {
    const std::lock_guard writing(write_mutex_);
    io = begins ? dialer_.begin() : dialer_.go_on();
  } catch (const std::bad_alloc&) {
    io = Io::broken(no_memory());
  }
  lock.lock();
  if (io.kind == Io::Kind::moved) {
    link_.connected();
  } else if (io.kind != Io::Kind::blocked) {
    fail(lock, io.kind == Io::Kind::ended ? closed_by_server(false) : std::move(io.failure));
  }
}

void SharedConnection::fail(Lock& lock, Failure failure) {
  lock.unlock();
  const std::lock_guard writing(write_mutex_);
  lock.lock();
  // What the server said before it closed is the reason, not that it closed.
  if (link_.trouble()) failure = *link_.trouble();
  if (link_.stage() == Link::Stage::connecting && transport_.shakes_hands() && !failure.refused) {
    failure = no_tls(failure.text);
  }
  if (link_.stage() == Link::Stage::connecting) {
    dialer_.give_up();
  } else {
    transport_.close();
  }
  write_blocked_ = false;
  write_failure_.reset();
  link_.failed(std::move(failure), clock_.now());
}

void SharedConnection::read(Lock& lock) {
  lock.unlock();
  Io io = transport_.read(bytes_);
  lock.lock();
  switch (io.kind) {
    case Io::Kind::moved: link_.received({bytes_.data(), io.count}, clock_.now()); return;
    case Io::Kind::blocked:
      // Nothing is left to be read of a connection that can no longer be written to.
      if (write_failure_) fail(lock, *write_failure_);
      return;
    case Io::Kind::ended: fail(lock, closed_by_server(link_.was_answered())); return;
    case Io::Kind::broken: fail(lock, std::move(io.failure)); return;
  }
}

// True: the driver's own parker was unparked.
bool SharedConnection::sleep(Driver& driver, Clock::time_point until, Lock& lock) {
  const Sleeper::Reasons reasons = drivers_.has_role(driver) ? sleep_in_poll(driver, until, lock)
                                                             : sleep_parked(driver, until, lock);
  return (reasons & Sleeper::rung) != 0;
}

Sleeper::Reasons SharedConnection::sleep_parked(Driver& driver, Clock::time_point until,
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

Sleeper::Reasons SharedConnection::sleep_in_poll(Driver& driver, Clock::time_point until,
                                                 Lock& lock) {
  FileDescriptor bell = take_bell();
  // What is called for from here on is called for after this look at what to wait for.
  driver.sleeper.take();
  driver.sleeper.use_bell(bell.get());
  // Whoever submits and does not drive has no thread that minds its deadline.
  until = std::min({until, link_.due(), later(clock_.now(), timeout_)});
  pollfd polled[] = {{.fd = bell.get(), .events = POLLIN, .revents = 0}, what_to_poll()};
  driver.polls = true;
  driver.running = false;
  lock.unlock();
  bool unparked = true;
  if (driver.parker.arm(driver.sleeper)) {
    Clock::duration length = one_sleep(clock_, until);
    if (!bell.valid()) length = std::min<Clock::duration>(length, Drivers::grace);
    const auto seconds = std::chrono::floor<std::chrono::seconds>(length);
    const timespec limit{.tv_sec = seconds.count(), .tv_nsec = (length - seconds).count()};
    if (::ppoll(polled, 2, &limit, nullptr) < 0) polled[0].revents = polled[1].revents = 0;
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
  if (polled[1].revents != 0 || write_failure_) ready(polled[1].revents, lock);
  return reasons;
}

pollfd SharedConnection::what_to_poll() const noexcept {
  switch (link_.stage()) {
    case Link::Stage::down: break;
    case Link::Stage::connecting: return {dialer_.fd(), dialer_.events(), 0};
    case Link::Stage::greeting:
    case Link::Stage::up:
      return {transport_.fd(), static_cast<short>(write_blocked_ ? POLLIN | POLLOUT : POLLIN), 0};
  }
  return {-1, 0, 0};
}

void SharedConnection::ready(short events, Lock& lock) {
  if (link_.stage() == Link::Stage::connecting) return dial(lock, false);
  if ((events & POLLOUT) != 0) write_blocked_ = false;
  if ((events & ~POLLOUT) != 0 || write_failure_) read(lock);
}

// Where the system has no descriptor left the driver sleeps in short pieces.
FileDescriptor SharedConnection::take_bell() noexcept {
  if (bells_.empty()) return FileDescriptor(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  FileDescriptor bell = std::move(bells_.back());
  bells_.pop_back();
  return bell;
}

void SharedConnection::give_back(FileDescriptor bell) noexcept {
  if (bell.valid() && bells_.size() < bells_.capacity()) bells_.push_back(std::move(bell));
}

}  // namespace latchkey::detail::redis
