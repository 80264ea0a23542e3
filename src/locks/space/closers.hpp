// The threads inside LockSpace::close.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <atomic>

#include <latchkey/parker.hpp>

#include "core/mutex.hpp"
#include "core/small_mutex.hpp"
#include "core/thread_annotations.hpp"
#include "locks/coordinator/intrusive_list.hpp"

namespace latchkey::inline v1::detail {

/// Wakes the threads that are inside LockSpace::close whenever a coordinator has handled an event:
/// each then checks whether anything is still held. Thread-safe.
class Closers {
 public:
  /// The calling thread is inside close for as long as this lives. Throws std::bad_alloc.
  class Entry {
   public:
    explicit Entry(Closers& closers) : closers_(closers) {
      const ScopedLock lock(closers_.mutex_);
      closers_.entries_.push_back(*this);
      closers_.any_.store(true);
    }
    Entry(const Entry&) = delete;
    Entry& operator=(const Entry&) = delete;
    ~Entry() {
      const ScopedLock lock(closers_.mutex_);
      closers_.entries_.remove(*this);
      if (closers_.entries_.empty()) closers_.any_.store(false);
    }

    [[nodiscard]] Parker& parker() const noexcept { return parker_; }

    Entry* previous = nullptr;
    Entry* next = nullptr;

   private:
    Closers& closers_;
    Parker& parker_ = Parker::mine();
  };

  void wake() noexcept {
    if (!any_.load(std::memory_order_relaxed)) return;
    const ScopedLock lock(mutex_);
    for (Entry* each = entries_.first(); each != nullptr; each = each->next) {
      each->parker().unpark();
    }
  }

  void lock_for_fork() noexcept LATCHKEY_FORK_HANDLER { mutex_.lock(); }
  void unlock_after_fork() noexcept LATCHKEY_FORK_HANDLER { mutex_.unlock(); }
  void forget_parent() noexcept LATCHKEY_FORK_HANDLER {
    any_.store(false);
    entries_.clear();
    mutex_.unlock();
  }

 private:
  std::atomic<bool> any_{false};
  SmallMutex mutex_;  ///< taken with a shard's mutex held
  IntrusiveList<Entry> entries_ LATCHKEY_GUARDED_BY(mutex_);
};

}  // namespace latchkey::inline v1::detail
