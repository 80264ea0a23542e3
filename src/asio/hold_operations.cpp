// async_extend and async_release.
// SPDX-License-Identifier: BSL-1.0
#include <chrono>
#include <exception>
#include <memory>
#include <optional>
#include <utility>

#include <latchkey/asio/async.hpp>
#include <latchkey/lease.hpp>

#include "asio/operation.hpp"
#include "locks/async/access.hpp"
#include "locks/async/async_extend.hpp"
#include "locks/async/async_release.hpp"
#include "locks/space/error_context.hpp"
#include "locks/space/space_ref.hpp"

namespace latchkey::inline v1::detail {
namespace {

class ReleaseOperation final : public Operation {
 public:
  ReleaseOperation(AnyHandler<ReleaseSignature>&& handler, const HandlerContext& context,
                   Hold&& hold, std::optional<DecoratedRelease> terms = {})
      : Operation(context.executor),
        handler_(std::move(handler)),
        hold_(std::move(hold)),
        terms_(terms) {}

  void cancel() noexcept override {}
  void abandon() noexcept override { static_cast<void>(handler_.take()); }

 private:
  bool start_work() override {
    return release_.start(hold_, terms_ ? terms_->linger : std::chrono::milliseconds(0));
  }

  [[nodiscard]] bool result() {
    if (!terms_) return release_.result(nullptr);
    const ErrorContext context{terms_->origin, terms_->lease};
    return release_.result(&context);
  }

  void complete(Reference self) override {
    AnyHandler<ReleaseSignature> handler = handler_.take();
    bool held = false;
    std::exception_ptr error = error_of(std::move(self), [&] { held = result(); });
    std::move(handler)(std::move(error), held);
  }

  HandlerSlot<ReleaseSignature> handler_;
  Hold hold_;
  const std::optional<DecoratedRelease> terms_;
  AsyncRelease release_{observer()};
};

void start(AnyHandler<ReleaseSignature>&& handler, const HandlerContext& context, Hold&& hold,
           std::optional<DecoratedRelease> terms) {
  const std::shared_ptr<SpaceRef> space = HoldAccess::space(hold);
  auto made =
      std::make_unique<ReleaseOperation>(std::move(handler), context, std::move(hold), terms);
  Operation::start(*made.release(), space, context);
}

class ExtendOperation final : public Operation {
 public:
  ExtendOperation(AnyHandler<FlagSignature>&& handler, const HandlerContext& context, Hold& hold,
                  std::chrono::milliseconds lease)
      : Operation(context.executor), handler_(std::move(handler)), hold_(hold), lease_(lease) {}

  void cancel() noexcept override {}
  void abandon() noexcept override { static_cast<void>(handler_.take()); }

 private:
  bool start_work() override { return extend_.start(hold_, Lease(lease_).length(lease_)); }

  void complete(Reference self) override {
    AnyHandler<FlagSignature> handler = handler_.take();
    bool held = false;
    std::exception_ptr error = error_of(std::move(self), [&] { held = extend_.result(); });
    std::move(handler)(std::move(error), held);
  }

  HandlerSlot<FlagSignature> handler_;
  Hold& hold_;  ///< used by start_work alone
  const std::chrono::milliseconds lease_;
  AsyncExtend extend_{observer()};
};

}  // namespace

void initiate(AnyHandler<ReleaseSignature>&& handler, HandlerContext&& context, Hold&& hold) {
  start(std::move(handler), context, std::move(hold), std::nullopt);
}

void initiate(AnyHandler<ReleaseSignature>&& handler, HandlerContext&& context, Hold&& hold,
              DecoratedRelease terms) {
  start(std::move(handler), context, std::move(hold), terms);
}

void initiate(AnyHandler<FlagSignature>&& handler, HandlerContext&& context,
              std::reference_wrapper<Hold> hold, std::chrono::milliseconds lease) {
  const std::shared_ptr<SpaceRef> space = HoldAccess::space(hold);
  auto made = std::make_unique<ExtendOperation>(std::move(handler), context, hold.get(), lease);
  Operation::start(*made.release(), space, context);
}

}  // namespace latchkey::inline v1::detail
