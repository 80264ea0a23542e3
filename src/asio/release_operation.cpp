// async_release.
#include <memory>
#include <utility>

#include <latchkey/asio.hpp>

#include "asio/handler_slot.hpp"
#include "asio/operation.hpp"
#include "locks/async/access.hpp"
#include "locks/async/async_release.hpp"
#include "locks/space/space_ref.hpp"

namespace latchkey::detail {
namespace {

class ReleaseOperation final : public Operation {
 public:
  ReleaseOperation(AnyHandler<ReleaseSignature>&& handler, const HandlerContext& context,
                   Hold&& hold)
      : Operation(context.executor), handler_(std::move(handler)), hold_(std::move(hold)) {}

  void cancel() noexcept override {}
  void abandon() noexcept override { static_cast<void>(handler_.take()); }

 private:
  bool start_work() override { return release_.start(hold_); }

  void complete(Reference self) override {
    AnyHandler<ReleaseSignature> handler = handler_.take();
    std::exception_ptr error = std::exchange(failure_, nullptr);
    bool held = false;
    try {
      if (!error) held = release_.result();
    } catch (...) {
      error = std::current_exception();
    }
    {
      const Reference dropped = std::move(self);
    }
    std::move(handler)(std::move(error), held);
  }

  HandlerSlot<ReleaseSignature> handler_;
  Hold hold_;
  AsyncRelease release_{observer()};
};

}  // namespace

void initiate(AnyHandler<ReleaseSignature>&& handler, HandlerContext&& context, Hold&& hold) {
  const std::shared_ptr<SpaceRef> space = HoldAccess::space(hold);
  auto made = std::make_unique<ReleaseOperation>(std::move(handler), context, std::move(hold));
  Operation::start(*made.release(), space, context);
}

}  // namespace latchkey::detail
