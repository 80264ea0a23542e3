// async_extend.
// SPDX-License-Identifier: BSL-1.0
#include <chrono>
#include <exception>
#include <memory>
#include <utility>

#include <latchkey/asio/async.hpp>
#include <latchkey/lease.hpp>

#include "asio/handler_slot.hpp"
#include "asio/operation.hpp"
#include "locks/async/access.hpp"
#include "locks/async/async_extend.hpp"
#include "locks/space/space_ref.hpp"

namespace latchkey::inline v1::detail {
namespace {

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

void initiate(AnyHandler<FlagSignature>&& handler, HandlerContext&& context,
              std::reference_wrapper<Hold> hold, std::chrono::milliseconds lease) {
  const std::shared_ptr<SpaceRef> space = HoldAccess::space(hold);
  auto made = std::make_unique<ExtendOperation>(std::move(handler), context, hold.get(), lease);
  Operation::start(*made.release(), space, context);
}

}  // namespace latchkey::inline v1::detail
