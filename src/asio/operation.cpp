// One asynchronous operation.
// SPDX-License-Identifier: BSL-1.0
#include "asio/operation.hpp"

#include <new>
#include <utility>

#include <boost/asio/execution/blocking.hpp>
#include <boost/asio/execution/outstanding_work.hpp>
#include <boost/asio/prefer.hpp>
#include <boost/asio/recycling_allocator.hpp>
#include <boost/asio/require.hpp>

#include "asio/context_operations.hpp"
#include "asio/loop_wait.hpp"

namespace latchkey::inline v1::detail {

namespace asio = boost::asio;

Operation::Operation(const asio::any_io_executor& executor) : executor_(executor) {}

Operation::~Operation() = default;

// Work that ends at once needs no record in the context, which this thread runs or has just used.
// Other work may end while it is started: then its end is handled here.
void Operation::start(Operation& made, const std::shared_ptr<SpaceRef>& space,
                      const HandlerContext& context) {
  bool pending = false;
  try {
    if (space != nullptr) prepare(space, context);
    pending = made.start_work();
  } catch (...) {
    made.failure_ = std::current_exception();
  }
  if (!pending) return made.post();
  made.record(space, context);
  if (made.progress_.exchange(Progress::started) == Progress::ended) made.deliver();
}

// The first operation makes its context known: a thread of it that blocks for a lock is reported.
void Operation::prepare(const std::shared_ptr<SpaceRef>& space, const HandlerContext& context) {
  LoopWait::require_pool(*space);
  if (!space->has_attachments()) static_cast<void>(ContextOperations::of(space, context));
}

// Without memory, or a descriptor, for a record the handler is posted without one.
void Operation::record(const std::shared_ptr<SpaceRef>& space, const HandlerContext& context) {
  work_ = asio::prefer(executor_, asio::execution::outstanding_work.tracked);
  try {
    operations_ = ContextOperations::of(space, context);
  } catch (...) {
    return;
  }
  if (!operations_->add(*this)) end_with_context();
}

void Operation::end_with_context() noexcept {
  abandon();
  work_ = asio::any_io_executor();
  executor_ = asio::any_io_executor();
}

void Operation::ended() noexcept {
  if (progress_.exchange(Progress::ended) == Progress::started) deliver();
}

// The operation may be gone after this.
void Operation::deliver() noexcept {
  const std::shared_ptr<ContextOperations> operations = operations_;
  operations != nullptr ? operations->deliver(*this) : post();
}

void* Operation::operator new(std::size_t size) {
  return asio::recycling_allocator<std::byte>().allocate(size);
}

void Operation::operator delete(void* memory, std::size_t size) noexcept {
  asio::recycling_allocator<std::byte>().deallocate(static_cast<std::byte*>(memory), size);
}

/// The posted function object. If it is destroyed instead of called, the context has ended.
class Operation::Posted {
 public:
  explicit Posted(Operation& operation) noexcept : self_(operation) {}
  Posted(Posted&&) noexcept = default;
  Posted& operator=(Posted&&) = delete;
  ~Posted() {
    if (self_) (*self_).abandon();
  }

  void operator()() {
    Operation& operation = *self_;
    operation.complete(std::move(self_));
  }

 private:
  Reference self_;
};

// Without memory the handler is destroyed, as if its context had ended.
void Operation::post() noexcept {
  try {
    asio::require(executor_, asio::execution::blocking.never).execute(Posted(*this));
  } catch (const std::bad_alloc&) {
    return;
  }
}

}  // namespace latchkey::inline v1::detail
