// An event loop of the C interface: who waits for what.
// SPDX-License-Identifier: BSL-1.0
#include "c/loop.hpp"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <new>
#include <stdexcept>
#include <utility>

#include "c/errors.hpp"
#include "c/handles.hpp"
#include "locks/async/access.hpp"
#include "locks/space/lock_space.hpp"
#include "locks/space/space_ref.hpp"

using latchkey::detail::ScopedLock;
using latchkey::detail::c::guarded;
using latchkey::detail::c::OperationQueue;

namespace latchkey::inline v1::detail::c {

OperationQueue::OperationQueue() : signal_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (!signal_.valid()) throw std::bad_alloc();
}

void OperationQueue::signal() noexcept { ::eventfd_write(signal_.get(), 1); }

void OperationQueue::clear_signal() noexcept {
  eventfd_t count = 0;
  ::eventfd_read(signal_.get(), &count);
}

std::size_t OperationQueue::users() const noexcept {
  const ScopedLock lock(mutex_);
  return users_;
}

IntrusiveList<latchkey_operation>& OperationQueue::list_of(const latchkey_operation& operation) {
  using Stage = latchkey_operation::Stage;
  if (operation.stage == Stage::ended) return ended_;
  return operation.stage == Stage::delivered ? delivered_ : pending_;
}

void OperationQueue::add(latchkey_operation& operation) noexcept {
  const ScopedLock lock(mutex_);
  pending_.push_back(operation);
  if (operation.needs_backend()) ++users_;
}

// The queue may be destroyed with an abandoned operation, its last one.
void OperationQueue::end(latchkey_operation& operation) noexcept {
  using Stage = latchkey_operation::Stage;
  const std::shared_ptr<OperationQueue> kept = operation.queue;
  ScopedLock lock(mutex_);
  if (operation.needs_backend()) --users_;
  const bool abandoned = operation.stage == Stage::abandoned;
  if (!abandoned) {
    pending_.remove(operation);
    operation.stage = Stage::ended;
    ended_.push_back(operation);
  }
  lock.unlock();
  if (abandoned) delete &operation;
  signal();
}

latchkey_operation* OperationQueue::deliver() noexcept {
  const ScopedLock lock(mutex_);
  latchkey_operation* const first = ended_.pop_front();
  if (first == nullptr) return nullptr;
  first->stage = latchkey_operation::Stage::delivered;
  delivered_.push_back(*first);
  return first;
}

void OperationQueue::remove(latchkey_operation& operation) noexcept {
  const ScopedLock lock(mutex_);
  list_of(operation).remove(operation);
  const bool pending = operation.stage == latchkey_operation::Stage::pending;
  if (pending && operation.needs_backend()) --users_;
}

// It may end while it is cancelled, and is destroyed here then.
void OperationQueue::abandon(latchkey_operation& operation) noexcept {
  using Stage = latchkey_operation::Stage;
  const bool ends_no_more = operation.cancel();
  ScopedLock lock(mutex_);
  list_of(operation).remove(operation);
  const bool ends_later = operation.stage == Stage::pending && !ends_no_more;
  if (ends_later) {
    operation.stage = Stage::abandoned;
    return;
  }
  lock.unlock();
  delete &operation;
}

void OperationQueue::abandon_all() noexcept {
  for (;;) {
    ScopedLock lock(mutex_);
    latchkey_operation* each = pending_.first();
    if (each == nullptr) each = ended_.first();
    if (each == nullptr) each = delivered_.first();
    lock.unlock();
    if (each == nullptr) return;
    abandon(*each);
  }
}

}  // namespace latchkey::inline v1::detail::c

void latchkey_operation::ended() noexcept { queue->end(*this); }

namespace {

void add_to_epoll(int epoll, int descriptor) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = descriptor;
  if (::epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event) != 0) throw std::bad_alloc();
}

}  // namespace

