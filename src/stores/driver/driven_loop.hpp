// An event loop that waits for a DrivenBackend.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <latchkey/loop_driver.hpp>

#include "core/file_descriptor.hpp"
#include "stores/driver/driven_backend.hpp"

namespace latchkey::inline v1::detail::stores {

/// `descriptor` is an epoll instance that contains the client's descriptor, a timer, and an eventfd
/// by which submitters wake the loop. A thread that polls at the same time and the loop both see
/// what arrives; the first one takes it.
class DrivenBackend::EventLoop final : public LoopDriver {
 public:
  /// Throws std::bad_alloc if the system has no descriptor left.
  explicit EventLoop(DrivenBackend& backend);
  ~EventLoop() override { leave(); }

  [[nodiscard]] int descriptor() const noexcept override { return epoll_.get(); }
  void join() override;
  void drive() override;
  void leave() noexcept override;

  // --- with the backend's mutex held ---
  void wake() noexcept { wake_.ring(); }
  [[nodiscard]] Clock::time_point timer_due() const noexcept { return timer_due_; }

 private:
  void watch(int descriptor) noexcept;
  /// Lets the loop be woken when the client is due, or at once if there is something to deliver.
  void rest() LATCHKEY_REQUIRES(backend_.mutex_);

  DrivenBackend& backend_;
  FileDescriptor epoll_;
  FileDescriptor timer_;
  Doorbell wake_;
  Clock::time_point timer_due_ = Clock::never();
  int watched_ = -1;  ///< the client's descriptor
  bool joined_ = false;
};

}  // namespace latchkey::inline v1::detail::stores
