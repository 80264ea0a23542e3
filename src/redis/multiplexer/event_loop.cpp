// An event loop that takes part in a ConnectionMultiplexer.
// SPDX-License-Identifier: BSL-1.0
#include "redis/multiplexer/event_loop.hpp"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <new>
#include <thread>
#include <utility>

namespace latchkey::inline v1::detail::redis {
namespace {

// The bits of poll(2) and epoll(7) are the same.
std::uint32_t epoll_events(const pollfd& wanted) noexcept {
  return static_cast<std::uint32_t>(static_cast<unsigned short>(wanted.events));
}

bool same(const pollfd& one, const pollfd& other) noexcept {
  return one.fd == other.fd && one.events == other.events;
}

}  // namespace

ConnectionMultiplexer::EventLoop::EventLoop(ConnectionMultiplexer& multiplexer)
    : multiplexer_(multiplexer),
      thread_(parker_, multiplexer.wait_set_),
      epoll_(::epoll_create1(EPOLL_CLOEXEC)),
      wake_fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      timer_(::timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK)) {
  if (!epoll_.valid() || !wake_fd_.valid() || !timer_.valid()) throw std::bad_alloc();
  watch({.fd = wake_fd_.get(), .events = POLLIN, .revents = 0});
  watch({.fd = timer_.get(), .events = POLLIN, .revents = 0});
  thread_.event_loop = true;
  thread_.waiter.use_wake_fd(wake_fd_.get());
}

void ConnectionMultiplexer::EventLoop::join() {
  const ScopedLock lock(multiplexer_.state_.mutex);
  if (joined_) return;
  joined_ = true;
  thread_.state = WaitingThread::State::entering;
  multiplexer_.state_.threads.enter(thread_, multiplexer_.state_.answered());
  bool leads = false;
  try {
    leads = try_lead();
    rest();
  } catch (const std::bad_alloc&) {
    end().carry_out();
    throw;
  }
  const bool is_due = Reactor::next_deadline(multiplexer_.state_) <= multiplexer_.clock_.now();
  if (leads && (is_due || multiplexer_.state_.router->has_news())) {
    thread_.waiter.interrupt().carry_out();  // the loop calls drive soon
  }
}

void ConnectionMultiplexer::EventLoop::drive() {
  const ScopedLock lock(multiplexer_.state_.mutex);
  if (!joined_) return;
  clear_wake_ups();
  using State = WaitingThread::State;
  if (thread_.state == State::polling)
    static_cast<void>(multiplexer_.state_.threads.end_poll(thread_));
  if (thread_.state == State::following) thread_.state = State::entering;
  try {
    if (try_lead()) work();
    rest();
  } catch (const std::bad_alloc&) {
    end().carry_out();
    throw;
  }
}

LoopDriver::Next ConnectionMultiplexer::EventLoop::flush() noexcept {
  const ScopedLock lock(multiplexer_.state_.mutex);
  end_handlers();
  return joined_ && spins() ? Next::drive : Next::wait;
}

bool ConnectionMultiplexer::EventLoop::spins() {
  AdaptiveSpin& account = multiplexer_.adaptive_spin_;
  const bool awaits_reply = multiplexer_.state_.router->outstanding() > 0;
  const bool may = awaits_reply && multiplexer_.state_.threads.is_leader(thread_) &&
                   &multiplexer_.clock_ == &Clock::system();
  if (!spin_) {
    const Clock::time_point now = multiplexer_.clock_.now();
    if (may && account.should_spin(now)) spin_ = AdaptiveSpin::Attempt{now, now, 0, 0};
    return spin_.has_value();
  }
  {
    const ScopedUnlock unlocked(multiplexer_.state_.mutex);
    std::this_thread::yield();
  }
  spin_->end = multiplexer_.clock_.now();
  ++spin_->yields;
  if (may && spin_->end < later(spin_->begin, AdaptiveSpin::max_spin)) return true;
  account.record_failure(*spin_);
  spin_.reset();
  return false;
}

void ConnectionMultiplexer::EventLoop::end_handlers() noexcept {
  const void* const thread = std::exchange(handlers_thread_, nullptr);
  if (thread != nullptr && multiplexer_.writer_.end_handlers(thread)) multiplexer_.flush();
}

