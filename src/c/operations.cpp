// The operations that a loop of the C interface starts.
// SPDX-License-Identifier: BSL-1.0
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <utility>

#include <latchkey/attempt.hpp>
#include <latchkey/lease.hpp>
#include <latchkey/lock.hpp>
#include <latchkey/owner.hpp>

#include "c/acquire_request.hpp"
#include "c/errors.hpp"
#include "c/handles.hpp"
#include "c/loop.hpp"
#include "locks/async/access.hpp"
#include "locks/async/async_acquire.hpp"
#include "locks/async/async_extend.hpp"
#include "locks/async/async_multi_acquire.hpp"
#include "locks/async/async_release.hpp"
#include "locks/space/space_ref.hpp"

namespace latchkey::inline v1::detail::c {
namespace {

class AcquireOperation final : public latchkey_operation {
 public:
  AcquireOperation(const AcquireRequest& request, const Locks& locks, void* its_data)
      : latchkey_operation(its_data),
        lock_(request.lock(locks)),
        attempt_(request.attempt(locks)),
        hold_for_(request.hold_for()) {}

  bool start() override {
    const Owner owner = LockAccess::owner(lock_).value_or(Owner::make());
    if (const auto& set = LockAccess::several(lock_)) {
      several_ = std::make_unique<AsyncMultiAcquire>(*set, attempt_, owner, observer());
      return several_->start();
    }
    one_.emplace(LockAccess::space(lock_)->space(), observer());
    one_->want_holder_name();
    return one_->start(LockAccess::full_key(lock_), owner, attempt_);
  }

  bool cancel() noexcept override {
    if (one_) one_->cancel();
    if (several_) several_->cancel();
    return false;
  }

  int take(latchkey_hold** hold) override {
    Hold granted = one_ ? take_from(*one_) : take_from(*several_);
    if (hold_for_ > std::chrono::milliseconds(0)) granted.hold_for(hold_for_);
    auto made = std::make_unique<latchkey_hold>(std::move(granted));
    if (hold != nullptr) *hold = made.release();
    return 1;
  }

 private:
  template <class Work>
  static Hold take_from(Work& work) {
    std::optional<Hold> hold = work.take();
    if (!hold) work.fail_busy();
    return *std::move(hold);
  }

  const Lock lock_;
  const Attempt attempt_;
  const std::chrono::milliseconds hold_for_;
  std::optional<AsyncAcquire> one_{};
  std::unique_ptr<AsyncMultiAcquire> several_{};
};

class ExtendOperation final : public latchkey_operation {
 public:
  ExtendOperation(const Hold& hold, std::chrono::milliseconds lease, void* its_data)
      : latchkey_operation(its_data), hold_(hold), lease_(lease) {}

  bool start() override { return extend_.start(hold_, Lease(lease_).length(lease_)); }
  int take(latchkey_hold** /*hold*/) override { return extend_.result() ? 1 : 0; }

 private:
  const Hold& hold_;  ///< used by start alone
  const std::chrono::milliseconds lease_;
  AsyncExtend extend_{observer()};
};

class ReleaseOperation final : public latchkey_operation {
 public:
  ReleaseOperation(Hold&& hold, void* its_data)
      : latchkey_operation(its_data), hold_(std::move(hold)) {}

  bool start() override { return release_.start(hold_, std::chrono::milliseconds(0)); }
  int take(latchkey_hold** /*hold*/) override { return release_.result(nullptr) ? 1 : 0; }

 private:
  Hold hold_;
  AsyncRelease release_{observer()};
};

/// Waits for the loss of a hold.
class WatchOperation final : public latchkey_operation {
 public:
  WatchOperation(const Hold& hold, void* its_data)
      : latchkey_operation(its_data), token_(hold.stop_token()) {}

  bool start() override {
    callback_.emplace(token_, [this] { ended(); });
    return true;
  }
  // Waits for a callback that runs on another thread.
  bool cancel() noexcept override {
    callback_.reset();
    return true;
  }
  int take(latchkey_hold** /*hold*/) override { return 1; }
  [[nodiscard]] bool needs_backend() const noexcept override { return false; }

 private:
  const std::stop_token token_;
  std::optional<std::stop_callback<std::function<void()>>> callback_{};
};

template <class Operation, class... Args>
latchkey_operation* start(latchkey_loop* loop, latchkey_error** error, Args&&... args) noexcept {
  return guarded<latchkey_operation*>(error, nullptr, [&] {
    return loop->start(std::make_unique<Operation>(std::forward<Args>(args)...));
  });
}

}  // namespace
}  // namespace latchkey::inline v1::detail::c

using namespace latchkey::detail;

latchkey_operation* latchkey_start_acquire(latchkey_loop* loop, const latchkey_request* request,
                                           void* data, latchkey_error** error) noexcept {
  return c::guarded<latchkey_operation*>(error, nullptr, [&] {
    return loop->start(
        std::make_unique<c::AcquireOperation>(c::AcquireRequest(request), loop->locks, data));
  });
}

latchkey_operation* latchkey_start_extend(latchkey_loop* loop, latchkey_hold* hold,
                                          int64_t lease_ms, void* data,
                                          latchkey_error** error) noexcept {
  return c::start<c::ExtendOperation>(loop, error, hold->hold, std::chrono::milliseconds(lease_ms),
                                      data);
}

latchkey_operation* latchkey_start_release(latchkey_loop* loop, latchkey_hold* hold, void* data,
                                           latchkey_error** error) noexcept {
  const std::unique_ptr<latchkey_hold> taken(hold);
  return c::start<c::ReleaseOperation>(loop, error, std::move(taken->hold), data);
}

latchkey_operation* latchkey_start_watch(latchkey_loop* loop, const latchkey_hold* hold, void* data,
                                         latchkey_error** error) noexcept {
  return c::start<c::WatchOperation>(loop, error, hold->hold, data);
}
