// An execution context: how it waits for the backend of a space, and who learns of its end.
// SPDX-License-Identifier: BSL-1.0
#include "asio/loop_wait.hpp"

#include <boost/asio/execution/context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/query.hpp>
#include <boost/asio/strand.hpp>

#include <new>
#include <utility>

#include <latchkey/error.hpp>

#include "core/sanitizer_pause.hpp"

namespace latchkey::inline v1::detail {
namespace {

/// The address of this is the subject of a thread pool's attachment (SpaceAttachment::is_for).
constexpr char pool_subject = 0;

}  // namespace

std::shared_ptr<LoopWait> LoopWait::make(const std::shared_ptr<SpaceRef>& space,
                                         const boost::asio::any_io_executor& executor) {
  std::unique_ptr<LoopDriver> driver = space->space().backend().make_loop_driver();
  if (driver == nullptr) {
    space->space().driver().lend_timer_thread();
    return nullptr;
  }
  auto made = std::make_shared<LoopWait>(space, std::move(driver), executor);
  ContextService::add(executor, made);
  return made;
}

// With a LoopDriver the timer thread, which is always inside drive, notices replies by itself.
void LoopWait::rely_on_threads(LockSpace& space) {
  if (space.backend().make_loop_driver() == nullptr) space.driver().lend_timer_thread();
}

std::shared_ptr<LoopWait> LoopWait::of_pool(SpaceRef& space) {
  if (!space.space().backend().attempts_block()) return nullptr;
  return std::static_pointer_cast<LoopWait>(
      space.attachment(&pool_subject, [] { return nullptr; }));
}

void LoopWait::require_pool(SpaceRef& space) {
  if (!space.space().backend().attempts_block() || of_pool(space) != nullptr) return;
  throw NotConfigured("the attempts of " + space.space().describe() +
                      " block, so asynchronous operations need a thread pool for them: call "
                      "latchkey::use_thread_pool(locks, pool) first");
}

void LoopWait::use_pool(const std::shared_ptr<SpaceRef>& space,
                        const boost::asio::any_io_executor& executor) {
  if (!space->space().backend().attempts_block()) return;
  std::shared_ptr<LoopWait> made = make(space, executor);
  space->attachment(&pool_subject, [&] { return std::move(made); });
}

LoopWait::LoopWait(const std::shared_ptr<SpaceRef>& space, std::unique_ptr<LoopDriver> driver,
                   const boost::asio::any_io_executor& executor)
    : space_(space),
      blocks_(space->space().backend().attempts_block()),
      driver_(std::move(driver)),
      executor_(executor),
      descriptor_(std::in_place, executor, driver_->descriptor()) {}

void LoopWait::add_user() noexcept {
  const ScopedLock lock(mutex_);
  ++users_;
  if (stage_ == Stage::idle) start_waiting();
}

void LoopWait::remove_user() noexcept {
  const ScopedLock lock(mutex_);
  if (--users_ > 0 || stage_ != Stage::waiting) return;
  stage_ = Stage::cancelling;
  descriptor_->cancel();
  driver_->leave();
}

// Without memory the threads inside Backend::drive do the work: the timer thread is always there.
void LoopWait::start_waiting() noexcept {
  try {
    driver_->join();
    descriptor_->async_wait(boost::asio::posix::stream_descriptor::wait_read,
                            [self = shared_from_this()](const boost::system::error_code& error) {
                              self->on_wait_ended(!error);
                            });
    stage_ = Stage::waiting;
  } catch (const std::bad_alloc&) {
    driver_->leave();
  }
}

// The space must outlive what happens here, and may end with it.
void LoopWait::on_wait_ended(bool readable) noexcept {
  const SanitizerPause pause;
  const std::shared_ptr<SpaceRef> space = space_.lock();
  ScopedLock lock(mutex_);
  if (space == nullptr || stage_ == Stage::closed) return;
  stage_ = Stage::idle;
  if (blocks_) {
    if (users_ > 0) start_waiting();
    lock.unlock();
    if (readable) drive();
    lock.lock();
    return;
  }
  readable&& users_ > 0 ? drive_and_handle() : wait_again();
}

void LoopWait::drive_and_handle() noexcept {
  stage_ = Stage::driving;
  const ScopedUnlock unlocked(mutex_);
  drive();
  {
    const ScopedLock lock(mutex_);
    stage_ = Stage::handling;
  }
  post_handlers_end();
}

void LoopWait::wait_again() noexcept {
  stage_ = Stage::idle;
  users_ > 0 ? start_waiting() : driver_->leave();
}

// Behind the handlers that `drive` has posted: what they submit is sent together, and whether
// somebody waits is known then.
void LoopWait::post_handlers_end() noexcept {
  const auto end = [self = shared_from_this()] { self->on_handlers_ended(); };
  try {
    boost::asio::post(executor_, end);
  } catch (const std::bad_alloc&) {
    end();
  }
}

void LoopWait::on_handlers_ended() noexcept {
  const SanitizerPause pause;
  const std::shared_ptr<SpaceRef> space = space_.lock();
  ScopedLock lock(mutex_);
  if (space == nullptr || stage_ == Stage::closed) return;
  lock.unlock();
  const LoopDriver::Next next = driver_->flush();
  lock.lock();
  next == LoopDriver::Next::drive&& users_ > 0 ? drive_and_handle() : wait_again();
}

void LoopWait::drive() noexcept {
  try {
    driver_->drive();
  } catch (const std::bad_alloc&) {
    return;  // the next wait goes on
  }
}

bool LoopWait::is_for(const void* subject) const noexcept {
  const ScopedLock lock(mutex_);
  return stage_ == Stage::closed ? subject == nullptr : subject == &pool_subject;
}

// The descriptor is the driver's, which closes it.
void LoopWait::close() noexcept {
  const ScopedLock lock(mutex_);
  if (stage_ == Stage::closed) return;
  stage_ = Stage::closed;
  descriptor_->release();
  descriptor_.reset();
  driver_.reset();
}

boost::asio::execution_context::id ContextService::id;

// Services shut down in the reverse order of their making, and a strand that shuts down loses what
// another thread posts to it meanwhile. So the strands' service is made before this one: it shuts
// down when no part posts any more.
void ContextService::add(const boost::asio::any_io_executor& executor,
                         const std::shared_ptr<ContextPart>& part) {
  boost::asio::execution_context& context =
      boost::asio::query(executor, boost::asio::execution::context);
  if (!boost::asio::has_service<ContextService>(context)) {
    static_cast<void>(boost::asio::make_strand(executor));
  }
  auto& service = boost::asio::use_service<ContextService>(context);
  const ScopedLock lock(service.mutex_);
  std::erase_if(service.parts_, [](const auto& each) { return each.expired(); });
  service.parts_.push_back(part);
}

void ContextService::shutdown() {
  std::vector<std::weak_ptr<ContextPart>> parts;
  {
    const ScopedLock lock(mutex_);
    parts = std::move(parts_);
  }
  for (const auto& each : parts) {
    if (const auto part = each.lock()) part->context_shuts_down();
  }
}

}  // namespace latchkey::inline v1::detail