latchkey_loop::latchkey_loop(const latchkey::Locks& its_locks)
    : locks(its_locks),
      process_(::getpid()),
      queue_(std::make_shared<OperationQueue>()),
      epoll_(::epoll_create1(EPOLL_CLOEXEC)) {
  if (!epoll_.valid()) throw std::bad_alloc();
  latchkey::detail::LockSpace& space = latchkey::detail::LockAccess::space(locks)->space();
  if (space.backend().attempts_block()) {
    throw std::invalid_argument("the attempts of " + space.describe() +
                                " block, so an event loop cannot wait for them: acquire its locks "
                                "in a thread");
  }
  add_to_epoll(epoll_.get(), queue_->descriptor());
  driver_ = space.backend().make_loop_driver();
  if (driver_ == nullptr) space.driver().lend_timer_thread();
}

latchkey_loop::~latchkey_loop() {
  if (is_inherited()) {
    static_cast<void>(driver_.release());  // its epoll instance is the parent's, too
    return;
  }
  queue_->abandon_all();
  if (joined_) leave();
}

bool latchkey_loop::is_inherited() const noexcept { return ::getpid() != process_; }

// An operation that has ended at once is delivered as any other.
latchkey_operation* latchkey_loop::start(std::unique_ptr<latchkey_operation> operation) {
  if (is_inherited()) {
    throw std::invalid_argument("the loop is that of the parent process: make one after the fork");
  }
  operation->queue = queue_;
  queue_->add(*operation);
  bool pending = false;
  try {
    pending = operation->start();
  } catch (...) {
    queue_->remove(*operation);
    throw;
  }
  if (!pending) queue_->end(*operation);
  if (queue_->users() > 0) join();
  return operation.release();
}

// Without memory the threads inside Backend::drive do the work: the timer thread is always there.
void latchkey_loop::join() noexcept {
  if (driver_ == nullptr || joined_) return;
  try {
    driver_->join();
    joined_ = true;
    add_to_epoll(epoll_.get(), driver_->descriptor());
  } catch (const std::bad_alloc&) {
    if (joined_) leave();
  }
}

void latchkey_loop::leave() noexcept {
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, driver_->descriptor(), nullptr);
  driver_->leave();
  joined_ = false;
}

latchkey_operation* latchkey_loop::dispatch() noexcept {
  if (is_inherited()) return nullptr;
  if (!std::exchange(has_driven_, true)) {
    queue_->clear_signal();
    if (joined_) drive();
  }
  latchkey_operation* const ended = queue_->deliver();
  if (ended != nullptr) return ended;
  has_driven_ = false;
  if (joined_) end_round();
  return nullptr;
}

// Without memory the next wait goes on.
void latchkey_loop::drive() noexcept {
  try {
    driver_->drive();
  } catch (const std::bad_alloc&) {
    queue_->signal();
  }
}

// Sends what the caller has started for the operations that have ended, together.
void latchkey_loop::end_round() noexcept {
  const latchkey::LoopDriver::Next next = driver_->flush();
  if (queue_->users() == 0) return leave();
  if (next == latchkey::LoopDriver::Next::drive) queue_->signal();
}

latchkey_loop* latchkey_loop_new(latchkey_locks* locks, latchkey_error** error) noexcept {
  return guarded<latchkey_loop*>(
      error, nullptr, [&] { return std::make_unique<latchkey_loop>(locks->locks).release(); });
}

int latchkey_loop_descriptor(const latchkey_loop* loop) noexcept { return loop->descriptor(); }

latchkey_operation* latchkey_loop_dispatch(latchkey_loop* loop) noexcept {
  return loop->dispatch();
}

void latchkey_loop_free(latchkey_loop* loop) noexcept { delete loop; }

void* latchkey_operation_data(const latchkey_operation* operation) noexcept {
  return operation->data;
}

void latchkey_operation_cancel(latchkey_operation* operation) noexcept {
  const std::shared_ptr<OperationQueue> kept = operation->queue;
  kept->abandon(*operation);
}

int latchkey_operation_finish(latchkey_operation* operation, latchkey_hold** hold,
                              latchkey_error** error) noexcept {
  const int result = guarded(error, -1, [&] { return operation->take(hold); });
  const std::shared_ptr<OperationQueue> kept = operation->queue;
  kept->remove(*operation);
  delete operation;
  return result;
}
