// A mutex of eight bytes whose free case is inlined.
#pragma once

#include <atomic>
#include <cstdint>

#include "core/thread_annotations.hpp"

namespace latchkey::detail {

/// For the many mutexes of a sharded table, each held for less than a microsecond. Lockable.
///
/// std::mutex would do but for two things: a process that forks holds all shards at once, and
/// ThreadSanitizer's deadlock detector gives up at 64 mutexes held; and an uncontended lock and
/// unlock are two calls. Waiters sleep in the kernel; there is no fairness. Unlike std::mutex, it
/// must not go before the unlock of every thread has returned.
///
/// An unlock is a plain store and a plain load, not an atomic exchange, which would be a quarter of
/// what a lock table costs. Why nobody sleeps on, although a processor may do the load first:
///
///     unlock:  state_ = unlocked          lock:  asleep_ = 1
///              if (asleep_) wake                 barrier in every thread of the process
///                                                if state_ is locked: sleep while asleep_ == 1
///
/// The barrier runs in the holder's thread before its store, or after it. Before: its load comes
/// later still and sees `asleep_`. After: the store is seen by the look at `state_`. Only the
/// sleeper pays, with a system call. Whoever clears `asleep_` wakes one sleeper after that, and one
/// that is woken sets it again for the others before it looks.
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
    std::atomic_signal_fence(std::memory_order_seq_cst);  // for the compiler: the load comes after
    if (asleep_.load(std::memory_order_relaxed) != 0) [[unlikely]] {
      wake_one();
    }
  }

 private:
  static constexpr std::uint32_t unlocked = 0, locked = 1;

  void lock_slowly() noexcept LATCHKEY_NO_THREAD_SAFETY_ANALYSIS;
  void wake_one() noexcept;

  std::atomic<std::uint32_t> state_ = unlocked;
  std::atomic<std::uint32_t> asleep_ = 0;  ///< 1: somebody sleeps, or is about to
};

}  // namespace latchkey::detail
