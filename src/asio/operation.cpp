// One asynchronous operation.
#include "asio/operation.hpp"

#include <new>
#include <utility>

#include <boost/asio/execution/blocking.hpp>
#include <boost/asio/execution/outstanding_work.hpp>
#include <boost/asio/prefer.hpp>
#include <boost/asio/require.hpp>

#include "asio/context_operations.hpp"

namespace latchkey::detail {

Operation::Operation(const boost::asio::any_io_executor& executor)
    : executor_(boost::asio::prefer(
          boost::asio::require(executor, boost::asio::execution::blocking.never),
          boost::asio::execution::outstanding_work.tracked)) {}

Operation::~Operation() = default;

// The operation may end, and be gone, before start_work has returned true.
void Operation::start(Operation& made, const std::shared_ptr<SpaceRef>& space,
                      const HandlerContext& context) {
  std::shared_ptr<ContextOperations> operations;
  bool pending = false;
  try {
    operations = ContextOperations::of(space, context);
    operations->add(made);
    made.operations_ = operations;
    pending = made.start_work();
  } catch (...) {
    made.failure_ = std::current_exception();
  }
  pending ? operations->wait() : made.ended();
}

void Operation::ended() noexcept {
  const std::shared_ptr<ContextOperations> operations = operations_;
  operations != nullptr ? operations->deliver(*this) : post();
}

/// What is posted. If it is destroyed instead of called, the context has ended.
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
    executor_.execute(Posted(*this));
  } catch (const std::bad_alloc&) {
    return;
  }
}

}  // namespace latchkey::detail
