// async_close.
// SPDX-License-Identifier: BSL-1.0
#include <sys/types.h>
#include <unistd.h>

#include <chrono>
#include <memory>
#include <stop_token>
#include <system_error>
#include <thread>
#include <utility>

#include <latchkey/asio/async.hpp>

#include "asio/operation.hpp"
#include "locks/async/access.hpp"
#include "locks/space/leak_intentionally.hpp"
#include "locks/space/space_ref.hpp"

namespace latchkey::inline v1::detail {
namespace {

/// Closes the Locks on a thread of its own, so that the executor is free for the holders that the
/// close waits for. A process closes its Locks once: the thread costs less than a second way to
/// close.
class CloseOperation final : public Operation {
 public:
  CloseOperation(AnyHandler<DoneSignature>&& handler, const HandlerContext& context,
                 const Locks& locks, std::chrono::milliseconds drain)
      : Operation(context.executor),
        handler_(std::move(handler)),
        space_(LockAccess::space(locks)),
        drain_(drain) {
    handler_.connect(*this);
  }
  CloseOperation(const CloseOperation&) = delete;
  CloseOperation& operator=(const CloseOperation&) = delete;
  ~CloseOperation() override { join(); }

  void cancel() noexcept override { hurry_.request_stop(); }

  /// The context waits for the end of the close, which no drain delays any more: nothing of it runs
  /// while the process ends.
  void abandon() noexcept override {
    static_cast<void>(handler_.take());
    cancel();
    join();
  }

 private:
  bool start_work() override {
    try {
      thread_ = std::thread([this] { close(); });
    } catch (const std::system_error& error) {
      throw std::system_error(error.code(),
                              "the thread that closes the Locks cannot be created; raise the limit "
                              "on threads (ulimit -u, the cgroup's pids.max) or use fewer");
    }
    return true;
  }

  void close() noexcept {
    try {
      space_->space().close(drain_, hurry_.get_token());
    } catch (...) {
      error_ = std::current_exception();
    }
    observer().ended();
  }

  void complete(Reference self) override {
    AnyHandler<DoneSignature> handler = handler_.take();
    join();
    std::exception_ptr error = error_of(std::move(self), [&] {
      if (error_) std::rethrow_exception(std::move(error_));
    });
    std::move(handler)(std::move(error));
  }

  /// A child of a fork has no such thread. The thread itself may be the last that uses this.
  void join() noexcept {
    if (!thread_.joinable()) return;
    if (::getpid() != process_) {
      leak_intentionally(new std::thread(std::move(thread_)));
    } else if (thread_.get_id() == std::this_thread::get_id()) {
      thread_.detach();
    } else {
      thread_.join();
    }
  }

  HandlerSlot<DoneSignature> handler_;
  const std::shared_ptr<SpaceRef> space_;
  const std::chrono::milliseconds drain_;
  const pid_t process_ = ::getpid();
  std::stop_source hurry_;
  std::exception_ptr error_{};
  std::thread thread_;
};

}  // namespace

// No context needs to wait for the backend: the thread of the operation does.
void initiate(AnyHandler<DoneSignature>&& handler, HandlerContext&& context, Locks&& locks,
              std::chrono::milliseconds drain) {
  auto made = std::make_unique<CloseOperation>(std::move(handler), context, locks, drain);
  Operation::start(*made.release(), nullptr, context);
}

}  // namespace latchkey::inline v1::detail
