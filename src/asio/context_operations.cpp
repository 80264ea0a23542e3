// The pending operations of one space in one execution context.
// SPDX-License-Identifier: BSL-1.0
#include "asio/context_operations.hpp"

#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>

#include "asio/coroutine_executor.hpp"
#include "core/mutex.hpp"
#include "core/sanitizer_pause.hpp"

namespace latchkey::inline v1::detail {

namespace asio = boost::asio;

namespace {

/// Stands for all contexts that are not known.
constexpr char unknown_context = 0;

/// Whether this thread runs `executor`, if that is one of an io_context or a thread_pool, or a
/// strand of one. False for all other executors, which cannot say it.
bool runs_on_this_thread(const asio::any_io_executor& executor) noexcept {
  using Io = asio::io_context::executor_type;
  using Pool = asio::thread_pool::executor_type;
  if (const auto* io = executor.target<Io>()) return io->running_in_this_thread();
  if (const auto* pool = executor.target<Pool>()) return pool->running_in_this_thread();
  if (const auto* strand = executor.target<asio::strand<Io>>()) {
    return strand->get_inner_executor().running_in_this_thread();
  }
  if (const auto* strand = executor.target<asio::strand<Pool>>()) {
    return strand->get_inner_executor().running_in_this_thread();
  }
  const auto* const strand = executor.target<asio::strand<asio::any_io_executor>>();
  return strand != nullptr && runs_on_this_thread(strand->get_inner_executor());
}

}  // namespace

std::shared_ptr<ContextOperations> ContextOperations::of(const std::shared_ptr<SpaceRef>& space,
                                                         const HandlerContext& context) {
  const SanitizerPause pause;
  const bool known = context.context != nullptr;
  const void* const subject = known ? static_cast<const void*>(context.context) : &unknown_context;
  const asio::any_io_executor executor = CoroutineExecutor::outermost(context.executor);
  const auto make = [&](std::shared_ptr<LoopWait> loop) {
    auto made = std::make_shared<ContextOperations>(subject, executor, std::move(loop));
    if (known) ContextService::add(executor, made);
    return made;
  };
  if (space == nullptr) return make(nullptr);
  std::shared_ptr<LoopWait> loop = LoopWait::of_pool(*space);
  auto found = space->attachment(subject, [&] {
    if (loop != nullptr) return make(std::move(loop));
    if (known) return make(LoopWait::make(space, executor));
    LoopWait::rely_on_threads(space->space());
    return make(nullptr);
  });
  return std::static_pointer_cast<ContextOperations>(found);
}

ContextOperations::ContextOperations(const void* subject, asio::any_io_executor executor,
                                     std::shared_ptr<LoopWait> loop) noexcept
    : subject_(subject), executor_(std::move(executor)), loop_(std::move(loop)) {}

bool ContextOperations::runs_on_this_thread() const noexcept {
  return !shut_down_ && subject_ != &unknown_context &&
         ::latchkey::detail::runs_on_this_thread(executor_);
}

bool ContextOperations::add(Operation& operation) noexcept {
  bool listed = false;
  {
    const ScopedLock lock(mutex_);
    operation.listed = listed = !shut_down_;
    if (listed) operations_.push_back(operation);
  }
  if (loop_ != nullptr) loop_->add_user();
  return listed;
}

// Posted with the mutex held: the context cannot shut down meanwhile. If it has shut down, the
// reference that the posted handler would take is dropped.
void ContextOperations::deliver(Operation& operation) noexcept {
  bool listed = false;
  {
    const ScopedLock lock(mutex_);
    listed = std::exchange(operation.listed, false);
    if (listed) {
      operations_.remove(operation);
      operation.post();
    }
  }
  if (loop_ != nullptr) loop_->remove_user();
  if (!listed) const Operation::Reference dropped(operation);
}

bool ContextOperations::is_for(const void* subject) const noexcept {
  return shut_down_ ? subject == nullptr : subject == subject_;
}

// Each operation keeps the space: none is left. A handler of the loop may be left, and must not
// keep its driver, which has to end before the backend.
void ContextOperations::space_ends() noexcept {
  if (loop_ != nullptr) loop_->space_ends();
  const ScopedLock lock(mutex_);
  shut_down_ = true;
}

void ContextOperations::context_shuts_down() noexcept {
  const SanitizerPause pause;
  ScopedLock lock(mutex_);
  shut_down_ = true;
  while (Operation* const operation = operations_.pop_front()) {
    operation->listed = false;
    Operation::Reference kept = operation->share();
    lock.unlock();
    {
      const Operation::Reference dropped = std::move(kept);  // perhaps the last one of the space
      operation->end_with_context();
    }
    lock.lock();
  }
}

}  // namespace latchkey::inline v1::detail
