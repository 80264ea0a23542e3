// A mutex of eight bytes with an inlined uncontended path.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <atomic>
#include <cstdint>

#include "core/thread_annotations.hpp"

namespace latchkey::inline v1::detail {

/// For the many mutexes of a sharded table, each held for less than a microsecond. Lockable.
///
/// A std::mutex has two disadvantages here. A process that forks holds the mutexes of all shards at
/// once, and ThreadSanitizer's deadlock detector fails at 64 held std::mutexes. And an uncontended
/// lock and unlock of a std::mutex are two function calls. Waiters of a SmallMutex block in the
/// kernel; there is no fairness. Unlike a std::mutex, it must not be destroyed before the unlock of
/// every thread has returned.
///
/// An unlock is a plain store and a plain load and not an atomic exchange, which would be a quarter
/// of the cost of a lock table. No wake-up is lost although a processor may perform the load first:
///
///     unlock:  state_ = unlocked          lock:  asleep_ = 1
///              if (asleep_) wake                 barrier in every thread of the process
///                                                if state_ is locked: sleep while asleep_ == 1
///
/// The barrier takes effect in the holder's thread before or after its store. Before: the holder's
/// load is later still and sees `asleep_`. After: the waiter sees the store when it reads `state_`.
/// Only the waiter pays, with a system call. A thread that clears `asleep_` then wakes one waiter,
/// and a woken waiter sets it again for the others before it reads `state_`.
class LATCHKEY_CAPABILITY("mutex") SmallMutex {
 public:
  SmallMutex() = default;
  SmallMutex(const SmallMutex&) = delete;
  SmallMutex& operator=(const SmallMutex&) = delete;

  void lock() noexcept LATCHKEY_ACQUIRE() {
    if (!try_lock()) [[unlikely]] {
      lock_slowly();
    }
  }

  bool try_lock() noexcept LATCHKEY_TRY_ACQUIRE(true) {
    std::uint32_t seen = unlocked;
    return state_.compare_exchange_strong(seen, locked, std::memory_order_acquire,
                                          std::memory_order_relaxed);
  }

  void unlock() noexcept LATCHKEY_RELEASE() {
    state_.store(unlocked, std::memory_order_release);
    std::atomic_signal_fence(std::memory_order_seq_cst);  // for the compiler: the load is last
    if (asleep_.load(std::memory_order_relaxed) != 0) [[unlikely]] {
      wake_one();
    }
  }

 private:
  static constexpr std::uint32_t unlocked = 0, locked = 1;

  void lock_slowly() noexcept LATCHKEY_NO_THREAD_SAFETY_ANALYSIS;
  void wake_one() noexcept;

  std::atomic<std::uint32_t> state_ = unlocked;
  std::atomic<std::uint32_t> asleep_ = 0;  ///< 1: a thread sleeps, or is about to
};

}  // namespace latchkey::inline v1::detail