void ConnectionMultiplexer::EventLoop::leave() noexcept {
  Parker::Wake wake;
  {
    const ScopedLock lock(multiplexer_.state_.mutex);
    if (joined_) wake = end();
  }
  wake.carry_out();
}

Parker::Wake ConnectionMultiplexer::EventLoop::end() noexcept {
  joined_ = false;
  spin_.reset();
  end_handlers();
  unwatch_connections();
  return multiplexer_.state_.threads.leave(thread_,
                                           multiplexer_.outlook(multiplexer_.expects_more()));
}

bool ConnectionMultiplexer::EventLoop::try_lead() {
  thread_.last_request = multiplexer_.state_.submitted;
  return multiplexer_.state_.threads.try_lead(thread_, multiplexer_.state_.answered());
}

void ConnectionMultiplexer::EventLoop::work() {
  const PollSet::Borrowed borrowed;
  PollSet& polled = borrowed.set();
  Reactor::add_descriptors(multiplexer_.state_, polled);
  bool has_events = false;
  {
    const ScopedUnlock unlocked(multiplexer_.state_.mutex);
    has_events = polled.poll(Clock::duration::zero());
  }
  if (has_events) multiplexer_.reactor_.handle_events(multiplexer_.state_, polled);
  multiplexer_.reactor_.handle_deadlines(multiplexer_.state_);
  if (multiplexer_.deliver()) {
    if (spin_) multiplexer_.adaptive_spin_.record_success(*spin_);
    spin_.reset();
    handlers_thread_ = calling_thread();
    multiplexer_.writer_.begin_handlers(handlers_thread_);
  }
  multiplexer_.writer_.flush(multiplexer_.state_);
}

void ConnectionMultiplexer::EventLoop::rest() {
  if (!multiplexer_.state_.threads.is_leader(thread_)) return unwatch_connections();
  watch_connections();
  set_timer(Reactor::next_deadline(multiplexer_.state_));
  multiplexer_.state_.threads.begin_poll(thread_, multiplexer_.reactor_.generation(),
                                         Clock::never());
}

// After a new generation a descriptor may belong to another connection, so all are added anew.
void ConnectionMultiplexer::EventLoop::watch_connections() {
  const PollSet::Borrowed borrowed;
  Reactor::add_descriptors(multiplexer_.state_, borrowed.set());
  const auto wanted = borrowed.set().descriptors();
  const std::uint64_t generation = multiplexer_.reactor_.generation();
  if (watched_generation_ == generation && std::ranges::equal(watched_, wanted, same)) return;
  unwatch_connections();
  watched_.assign(wanted.begin(), wanted.end());
  watched_generation_ = generation;
  for (const pollfd& each : watched_) watch(each);
}

void ConnectionMultiplexer::EventLoop::watch(const pollfd& wanted) const noexcept {
  epoll_event event{};
  event.events = epoll_events(wanted);
  event.data.fd = wanted.fd;
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, wanted.fd, &event);
}

// A connection that was closed meanwhile is no longer in the epoll instance.
void ConnectionMultiplexer::EventLoop::unwatch_connections() noexcept {
  for (const pollfd& each : watched_) {
    ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, each.fd, nullptr);
  }
  watched_.clear();
}

// A clock of another kind than the system's is watched by the threads that block.
void ConnectionMultiplexer::EventLoop::set_timer(Clock::time_point due) noexcept {
  if (&multiplexer_.clock_ != &Clock::system() || due >= timer_due_) return;
  timer_due_ = due;
  const Clock::duration left =
      std::max<Clock::duration>(due - multiplexer_.clock_.now(), std::chrono::nanoseconds(1));
  const auto seconds = std::chrono::floor<std::chrono::seconds>(left);
  const itimerspec at{.it_interval = {},
                      .it_value = {.tv_sec = seconds.count(), .tv_nsec = (left - seconds).count()}};
  ::timerfd_settime(timer_.get(), 0, &at, nullptr);
}

void ConnectionMultiplexer::EventLoop::clear_wake_ups() noexcept {
  if (thread_.waiter.take_reasons() != 0) {
    eventfd_t count = 0;
    ::eventfd_read(wake_fd_.get(), &count);
  }
  if (timer_due_ > multiplexer_.clock_.now()) return;
  std::uint64_t expirations = 0;
  if (::read(timer_.get(), &expirations, sizeof expirations) > 0) timer_due_ = Clock::never();
}

}  // namespace latchkey::inline v1::detail::redis
