// Waiting for latches, and who is woken when one changes.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include <latchkey/backend.hpp>
#include <latchkey/error.hpp>
#include <latchkey/wait.hpp>

#include "core/small_mutex.hpp"
#include "core/thread_annotations.hpp"

namespace latchkey::inline v1::detail {

class LatchWait;
class LockSpace;

/// The waits for latches of one space. Thread-safe.
///
/// Carries out what each LatchWait decides. The waits of one key share a subscription, which the
/// last of them ends.
class LatchWaits {
 public:
  explicit LatchWaits(LockSpace& space) noexcept : space_(space) {}

  /// True: the count was zero within `wait`. False: it was not. Throws BackendUnavailable,
  /// BackendRefused and Closed.
  bool wait(std::string_view key, Wait length);

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
  /// Ends the part of a waiter in the list and in the subscription.
  struct Membership {
    LatchWaits& waits;
    Waiter& waiter;
    Membership(LatchWaits& its_waits, Waiter& its_waiter) : waits(its_waits), waiter(its_waiter) {}
    Membership(const Membership&) = delete;
    Membership& operator=(const Membership&) = delete;
    ~Membership() { waits.leave(waiter); }
  };

  void enter(Waiter& waiter, Clock::time_point until);
  void leave(Waiter& waiter) noexcept;
  [[nodiscard]] bool is_awaited(std::string_view key) const noexcept LATCHKEY_REQUIRES(mutex_);
  void remove(const Waiter& waiter) noexcept LATCHKEY_REQUIRES(mutex_);
  void read(std::string_view key, LatchWait& wait);
  void sleep(Waiter& waiter, Clock::time_point until);
  [[nodiscard]] LockSite site_of(std::string_view key) const;
  void throw_if_closed(std::string_view key);

  LockSpace& space_;
  SmallMutex mutex_;
  Waiter* first_ LATCHKEY_GUARDED_BY(mutex_) = nullptr;
  bool closed_ LATCHKEY_GUARDED_BY(mutex_) = false;
};

}  // namespace latchkey::inline v1::detail
