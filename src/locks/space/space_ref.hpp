// How Locks and Lock keep their space alive.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <atomic>
#include <memory>
#include <utility>
#include <vector>

#include "core/mutex.hpp"
#include "core/sanitizer_pause.hpp"
#include "core/small_mutex.hpp"
#include "core/thread_annotations.hpp"
#include "locks/space/lock_space.hpp"

namespace latchkey::inline v1::detail {

/// An object that another module keeps for a space, such as that of an event loop.
class SpaceAttachment {
 public:
  SpaceAttachment() = default;
  SpaceAttachment(const SpaceAttachment&) = delete;
  SpaceAttachment& operator=(const SpaceAttachment&) = delete;
  virtual ~SpaceAttachment() = default;

  /// Whether it belongs to `subject` and may still be used. With null: whether it is no longer
  /// used.
  [[nodiscard]] virtual bool is_for(const void* subject) const noexcept = 0;
  /// Whether the calling thread runs coroutines, which wait as well if it blocks.
  [[nodiscard]] virtual bool runs_on_this_thread() const noexcept { return false; }
  /// The last Locks and the last Lock are gone. It must not use the space after this.
  virtual void space_ends() noexcept = 0;
};

/// Shared by Locks and Lock. When the last of them goes, the space lives on only for its holds.
class SpaceRef {
 public:
  explicit SpaceRef(LockSpace* space) noexcept : space_(space) {}
  SpaceRef(const SpaceRef&) = delete;
  SpaceRef& operator=(const SpaceRef&) = delete;
  ~SpaceRef() {
    const SanitizerPause pause;
    for (const auto& each : take_attachments()) each->space_ends();
    space_->detach();
  }

  [[nodiscard]] LockSpace& space() const noexcept { return *space_; }

  /// Whether something has been attached.
  [[nodiscard]] bool has_attachments() const noexcept {
    return attached_.load(std::memory_order_relaxed);
  }
  /// The attachment for `subject`, which `make` makes if there is none; null if it returns null.
  template <class Make>
  std::shared_ptr<SpaceAttachment> attachment(const void* subject, Make&& make) {
    const ScopedLock lock(mutex_);
    for (const auto& each : attachments_) {
      if (each->is_for(subject)) return each;
    }
    std::erase_if(attachments_, [](const auto& each) { return each->is_for(nullptr); });
    std::shared_ptr<SpaceAttachment> made = make();
    if (made == nullptr) return nullptr;
    attachments_.push_back(made);
    attached_.store(true, std::memory_order_relaxed);
    space_->watch_for_blocked_loops();
    return made;
  }

  /// Whether the calling thread runs an event loop that asynchronous operations of the space have
  /// used.
  [[nodiscard]] bool runs_loop_on_this_thread() {
    const ScopedLock lock(mutex_);
    return std::ranges::any_of(attachments_,
                               [](const auto& each) { return each->runs_on_this_thread(); });
  }

 private:
  [[nodiscard]] std::vector<std::shared_ptr<SpaceAttachment>> take_attachments() noexcept {
    const ScopedLock lock(mutex_);
    return std::move(attachments_);
  }

  LockSpace* space_;
  std::atomic<bool> attached_{false};
  SmallMutex mutex_;
  std::vector<std::shared_ptr<SpaceAttachment>> attachments_ LATCHKEY_GUARDED_BY(mutex_);
};

}  // namespace latchkey::inline v1::detail
