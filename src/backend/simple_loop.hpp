// An event loop whose threads run the attempts of a SimpleBackend.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <sys/eventfd.h>

#include <new>

#include <latchkey/loop_driver.hpp>
#include <latchkey/simple_backend.hpp>

#include "backend/simple_queue.hpp"
#include "core/file_descriptor.hpp"

namespace latchkey::inline v1 {

/// Each drive runs one attempt, which blocks. Several threads may drive at once.
class SimpleBackend::Loop final : public LoopDriver {
 public:
  /// Throws std::bad_alloc if the system has no descriptor left.
  explicit Loop(SimpleBackend& backend)
      : backend_(backend), work_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (!work_.valid()) throw std::bad_alloc();
  }
  ~Loop() override { leave(); }

  [[nodiscard]] int descriptor() const noexcept override { return work_.get(); }
  void join() override { backend_.queue_->add(*this); }
  void leave() noexcept override { backend_.queue_->remove(*this); }

  void drive() override {
    Job job{};
    if (Lane* const lane = backend_.queue_->take(job, *this)) backend_.run(*lane, job);
  }

  // --- called by the queue, with the queue's mutex held ---
  void notify_of_work() const noexcept { ::eventfd_write(work_.get(), 1); }
  void clear() const noexcept {
    eventfd_t count = 0;
    ::eventfd_read(work_.get(), &count);
  }

 private:
  SimpleBackend& backend_;
  detail::FileDescriptor work_;
};

}  // namespace latchkey::inline v1
