// async_acquire and async_try_acquire.
// SPDX-License-Identifier: BSL-1.0
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include <latchkey/asio/async.hpp>
#include <latchkey/call_observer.hpp>

#include "asio/loop_wait.hpp"
#include "asio/operation.hpp"
#include "locks/async/access.hpp"
#include "locks/async/async_acquire.hpp"
#include "locks/async/async_multi_acquire.hpp"
#include "locks/permit_count.hpp"
#include "locks/space/space_ref.hpp"

namespace latchkey::inline v1::detail {
namespace {

/// Completes with a Hold or, if `Signature` is that of async_try_acquire, with an optional one.
template <class Signature>
class AcquireOperation final : public Operation {
 public:
  static constexpr bool may_be_busy = std::is_same_v<Signature, TryAcquireSignature>;
  using Result = std::conditional_t<may_be_busy, std::optional<Hold>, Hold>;

  AcquireOperation(AnyHandler<Signature>&& handler, const HandlerContext& context, Lock&& lock,
                   Attempt&& attempt)
      : Operation(context.executor),
        handler_(std::move(handler)),
        lock_(std::move(lock)),
        asked_report_(
            std::exchange(attempt.report, attempt.report != nullptr ? &report_ : nullptr)),
        attempt_(std::move(attempt)) {
    handler_.connect(*this);
  }

  [[nodiscard]] const std::shared_ptr<SpaceRef>& space() const noexcept {
    return LockAccess::space(lock_);
  }

  void cancel() noexcept override {
    if (one_) one_->cancel();
    if (several_) several_->cancel();
  }

  void abandon() noexcept override {
    static_cast<void>(handler_.take());
    cancel();
  }

 private:
  /// Fills in Attempt::report.
  class PassReport {
   public:
    explicit PassReport(AcquireOperation& operation) noexcept : operation_(operation) {}
    PassReport(const PassReport&) = delete;
    PassReport& operator=(const PassReport&) = delete;
    ~PassReport() {
      AcquireReport* const asked = operation_.asked_report_;
      if (asked != nullptr) *asked = std::move(operation_.report_);
    }

   private:
    AcquireOperation& operation_;
  };

  bool start_work() override {
    const Owner owner = LockAccess::owner(lock_).value_or(Owner::make());
    if (const auto& set = LockAccess::several(lock_)) {
      several_ = std::make_unique<AsyncMultiAcquire>(*set, attempt_, owner, observer());
      return several_->start();
    }
    one_.emplace(LockAccess::space(lock_)->space(), observer());
    if (!may_be_busy) one_->want_holder_name();
    return one_->start(LockAccess::full_key(lock_), owner, attempt_);
  }

  void complete(Reference self) override {
    AnyHandler<Signature> handler = handler_.take();
    std::optional<Hold> hold;
    std::exception_ptr error = error_of(std::move(self), [&] {
      const PassReport at_end(*this);
      hold = one_ ? take_from(*one_) : take_from(*several_);
    });
    if constexpr (may_be_busy) {
      std::move(handler)(std::move(error), std::move(hold));
    } else {
      std::move(handler)(std::move(error), hold ? *std::move(hold) : HoldAccess::make_empty());
    }
  }

  template <class Work>
  std::optional<Hold> take_from(Work& work) {
    std::optional<Hold> hold = work.take();
    if (!hold && !may_be_busy) work.fail_busy();
    return hold;
  }

  HandlerSlot<Signature> handler_;
  const Lock lock_;
  // Attempt::report lives as long as the handler, which may be gone before the acquire ends.
  AcquireReport report_{};
  AcquireReport* const asked_report_;
  const Attempt attempt_;
  std::optional<AsyncAcquire> one_;
  std::unique_ptr<AsyncMultiAcquire> several_;
};

template <class Signature>
void start(AnyHandler<Signature>&& handler, const HandlerContext& context, Lock&& lock,
           Attempt&& attempt) {
  auto made = std::make_unique<AcquireOperation<Signature>>(std::move(handler), context,
                                                            std::move(lock), std::move(attempt));
  AcquireOperation<Signature>& operation = *made.release();
  Operation::start(operation, operation.space(), context);
}

}  // namespace

Lock lock_of(const Semaphore& semaphore) { return LockAccess::lock(semaphore); }

Attempt attempt_of(const Semaphore& semaphore, int permits, Wait wait, Lease lease) {
  return permit_attempt(permits, semaphore.permits(), wait, lease);
}

void initiate(AnyHandler<AcquireSignature>&& handler, HandlerContext&& context, Lock&& lock,
              Attempt attempt) {
  start(std::move(handler), context, std::move(lock), std::move(attempt));
}

void initiate(AnyHandler<TryAcquireSignature>&& handler, HandlerContext&& context, Lock&& lock,
              Attempt attempt) {
  start(std::move(handler), context, std::move(lock), std::move(attempt));
}

}  // namespace latchkey::inline v1::detail

namespace latchkey::inline v1 {

void use_thread_pool(const Locks& locks, boost::asio::thread_pool& pool) {
  detail::LoopWait::use_pool(detail::LockAccess::space(locks), pool.get_executor());
}

}  // namespace latchkey::inline v1
