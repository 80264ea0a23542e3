// async_lead.
// SPDX-License-Identifier: BSL-1.0
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <stop_token>
#include <utility>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/error.hpp>
#include <boost/system/system_error.hpp>

#include <latchkey/asio/leader.hpp>
#include <latchkey/detail/asio/body_cancellation.hpp>
#include <latchkey/error.hpp>

#include "asio/coroutine_executor.hpp"
#include "asio/operation.hpp"
#include "leader/leader_loop.hpp"
#include "locks/space/leak_intentionally.hpp"

namespace latchkey::inline v1::detail {
namespace {

namespace asio = boost::asio;

/// The end of the coroutine of one term. The first to tell it decides. Thread-safe.
class TermEnd {
 public:
  /// A handler that is destroyed without being called tells that the coroutine is gone.
  class Handler {
   public:
    explicit Handler(std::shared_ptr<TermEnd> end) noexcept : end_(std::move(end)) {}
    Handler(Handler&&) noexcept = default;
    Handler& operator=(Handler&&) = delete;
    ~Handler() {
      if (end_ != nullptr) end_->tell(nullptr);
    }
    void operator()(std::exception_ptr error) { end_->tell(std::move(error)); }

   private:
    std::shared_ptr<TermEnd> end_;
  };

  void tell(std::exception_ptr error) noexcept {
    const std::lock_guard lock(mutex_);
    if (!told_) error_ = std::move(error);
    told_ = true;
    changed_.notify_all();
  }
  /// Waits for it, and throws what the coroutine threw.
  void wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return told_; });
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool told_ = false;
  std::exception_ptr error_{};
};

/// Runs the coroutines of the terms on an executor, and waits for them on the thread that the
/// Leader has for its callback. Thread-safe.
class LeaderWork {
 public:
  /// On a thread that may use the context: a strand that is made while the context shuts down keeps
  /// what is posted to it.
  LeaderWork(const asio::any_io_executor& executor, LeaderCoroutine work)
      : strand_(CoroutineExecutor::strand_of(executor)), work_(std::move(work)) {}

  void run(const std::stop_token& stop, std::uint64_t term) {
    const auto cancellation = std::make_shared<BodyCancellation>(strand_);
    cancellation->cancel_on(stop, BodyCancellation::Reason::stop);
    const auto end = std::make_shared<TermEnd>();
    if (!begin(end)) return;
    asio::co_spawn(cancellation->executor(), accept_all_and_run(work_(term)),
                   asio::bind_cancellation_slot(cancellation->slot(), TermEnd::Handler(end)));
    try {
      end->wait();
    } catch (const boost::system::system_error& error) {
      // A coroutine that was told to stop may say so.
      if (!stop.stop_requested() || error.code() != asio::error::operation_aborted) throw;
    } catch (const Cancelled&) {
      if (!stop.stop_requested()) throw;
    }
    cancellation->ignore_stops();
  }

  /// The context has ended: no thread runs the coroutine any more, and none begins.
  void abandon() noexcept {
    const std::lock_guard lock(mutex_);
    abandoned_ = true;
    if (current_ != nullptr) current_->tell(nullptr);
  }

 private:
  bool begin(const std::shared_ptr<TermEnd>& end) {
    const std::lock_guard lock(mutex_);
    current_ = end;
    return !abandoned_;
  }

  const asio::any_io_executor strand_;
  const LeaderCoroutine work_;
  std::mutex mutex_;
  bool abandoned_ = false;
  std::shared_ptr<TermEnd> current_{};
};

class LeadOperation final : public Operation {
 public:
  LeadOperation(AnyHandler<DoneSignature>&& handler, const HandlerContext& context,
                std::shared_ptr<LeadTerms> terms)
      : Operation(context.executor),
        handler_(std::move(handler)),
        executor_(context.executor),
        terms_(std::move(terms)) {
    handler_.connect(*this);
  }
  LeadOperation(const LeadOperation&) = delete;
  LeadOperation& operator=(const LeadOperation&) = delete;
  /// In a child of a fork the Leader is left alone, as ~Leader does it.
  ~LeadOperation() override {
    if (loop_ != nullptr && loop_->is_inherited()) leak_intentionally(loop_.release());
  }

  void cancel() noexcept override {
    if (loop_ != nullptr && !loop_->is_inherited()) loop_->request_end();
  }
  /// The context waits until the lock is released, as ~Leader does.
  void abandon() noexcept override {
    static_cast<void>(handler_.take());
    if (loop_ == nullptr || loop_->is_inherited()) return;
    work_->abandon();
    loop_->stop();
  }

 private:
  bool start_work() override {
    if (!terms_->work) throw std::invalid_argument("the work of async_lead is empty");
    work_ = std::make_shared<LeaderWork>(executor_, std::move(terms_->work));
    loop_ = make_leader_loop(
        terms_->locks, terms_->key,
        [work = work_](const std::stop_token& stop, std::uint64_t term) { work->run(stop, term); },
        terms_->options);
    loop_->start(&observer());
    return true;
  }

  void complete(Reference self) override {
    AnyHandler<DoneSignature> handler = handler_.take();
    std::exception_ptr error = error_of(std::move(self), [&] { loop_->throw_if_ended_early(); });
    std::move(handler)(std::move(error));
  }

  HandlerSlot<DoneSignature> handler_;
  const asio::any_io_executor executor_;
  const std::shared_ptr<LeadTerms> terms_;
  std::shared_ptr<LeaderWork> work_{};
  std::unique_ptr<LeaderLoop> loop_{};
};

}  // namespace

// No context needs to wait for the backend: the threads of the Leader do.
void initiate(AnyHandler<DoneSignature>&& handler, HandlerContext&& context,
              std::shared_ptr<LeadTerms> terms) {
  auto made = std::make_unique<LeadOperation>(std::move(handler), context, std::move(terms));
  Operation::start(*made.release(), nullptr, context);
}

}  // namespace latchkey::inline v1::detail
