// Waiting for latches, and who is woken when one changes.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include <latchkey/backend.hpp>
#include <latchkey/wait.hpp>

#include "core/small_mutex.hpp"
#include "core/thread_annotations.hpp"

namespace latchkey::inline v1::detail {

class LockSpace;

/// The waits for latches of one space. Thread-safe.
///
/// A wait reads the count, subscribes, and reads it again after each notification: none that comes
/// after the subscription is missed, and a lost one is made up for by a poll. The waits of one key
/// share a subscription, which the last of them ends.
class LatchWaits {
 public:
  explicit LatchWaits(LockSpace& space) noexcept : space_(space) {}

  /// True: the count was zero within `wait`. False: it was not. Throws BackendUnavailable,
  /// BackendRefused and Closed.
  bool wait(std::string_view key, Wait wait);

  // The sink's part.
  void notify(std::string_view key) noexcept;
  void notify_all() noexcept;
  /// From now on every wait ends as closed.
  void close() noexcept;

  void lock_for_fork() noexcept LATCHKEY_FORK_HANDLER { mutex_.lock(); }
  void unlock_after_fork() noexcept LATCHKEY_FORK_HANDLER { mutex_.unlock(); }
  /// In the child: the waits were those of the parent's threads.
  void forget_parent() noexcept LATCHKEY_FORK_HANDLER {
    first_ = nullptr;
    mutex_.unlock();
  }

 private:
  /// One wait, on the stack of its thread.
  struct Waiter {
    std::string_view key;
    Parker* parker;
    bool notified = false;
    Waiter* next = nullptr;
  };
  /// A wait as its caller sees it.
  struct Progress;

  void enter(Waiter& waiter, Clock::time_point until);
  void leave(Waiter& waiter) noexcept;
  [[nodiscard]] bool is_awaited(std::string_view key) const noexcept LATCHKEY_REQUIRES(mutex_);
  [[nodiscard]] bool read_is_zero(Progress& progress);
  void sleep(Waiter& waiter, Clock::time_point until);
  [[nodiscard]] bool is_closed() noexcept;

  LockSpace& space_;
  SmallMutex mutex_;
  Waiter* first_ LATCHKEY_GUARDED_BY(mutex_) = nullptr;
  bool closed_ LATCHKEY_GUARDED_BY(mutex_) = false;
};

}  // namespace latchkey::inline v1::detail
