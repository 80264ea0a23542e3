// Waits for latches, and requests about them.
// SPDX-License-Identifier: BSL-1.0
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include <latchkey/asio/latch.hpp>

#include "asio/operation.hpp"
#include "locks/async/access.hpp"
#include "locks/async/async_latch_wait.hpp"
#include "locks/latch/latch_calls.hpp"
#include "locks/space/space_ref.hpp"

namespace latchkey::inline v1::detail {
namespace {

/// The base of waits and requests: completes a handler of `Signature` with `result`.
///
/// An operation whose context has ended keeps its Locks no longer: their clock and listener may end
/// next.
template <class Signature>
class LatchOperation : public Operation {
 public:
  LatchOperation(AnyHandler<Signature>&& handler, const HandlerContext& context,
                 const CountDownLatch& latch)
      : Operation(context.executor),
        handler_(std::move(handler)),
        space_(LockAccess::space(latch)),
        key_(LockAccess::full_key(latch)) {}

  void abandon() noexcept override {
    static_cast<void>(handler_.take());
    end_work();
    space_.reset();
  }

  [[nodiscard]] const std::shared_ptr<SpaceRef>& space_ref() const noexcept { return space_; }

 protected:
  virtual std::uint32_t result() = 0;
  /// Nobody wants the result any more.
  virtual void end_work() noexcept = 0;
  [[nodiscard]] LockSpace& space() const noexcept { return space_->space(); }
  [[nodiscard]] const std::string& key() const noexcept { return key_; }
  void connect() { handler_.connect(*this); }

 private:
  void complete(Reference self) override {
    AnyHandler<Signature> handler = handler_.take();
    std::uint32_t value = 0;
    std::exception_ptr error = error_of(std::move(self), [&] { value = result(); });
    if constexpr (std::is_same_v<Signature, DoneSignature>) {
      std::move(handler)(std::move(error));
    } else if constexpr (std::is_same_v<Signature, FlagSignature>) {
      std::move(handler)(std::move(error), value != 0);
    } else {
      std::move(handler)(std::move(error), value);
    }
  }

  HandlerSlot<Signature> handler_;
  std::shared_ptr<SpaceRef> space_;
  const std::string key_;
};

template <class Signature>
class LatchWaitOperation final : public LatchOperation<Signature> {
 public:
  LatchWaitOperation(AnyHandler<Signature>&& handler, const HandlerContext& context,
                     const CountDownLatch& latch, Wait length)
      : LatchOperation<Signature>(std::move(handler), context, latch), length_(length) {
    this->connect();
  }

  void cancel() noexcept override { wait_.cancel(); }

 private:
  bool start_work() override {
    wait_.start(length_);
    return true;
  }
  void end_work() noexcept override { wait_.cancel(); }
  std::uint32_t result() override { return wait_.result() ? 1 : 0; }

  const Wait length_;
  AsyncLatchWait wait_{this->space(), this->key(), this->observer()};
};

/// One request, whose reply is the result.
template <class Signature>
class LatchRequestOperation final : public LatchOperation<Signature> {
 public:
  LatchRequestOperation(AnyHandler<Signature>&& handler, const HandlerContext& context,
                        const CountDownLatch& latch, LatchAction action, std::uint32_t count)
      : LatchOperation<Signature>(std::move(handler), context, latch),
        action_(action),
        count_(count) {}

  void cancel() noexcept override {}

 private:
  bool start_work() override {
    LockSpace& space = this->space();
    space.timer().require_running(this->key(), LockType::REENTRANT);
    request_ = make_latch_request(this->key(), action_, count_);
    request_->observer = &this->observer();
    space.direct_requests().start(*request_);
    space.latch_waits().call_timer();  // delivers the reply of a backend in this process
    return true;
  }
  void end_work() noexcept override {
    if (request_ == nullptr) return;
    if (this->space().direct_requests().give_up(request_)) this->observer().ended();
  }
  std::uint32_t result() override { return latch_result(this->space(), action_, *request_); }

  const LatchAction action_;
  const std::uint32_t count_;
  std::unique_ptr<DirectRequest> request_{};
};

template <class Made>
void start_on_latch(std::unique_ptr<Made> made, const HandlerContext& context) {
  const std::shared_ptr<SpaceRef> space = made->space_ref();
  Operation::start(*made.release(), space, context);
}

template <class Signature>
void start_latch_wait(AnyHandler<Signature>&& handler, const HandlerContext& context,
                      const CountDownLatch& latch, Wait length) {
  start_on_latch(
      std::make_unique<LatchWaitOperation<Signature>>(std::move(handler), context, latch, length),
      context);
}

template <class Signature>
void start_latch_request(AnyHandler<Signature>&& handler, const HandlerContext& context,
                         const CountDownLatch& latch, LatchAction action, std::uint32_t count = 1) {
  start_on_latch(std::make_unique<LatchRequestOperation<Signature>>(std::move(handler), context,
                                                                    latch, action, count),
                 context);
}

}  // namespace

void initiate(AnyHandler<DoneSignature>&& handler, HandlerContext&& context, CountDownLatch&& latch,
              Wait length) {
  start_latch_wait(std::move(handler), context, latch, length);
}

void initiate(AnyHandler<FlagSignature>&& handler, HandlerContext&& context, CountDownLatch&& latch,
              Wait length) {
  start_latch_wait(std::move(handler), context, latch, length);
}

void initiate(AnyHandler<FlagSignature>&& handler, HandlerContext&& context, CountDownLatch&& latch,
              LatchCount set) {
  start_latch_request(std::move(handler), context, latch, LatchAction::set, set.count);
}

void initiate(AnyHandler<CountSignature>&& handler, HandlerContext&& context,
              CountDownLatch&& latch, bool counts_down) {
  start_latch_request(std::move(handler), context, latch,
                      counts_down ? LatchAction::count_down : LatchAction::count);
}

}  // namespace latchkey::inline v1::detail
